import HushAPNs
public import HushBase
public import HushCore
public import HushStream

/// What the planner's tasks of a process share.
public struct PlannerConfiguration: Sendable {
    public var policy: Policy
    /// Names the code that decided, in the ledger's order lines.
    public var build: Bytes
    /// What the recipients that a task keeps in memory may take. Each takes about a kilobyte, 100 bytes for each live
    /// notification, and 16 to 32 for each id that is remembered, up to `KnownIDs.countMax`.
    public var cacheBytesMax: Int
    /// Under which recipients and devices stand in the ledger; nil: in clear. No decision depends on it.
    public var pseudonymKey: PseudonymKey?
    public var metrics: Metrics
    /// What waits for deliverers in `hush.pushes`; nil where that is not known, and slices are paced by their rate alone.
    /// No decision depends on it.
    public var backlog: @Sendable () -> GroupLagWatch.Reading?
    /// The clock that slices are paced by: of the wall in production. No decision depends on it.
    public var now: @Sendable () -> Timestamp

    public init(
        policy: Policy = Policy(), build: Bytes, cacheBytesMax: Int = 8 << 20, pseudonymKey: PseudonymKey? = nil,
        metrics: Metrics = Metrics(),
        backlog: @escaping @Sendable () -> GroupLagWatch.Reading? = { nil },
        now: @escaping @Sendable () -> Timestamp = { Timestamp(millis: WallClock.nowMillis()) }
    ) {
        self.policy = policy
        self.build = build
        self.cacheBytesMax = cacheBytesMax
        self.pseudonymKey = pseudonymKey
        self.metrics = metrics
        self.backlog = backlog
        self.now = now
    }

    /// What the planner writes: the indices in `StreamConfiguration.outputs`.
    enum Output: Int, CaseIterable {
        case pushes, ledger, dead
        /// The inputs again, for records that stand in a foreign partition.
        case intents, reads, devices, signals, fanout

        var topic: Topic {
            switch self {
            case .pushes: .pushes
            case .ledger: .ledger
            case .dead: .dead
            case .intents: .intents
            case .reads: .reads
            case .devices: .devices
            case .signals: .signals
            case .fanout: .fanout
            }
        }

        init(_ input: InputTopic) {
            switch input {
            case .intents: self = .intents
            case .reads: self = .reads
            case .devices: self = .devices
            case .signals: self = .signals
            case .fanout: self = .fanout
            }
        }
    }

    /// The largest record of an input: Kafka's default for a topic.
    static let inputBytesMax = 1 << 20

    /// The stream of a planner slot; times are its defaults. All topics have `partitionCount` partitions, but for
    /// `hush.pushes`, which has `pushesPartitionCount`.
    public static func stream(
        slotName: String, partitionCount: Int32, pushesPartitionCount: Int32
    ) -> StreamConfiguration {
        var stream = StreamConfiguration(
            application: "planner", groupID: "hush-planner", slotName: slotName, transactionalIDPrefix: "hush-planner",
            inputs: Topic.plannerInputs.map(\.name), partitionCount: partitionCount,
            outputs: Output.allCases.map { output in
                StreamOutput(
                    topic: output.topic.name,
                    partitionCount: output == .pushes ? pushesPartitionCount : partitionCount)
            },
            tables: PlannerStore.tables(
                marksChangelog: Topic.plannerMarks.name, rowsChangelog: Topic.plannerRows.name))
        stream.isStaticMember = true
        stream.recordBytesMax = inputBytesMax + DeadLetter.bytesMax
        return stream
    }

    /// A digest of the settings that decisions depend on: 16 hex digits for the order lines.
    package var digest: Bytes {
        let numbers = [
            policy.lifeDefault.wholeMillis, policy.lifeMax.wholeMillis, policy.dedupeWindow.wholeMillis,
            policy.dedupeGrace.wholeMillis, Int64(policy.livePerRecipientMax), Int64(policy.devicesPerRecipientMax),
            Int64(policy.sliceOpsMax), Int64(policy.sliceRowsMax), Int64(policy.audiencesMax),
        ]
        let hash = SHA256Digest()
        hash.update(Array(numbers.map(String.init).joined(separator: ",").utf8))
        return Bytes(Hex.encode(hash.finish().prefix(8)))
    }
}
