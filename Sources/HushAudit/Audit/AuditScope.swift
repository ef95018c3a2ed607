public import HushCore
public import HushWorkers

/// What is to be audited, and how it is reached.
public struct AuditScope: Hashable, Sendable {
    /// A range of one input partition: offsets from `first` through `last`.
    public struct Offsets: Hashable, Sendable {
        public var topic: InputTopic
        public var partition: Int32
        public var first: Int64
        public var last: Int64

        public init(topic: InputTopic, partition: Int32, first: Int64, last: Int64) {
            self.topic = topic
            self.partition = partition
            self.first = first
            self.last = last
        }

        /// Reads `hush.intents-3:1200-1300`; nil where the text is of another form.
        public init?(_ text: String) {
            let halves = text.split(separator: ":", omittingEmptySubsequences: false)
            guard halves.count == 2, let dash = halves[0].lastIndex(of: "-"),
                let topic = InputTopic.allCases.first(where: { $0.topic.name == halves[0][..<dash] }),
                let partition = Int32(halves[0][halves[0].index(after: dash)...]), partition >= 0
            else { return nil }
            let ends = halves[1].split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count == 2, let first = Int64(ends[0]), let last = Int64(ends[1]), first >= 0, first <= last,
                last < .max
            else { return nil }
            self.init(topic: topic, partition: partition, first: first, last: last)
        }
    }

    /// Inputs appended from this time on; nil: from the first that is kept whole.
    public var from: Timestamp?
    /// Inputs appended before this time; nil: all there are.
    public var to: Timestamp?
    /// Only these inputs.
    public var offsets: Offsets?
    /// Where the ledger lies: another name for a copy of it.
    public var ledgerTopic = Topic.ledger.name
    public var names = TopicNames()
    /// How long the brokers may give nothing at all.
    public var patience = Duration.seconds(120)
    /// What pseudonyms in the ledger are made with.
    public var pseudonymKey: PseudonymKey?

    public init() {}

    var ledgerName: String { names.prefix + ledgerTopic }

    /// How much earlier than `from` the ledger is read, so that the order lines in the range can be checked whole:
    /// longer than a transaction lives, and clocks of brokers differ.
    static let margin = Duration.seconds(300)
    /// How long after the oldest record of `hush.pushes` a line must have been written for all its pushes to be there.
    static let pushesMargin = Duration.seconds(60)
}

/// What the caller is told while an audit reads, and asked.
public struct AuditWatch {
    /// What is being read, how many records of it were, and of how many.
    public var progress: (_ what: String, _ done: Int64, _ of: Int64) -> Void
    public var isStopped: () -> Bool

    public init(
        progress: @escaping (String, Int64, Int64) -> Void = { _, _, _ in }, isStopped: @escaping () -> Bool = { false }
    ) {
        self.progress = progress
        self.isStopped = isStopped
    }
}
