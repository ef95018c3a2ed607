import HushCore
import HushStream

/// The row that keeps a book's state: key `t`, format 1.
extension LedgerState {
    private static let key = [UInt8(ascii: "t")]
    private static let format: UInt8 = 1

    /// The state as it is committed; a new one where the task never committed.
    static func read(_ context: TaskContext, table: Int) throws(TaskFailure) -> LedgerState {
        try key.withUnsafeBufferPointer { key throws(TaskFailure) in
            try context.withValue(table, UnsafeRawBufferPointer(key)) { value throws(TaskFailure) in
                guard let value else { return LedgerState() }
                var reader = try RowReader("ledger", value, newest: format)
                let next = try reader.integer()
                let state = LedgerState(next: next, previous: [UInt8](try reader.raw(32)))
                try reader.end()
                return state
            }
        }
    }

    func write(_ context: TaskContext, table: Int, _ writer: inout RowWriter) {
        writer.begin(format: Self.format)
        writer.integer(next)
        writer.raw(previous)
        context.put(table, Self.key, writer.bytes)
    }
}
