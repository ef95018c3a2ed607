import HushCore
import HushStream

/// What a planner task knows of itself: where its book stands, as in `LedgerState`'s row, and its time behind that.
struct TaskRow: Equatable {
    var ledger = LedgerState()
    var now = Timestamp.distantPast

    /// The row as it is committed; a new one where the task never committed.
    static func read(_ context: TaskContext) throws(TaskFailure) -> TaskRow {
        try LedgerState.rowKey.withUnsafeBufferPointer { key throws(TaskFailure) in
            try context.withValue(PlannerStore.rowsTable, UnsafeRawBufferPointer(key)) { value throws(TaskFailure) in
                guard let value else { return TaskRow() }
                var reader = try RowReader("task", value, newest: LedgerState.rowFormat)
                let row = TaskRow(ledger: try reader.ledgerState(), now: try reader.time())
                try reader.end()
                return row
            }
        }
    }

    func write(_ context: TaskContext, _ writer: inout RowWriter) {
        writer.begin(format: LedgerState.rowFormat)
        writer.ledgerState(ledger)
        writer.integer(now.millis)
        context.put(PlannerStore.rowsTable, LedgerState.rowKey, writer.bytes)
    }
}
