/// A topic that tasks write to.
public struct StreamOutput: Hashable, Sendable {
    public var topic: String
    public var partitionCount: Int32

    public init(topic: String, partitionCount: Int32) {
        self.topic = topic
        self.partitionCount = partitionCount
    }
}

/// What one worker slot is: its topics, its names in the group, its times and limits.
public struct StreamConfiguration: Sendable {
    /// The name of the application: of its state and in its log.
    public var application: String
    public var groupID: String
    /// Stable over restarts, and of one running process at a time: whoever starts under it ends the other.
    public var slotName: String
    /// Whether the group keeps a stopped member's partitions until its session is over.
    public var isStaticMember = false
    /// `transactional.id` is this, a dash, and the slot's name.
    public var transactionalIDPrefix: String

    /// All have `partitionCount` partitions; a task reads the equal-numbered ones of all.
    public var inputs: [String]
    public var partitionCount: Int32
    public var outputs: [StreamOutput]
    public var tables: [StateTable]

    public var commitInterval = Duration.milliseconds(200)
    public var transactionTimeout = Duration.seconds(6)
    public var sessionTimeout = Duration.seconds(10)
    /// How long the loop may go without polling before the group takes the partitions away.
    public var pollInterval = Duration.seconds(60)
    /// How long tasks may take to end their side effects when partitions go.
    public var drainLimit = Duration.seconds(2)
    /// How long any call into librdkafka may block before the process ends itself with exit code 70.
    public var callLimit = Duration.seconds(20)

    /// A transaction is committed early when it has read or written as much.
    public var transactionRecordsMax = 50_000
    public var transactionBytesMax = 16 << 20
    /// Values that a consumer fetches ahead, and how many records: each takes some 400 bytes of librdkafka's beside. Below
    /// a second's worth librdkafka 2.0.2 stalls for up to a second whenever the queue is full (librdkafka #2879).
    public var fetchQueueBytes = 16 << 20
    public var fetchQueueRecords = 50_000
    /// What a broker sends at a time, and of one partition, as it is compressed: what comes of it exceeds the queue, for
    /// it is asked for while there is room (librdkafka #2076). A larger batch comes alone.
    public var fetchBytesMax = 1 << 20
    public var fetchPartitionBytesMax = 128 << 10
    public var recordBytesMax = 1_000_000

    public init(
        application: String, groupID: String, slotName: String, transactionalIDPrefix: String, inputs: [String],
        partitionCount: Int32, outputs: [StreamOutput], tables: [StateTable]
    ) {
        self.application = application
        self.groupID = groupID
        self.slotName = slotName
        self.transactionalIDPrefix = transactionalIDPrefix
        self.inputs = inputs
        self.partitionCount = partitionCount
        self.outputs = outputs
        self.tables = tables
    }

    public var transactionalID: String { "\(transactionalIDPrefix)-\(slotName)" }

    /// Where below a state directory a partition's state lies.
    public func storeName(_ partition: Int32) -> String { "\(application)/\(partition)" }

    /// What a local state belongs to.
    var identity: String {
        ([application, "\(partitionCount)"] + tables.map { "\($0.name):\($0.kind)" }).joined(separator: "/")
    }

    /// Checks the settings against each other.
    /// - Throws: `StreamFault.refused`, naming what to change.
    public func check() throws(StreamFault) {
        func require(_ holds: Bool, _ reason: String) throws(StreamFault) {
            if !holds { throw .refused("\(application): \(reason)") }
        }
        try require(!inputs.isEmpty, "there is no input topic")
        try require(partitionCount > 0, "the number of partitions must be above zero")
        try require(tables.count < Int(Checkpoint.table), "there are too many tables")
        try require(
            commitInterval + drainLimit < transactionTimeout,
            "the transaction timeout (\(transactionTimeout)) must be longer than commit interval and drain limit together"
        )
        try require(
            transactionTimeout < sessionTimeout,
            "the session timeout (\(sessionTimeout)) must be longer than the transaction timeout (\(transactionTimeout))"
        )
        try require(
            sessionTimeout < pollInterval, "the poll interval (\(pollInterval)) must be longer than the session timeout"
        )
        try require(
            callLimit < pollInterval, "the poll interval (\(pollInterval)) must be longer than the call limit")
        try require(
            drainLimit < sessionTimeout, "the session timeout must be longer than the drain limit (\(drainLimit))")
    }
}
