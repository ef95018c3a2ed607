/// One partition's task with all that is its own.
final class SlotMember<Task: PartitionTask> {
    let partition: Int32
    let task: Task
    let context: TaskContext
    let store: StateStore
    /// The input positions of the last commit: where an abort goes back to.
    var committedPositions: [Int64]
    /// The next offset of each table's changelog, as of the last commit.
    var changelogOffsets: [Int64]
    var transactions: Int64
    var isRestored = false
    /// Whether the group has this member's positions from us; before, it has them from whoever was here.
    var hasCommittedHere = false

    init(
        partition: Int32, task: Task, context: TaskContext, store: StateStore, positions: [Int64],
        checkpoint: Checkpoint
    ) {
        self.partition = partition
        self.task = task
        self.context = context
        self.store = store
        committedPositions = positions
        changelogOffsets = checkpoint.changelogOffsets
        transactions = checkpoint.transactions
        context.positions = positions
    }
}
