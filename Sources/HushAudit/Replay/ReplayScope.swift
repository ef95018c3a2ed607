public import HushCore
public import HushWorkers

/// What is to be replayed, and how.
public struct ReplayScope: Sendable {
    /// The rules to replay under.
    public var policy: Policy
    /// Whether they are to be others than those that decided.
    public var isWhatIf = false
    /// Only what was decided in a transaction whose order line was appended from this time on is compared; what came
    /// before is replayed for the state. Nil: all.
    public var from: Timestamp?
    /// The replay ends before the first transaction that ended then or later; nil: with the last.
    public var to: Timestamp?
    /// A state directory, or a snapshot of one, to begin with; nil: the beginning of what is kept.
    public var stateDirectory: String?
    /// Where the replay's own state lies meanwhile: a new directory, which goes with the replay.
    public var workDirectory: String
    /// Before the names of topics that the replay's own records are written to; nil: nothing is written.
    public var toPrefix: String?
    /// Where the ledger lies: another name for a copy of it.
    public var ledgerTopic = Topic.ledger.name
    public var names = TopicNames()
    /// How long the brokers may give nothing at all.
    public var patience = Duration.seconds(120)
    /// What pseudonyms in the ledger are made with.
    public var pseudonymKey: PseudonymKey?

    public init(policy: Policy, workDirectory: String) {
        self.policy = policy
        self.workDirectory = workDirectory
    }

    /// The range in words; nil where all is compared.
    var rangeText: String? {
        let parts = [from.map { "from \($0.rfc3339)" }, to.map { "before \($0.rfc3339)" }].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: " and ")
    }

    var ledgerName: String { names.prefix + ledgerTopic }

    /// How long after the oldest record of `hush.pushes` a decision must have been made for all its pushes to be there.
    static let pushesMargin = Duration.seconds(60)
    /// How much of the ledger is read before its inputs are.
    static let chunkBytes = 16 << 20
}

/// Why a replay cannot begin.
public enum ReplayFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The ledger has no order line of a planner.
    case empty(String)
    /// A topic, a directory or a prefix is not as it must be.
    case refused(String)
    /// A directory cannot be made or copied.
    case directory(String)

    public var description: String {
        switch self {
        case .empty(let what), .refused(let what), .directory(let what): what
        }
    }
}
