import HushCore
import HushStream

/// The row by which a task knows where its book stands: key `t`, format 1.
extension LedgerState {
    static let rowKey = [UInt8(ascii: "t")]
    static let rowFormat: UInt8 = 1

    /// The state as it is committed; a new one where the task never committed.
    static func read(_ context: TaskContext, table: Int) throws(TaskFailure) -> LedgerState {
        try rowKey.withUnsafeBufferPointer { key throws(TaskFailure) in
            try context.withValue(table, UnsafeRawBufferPointer(key)) { value throws(TaskFailure) in
                guard let value else { return LedgerState() }
                var reader = try RowReader("task", value, newest: rowFormat)
                let state = try reader.ledgerState()
                try reader.end()
                return state
            }
        }
    }

    func write(_ context: TaskContext, table: Int, _ writer: inout RowWriter) {
        writer.begin(format: Self.rowFormat)
        writer.ledgerState(self)
        context.put(table, Self.rowKey, writer.bytes)
    }
}

extension RowReader {
    mutating func ledgerState() throws(TaskFailure) -> LedgerState {
        let next = try integer()
        return LedgerState(next: next, previous: [UInt8](try raw(32)))
    }
}

extension RowWriter {
    mutating func ledgerState(_ state: LedgerState) {
        integer(state.next)
        raw(state.previous)
    }
}
