public import HushBase

/// A record as it was read, valid only while the task looks at it: the pointers lead into the fetch buffer.
public struct InputRecord {
    /// The index of its topic in `StreamConfiguration.inputs`.
    public var input: Int
    public var partition: Int32
    public var offset: Int64
    /// The broker's append time in milliseconds since 1970.
    public var appendTimeMillis: Int64
    public var key: UnsafeRawBufferPointer?
    public var value: UnsafeRawBufferPointer?
    public var headers: InputHeaders

    public init(
        input: Int, partition: Int32, offset: Int64, appendTimeMillis: Int64, key: UnsafeRawBufferPointer?,
        value: UnsafeRawBufferPointer?, headers: InputHeaders
    ) {
        self.input = input
        self.partition = partition
        self.offset = offset
        self.appendTimeMillis = appendTimeMillis
        self.key = key
        self.value = value
        self.headers = headers
    }
}

/// A header of a record that is written.
public struct RecordHeader: Hashable, Sendable {
    public var name: String
    public var value: [UInt8]

    public init(name: String, value: [UInt8]) {
        self.name = name
        self.value = value
    }
}

/// Why a task cannot go on: its slot aborts the transaction and stops, for the same record would fail again.
public struct TaskFailure: Error, Hashable, Sendable, CustomStringConvertible {
    public var description: String

    public init(_ description: String) {
        self.description = description
    }
}

/// The work of one partition: equal-numbered partitions of every input, their state and their share of a transaction.
///
/// All calls come on the slot's thread, one at a time. Everything a task writes through its context, and the offsets of
/// what it read, commit in one Kafka transaction or not at all; what else it remembers it must undo in `aborted`.
public protocol PartitionTask: AnyObject, SendableMetatype {
    /// The state is restored; called once, before any record.
    func restored(_ context: TaskContext) throws(TaskFailure)

    /// Takes one record.
    func process(_ record: InputRecord, _ context: TaskContext) throws(TaskFailure)

    /// Takes a record whose effects Kafka refuses, as `reason` says: it was alone in its transaction. What is written
    /// for it now must be something else; without an implementation the slot stops.
    func setAside(_ record: InputRecord, _ reason: String, _ context: TaskContext) throws(TaskFailure)

    /// The last writes of this transaction; called only where something was processed or woken.
    func prepareCommit(_ context: TaskContext) throws(TaskFailure)

    /// The transaction is committed and the state written. Side effects outside Kafka start here, unless
    /// `TaskContext.isHeld` says that they may not yet.
    func committed(_ context: TaskContext)

    /// The transaction is gone, state is as last committed; the records will come again where the partition stays.
    func aborted(_ context: TaskContext)

    /// The time asked for with `TaskContext.wake` has come, or `TaskContext.signal` was called.
    func woken(_ context: TaskContext) throws(TaskFailure)

    /// Stop beginning side effects: the partition is about to go. True once none is under way; asked again and again
    /// until then or until the slot's drain limit is over. Writes still join the last transaction.
    func drain(_ context: TaskContext) throws(TaskFailure) -> Bool

    /// The partition is gone; nothing may be written any more.
    func closed()
}

extension PartitionTask {
    public func setAside(_ record: InputRecord, _ reason: String, _ context: TaskContext) throws(TaskFailure) {
        throw TaskFailure(
            "what comes of offset \(record.offset) of partition \(record.partition) cannot be written: \(reason)")
    }
}

/// What one worker slot runs: a factory of tasks, and the place of what its tasks share.
public protocol StreamApplication: AnyObject, SendableMetatype {
    associatedtype Task: PartitionTask

    /// What ends the loop's wait, beside records and times; the loop clears them before it calls `turn`.
    var wakeUps: [WakeUp] { get }

    func makeTask(partition: Int32) -> Task

    /// Called on the slot's thread in every turn of its loop, before records are polled. An application that gets
    /// answers from other threads hands them to its tasks here, marking each with `TaskContext.signal`.
    func turn(_ tasks: [Int32: (task: Task, context: TaskContext)])

    /// Whether the records of these tasks should wait: a full queue pauses its source.
    var isSaturated: Bool { get }

    /// The slot found that it was stopped for longer than half its session: whatever was about to leave must not, until
    /// a `committed` that finds `TaskContext.isHeld` false. The slot sees to it that there will be one.
    func wasFrozen()

    /// The slot has let go of all its partitions, and closed their tasks: others may have them. What has not left must
    /// not; what a drain waited for has its answer already.
    func letGo()
}

extension StreamApplication {
    public var wakeUps: [WakeUp] { [] }
    public func letGo() {}
}
