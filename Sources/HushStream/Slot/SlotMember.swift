import HushBase

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
    /// Where each input ended when it was last read to its end; -1 before.
    private var ends: [Int64]
    /// Since when something lies behind that end which may not be read yet; nil where nothing does.
    private var blockedSince: [MonotonicTime?]

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
        ends = positions.map { _ in -1 }
        blockedSince = positions.map { _ in nil }
    }

    /// An input ends here, for now: behind it is nothing, or what a transaction holds back.
    func readTo(_ end: Int64, _ input: Int) {
        if ends[input] != end { blockedSince[input] = nil }
        ends[input] = end
    }

    /// Begins anew, for what was fetched last is as old as the time in which nothing ran.
    func forgetBlocks() {
        for input in blockedSince.indices { blockedSince[input] = nil }
    }

    /// Whether an input whose log goes on until `logEnd` has not been readable for `limit`, since it was last said.
    func isBlocked(_ input: Int, logEnd: Int64, now: MonotonicTime, limit: Duration) -> Bool {
        let position = context.positions[input]
        guard ends[input] == position, logEnd > position else {
            blockedSince[input] = nil
            return false
        }
        guard let since = blockedSince[input], now - since > limit else {
            if blockedSince[input] == nil { blockedSince[input] = now }
            return false
        }
        blockedSince[input] = now
        return true
    }
}
