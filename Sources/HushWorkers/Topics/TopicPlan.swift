public import HushCore
public import HushStream

/// What the topics of one installation must be: the one truth for `hush topics create`, `check` and the documentation.
public struct TopicPlan: Hashable, Sendable {
    /// Partitions of the planner's inputs, its changelogs, the ledger and dead letters; never changed.
    public var plannerPartitions: Int32 = 12
    /// Partitions of pushes and the deliverer's changelog; never changed either.
    public var delivererPartitions: Int32 = 12
    /// Nil: the brokers' default.
    public var replicationFactor: Int32?
    /// How long inputs and ledger are kept.
    public var auditWindow = Duration.seconds(30 * 86_400)
    public var signalsRetention = Duration.seconds(3 * 86_400)
    /// Longer than the longest outage of deliverers.
    public var pushesRetention = Duration.seconds(3 * 86_400)
    public var deadRetention = Duration.seconds(90 * 86_400)
    /// How long a notification's mark is remembered: dedupe window and grace.
    public var markLife: Duration
    /// How long compacted deletions stay for those who read a changelog again.
    public var deleteRetention = Duration.seconds(7 * 86_400)

    /// The largest record of the inputs, in bytes: Kafka's own default.
    public static let inputBytesMax = 1_048_588
    /// The largest dead letter: an input, and the headers that tell why it died.
    public static let deadBytesMax = inputBytesMax + DeadLetter.bytesMax

    public init(policy: Policy = Policy()) {
        markLife = policy.dedupeWindow + policy.dedupeGrace
    }

    public func partitionCount(of topic: Topic) -> Int32 {
        topic.side == .planner ? plannerPartitions : delivererPartitions
    }

    /// How a topic cleans up behind itself.
    enum Cleanup: Equatable {
        case delete(after: Duration)
        case compact
        case compactAndDelete(after: Duration)

        /// `cleanup.policy`, its parts in alphabetical order.
        var policy: String {
            switch self {
            case .delete: "delete"
            case .compact: "compact"
            case .compactAndDelete: "compact,delete"
            }
        }

        /// What must stay at least; nil where nothing goes by age.
        var retention: Duration? {
            switch self {
            case .delete(let after), .compactAndDelete(let after): after
            case .compact: nil
            }
        }
    }

    func cleanup(of topic: Topic) -> Cleanup {
        switch topic {
        case .intents, .reads, .devices, .fanout, .ledger: .delete(after: auditWindow)
        case .signals: .delete(after: signalsRetention)
        case .pushes: .delete(after: pushesRetention)
        case .dead: .delete(after: deadRetention)
        case .plannerMarks: .compactAndDelete(after: markLife)
        case .plannerRows, .delivererRows, .redrives: .compact
        }
    }

    /// The topic as it is created.
    public func definition(of topic: Topic) -> TopicDefinition {
        let cleanup = cleanup(of: topic)
        var configuration = [
            TopicKey.timestampType: TopicKey.logAppendTime,
            TopicKey.cleanupPolicy: cleanup.policy,
            TopicKey.messageBytesMax: "\(topic == .dead ? Self.deadBytesMax : Self.inputBytesMax)",
        ]
        if let retention = cleanup.retention { configuration[TopicKey.retention] = "\(retention.wholeMillis)" }
        if cleanup.retention == nil || topic == .plannerMarks {
            configuration[TopicKey.deleteRetention] = "\(deleteRetention.wholeMillis)"
        }
        return TopicDefinition(
            name: topic.name, partitionCount: partitionCount(of: topic), replicationFactor: replicationFactor,
            configuration: configuration)
    }

    public var definitions: [TopicDefinition] { Topic.allCases.map(definition) }
}

/// Kafka's names of the topic configuration that matters here.
enum TopicKey {
    static let timestampType = "message.timestamp.type"
    static let logAppendTime = "LogAppendTime"
    static let cleanupPolicy = "cleanup.policy"
    static let retention = "retention.ms"
    static let retentionBytes = "retention.bytes"
    static let deleteRetention = "delete.retention.ms"
    static let messageBytesMax = "max.message.bytes"
}

/// The consumer groups of the workers, and what each reads.
public enum WorkerGroup {
    public static let planner = "hush-planner"
    public static let deliverer = "hush-deliverer"
    public static let all: [(group: String, topics: [Topic])] = [
        (planner, Topic.plannerInputs), (deliverer, [.pushes]),
    ]
}
