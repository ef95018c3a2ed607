public import HushBase

/// How far an input of a partition is read.
public struct InputPosition: Hashable, Sendable {
    public var topic: String
    public var partition: Int32
    /// Of the next record, as the slot has taken them: committed or not.
    public var offset: Int64

    public init(topic: String, partition: Int32, offset: Int64) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
    }
}

/// How a slot stands, as any thread may ask.
public struct SlotStatus: Sendable {
    public enum Phase: String, Sendable {
        /// Reaching the brokers, checking topics, taking the transactional id over.
        case starting
        /// A member of the group, without partitions.
        case idle
        /// At least one task reads its changelogs.
        case restoring
        case running
        case stopping
        case stopped
    }

    public var phase = Phase.starting
    public var partitions: [Int32] = []
    public var restoring = 0
    /// Records read and committed, records written and committed (changelogs included).
    public var recordsIn: Int64 = 0
    public var recordsOut: Int64 = 0
    public var transactions: Int64 = 0
    public var aborts: Int64 = 0
    public var rebalances: Int64 = 0
    public var producersReplaced: Int64 = 0
    /// When the loop last began a turn; a restart of the process is due where that is long ago.
    public var lastTurn: MonotonicTime?
    public var lastCommit: MonotonicTime?
    public var lastCommitDuration = Duration.zero
    /// Records of the slot's partitions that are not read yet, as of the last fetches.
    public var lag: Int64 = 0
    /// Of the partitions whose state is restored, as of the last 200 ms.
    public var positions: [InputPosition] = []
    /// Whether the application lets records wait, and how often it began to.
    public var isWaiting = false
    public var waits: Int64 = 0
    /// Why it ended; nil where it was asked to.
    public var fault: StreamFault?

    public init() {}
}
