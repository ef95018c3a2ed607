import HushCore
import HushStream

/// What a planner task knows of itself: one row, key `t` of the table `rows`.
struct TaskRow: Equatable {
    var ledger = LedgerState()
    var now = Timestamp.distantPast

    private static let key = [UInt8(ascii: "t")]
    private static let format: UInt8 = 1

    /// The row as it is committed; a new one where the task never committed.
    static func read(_ context: TaskContext) throws(TaskFailure) -> TaskRow {
        try key.withUnsafeBufferPointer { key throws(TaskFailure) in
            try context.withValue(PlannerStore.rowsTable, UnsafeRawBufferPointer(key)) { value throws(TaskFailure) in
                guard let value else { return TaskRow() }
                var reader = try RowReader("task", value, newest: format)
                let next = try reader.integer()
                let previous = [UInt8](try reader.raw(32))
                let row = TaskRow(ledger: LedgerState(next: next, previous: previous), now: try reader.time())
                try reader.end()
                return row
            }
        }
    }

    func write(_ context: TaskContext, _ writer: inout RowWriter) {
        writer.begin(format: Self.format)
        writer.integer(ledger.next)
        writer.raw(ledger.previous)
        writer.integer(now.millis)
        context.put(PlannerStore.rowsTable, Self.key, writer.bytes)
    }
}
