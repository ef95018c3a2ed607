public import HushCore

/// One thing that a replay did otherwise than the ledger and `hush.pushes` tell.
public struct ReplayDifference: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The plan lines of a record or slice.
        case decision
        /// A push that the replay makes, and that is not in `hush.pushes`.
        case push
        /// A push in `hush.pushes` that the replay does not make.
        case lackingPush = "lacking_push"
        /// An order line counts other records than its topic holds, or a slice where there is no audience to walk.
        case order

        /// What it means, as the documentation has it.
        public var meaning: String {
            switch self {
            case .decision: "records and slices whose plan lines are not those in the ledger"
            case .push: "pushes that the replay makes, and that are not in hush.pushes"
            case .lackingPush: "pushes in hush.pushes that the replay does not make"
            case .order: "order lines that do not fit the inputs"
            }
        }
    }

    public var kind: Kind
    /// The planner's partition.
    public var partition: Int32
    /// The task's time when it was decided.
    public var at: Timestamp
    /// The input, slice or push that it is about: `hush.intents-3@1201`.
    public var place: String
    /// What stands in the topic, and what the replay made: lines, or a push with its key.
    public var recorded: [String]
    public var replayed: [String]

    init(
        _ kind: Kind, _ partition: Int32, at: Timestamp, _ place: String, recorded: [String] = [],
        replayed: [String] = []
    ) {
        self.kind = kind
        self.partition = partition
        self.at = at
        self.place = place
        self.recorded = recorded
        self.replayed = replayed
    }
}

/// How many lines of one decision became another's.
public struct DecisionChange: Hashable, Sendable {
    /// Nil: no line.
    public var recorded: PlanDecision?
    public var replayed: PlanDecision?
}

/// What a replay did and found.
public struct ReplayReport: Hashable, Sendable {
    public enum Verdict: String, Hashable, Sendable {
        /// The same decisions and pushes, of all there is.
        case same
        case different
        /// Nothing differs, and not all could be replayed.
        case unproved
    }

    public var parts = 0
    public var inputs = 0
    public var slices = 0
    /// Plan lines that the ledger has, and that the replay wrote.
    public var linesRecorded = 0
    public var linesReplayed = 0
    public var pushesReplayed = 0
    /// Of these, those that `hush.pushes` still holds.
    public var pushesFound = 0
    /// The first of each kind and partition, by their times.
    public private(set) var differences: [ReplayDifference] = []
    public private(set) var differenceCounts: [ReplayDifference.Kind: Int] = [:]
    public private(set) var changes: [DecisionChange: Int] = [:]
    /// What was replayed, under which settings, in words.
    public var notes: [String] = []
    /// Why not all could be replayed.
    public var doubts: [String] = []

    /// Differences that are kept with their places, of each kind and partition.
    static let keptMax = 20

    init() {}

    public var differenceCount: Int { differenceCounts.values.reduce(0, +) }

    public var verdict: Verdict {
        if differenceCount > 0 { return .different }
        return doubts.isEmpty ? .same : .unproved
    }

    mutating func add(_ difference: ReplayDifference) {
        let count = differenceCounts[difference.kind, default: 0]
        differenceCounts[difference.kind] = count + 1
        if count < Self.keptMax { differences.append(difference) }
    }

    mutating func add(_ change: DecisionChange) { changes[change, default: 0] += 1 }

    /// Says something once.
    mutating func note(_ words: String) {
        if notes.count < Self.keptMax, !notes.contains(words) { notes.append(words) }
    }

    /// Adds what was found in another partition.
    mutating func add(_ other: ReplayReport) {
        parts += other.parts
        inputs += other.inputs
        slices += other.slices
        linesRecorded += other.linesRecorded
        linesReplayed += other.linesReplayed
        pushesReplayed += other.pushesReplayed
        pushesFound += other.pushesFound
        differenceCounts.merge(other.differenceCounts) { $0 + $1 }
        changes.merge(other.changes) { $0 + $1 }
        doubts += other.doubts
        for words in other.notes { note(words) }
        differences += other.differences
    }

    /// Puts the differences in the order of time; what was found first of one moment stays first.
    mutating func settle() {
        differences = differences.enumerated().sorted {
            ($0.element.at, $0.offset) < ($1.element.at, $1.offset)
        }.map(\.element)
    }
}
