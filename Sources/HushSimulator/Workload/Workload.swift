public import HushCore

/// What happens to a simulated world: its phones, and what senders and people do, in the order of time.
///
/// A function of its options alone, so that a seed repeats it.
public struct Workload: Sendable {
    /// A phone or pad, by its index in `phones`.
    public struct Phone: Hashable, Sendable {
        /// Who is logged in at first.
        public var owner: Bytes
        public var device: Bytes
        public var dialect: Dialect
        /// When it makes itself known.
        public var appears: Duration
    }

    public struct Show: Hashable, Sendable {
        public var recipient: Bytes
        public var id: Bytes
        public var revision: Int64
        public var title: Bytes
        public var body: Bytes
        /// How long it lives; nil: the default, which is beyond the end.
        public var life: Duration?
        public var mode: Mode
        public var urgent: Bool
    }

    public enum Event: Hashable, Sendable {
        case show(Show)
        /// Nil: through every revision.
        case retract(recipient: Bytes, id: Bytes, revision: Int64?)
        /// Read on a phone, or elsewhere where `phone` is nil.
        case read(recipient: Bytes, id: Bytes, revision: Int64, phone: Int?)
        /// A reading with a delay hint from then on, or without one.
        case battery(phone: Int, level: Double, charging: Bool, hint: Duration?)
        case appears(phone: Int)
        /// The app is installed anew: an empty screen, another token.
        case reinstalled(phone: Int)
        /// The token changes, nothing else does.
        case renewed(phone: Int)
        /// Somebody else logs in.
        case moved(phone: Int, to: Bytes)
    }

    public struct Timed: Hashable, Sendable {
        public var at: Duration
        public var event: Event
        /// A repeat of an event before, as a producer that retries makes it.
        public var isDuplicate = false
    }

    public var recipients: [Bytes] = []
    public var phones: [Phone] = []
    public var events: [Timed] = []

    /// When the last of the short lives is over, counted from the begin.
    public var lastExpiry: Duration {
        var last = Duration.zero
        for timed in events {
            if case .show(let show) = timed.event, let life = show.life { last = max(last, timed.at + life) }
        }
        return last
    }
}

/// What a workload is made from.
public struct WorkloadOptions: Hashable, Sendable {
    public var seed: UInt64 = 1
    /// What the recipients' names begin with.
    public var recipientPrefix = "user-"
    public var recipients = 200
    /// Creates, updates and retracts, repeats not counted.
    public var intents = 5000
    /// The share of intents that are sent twice.
    public var duplicates = 0.1
    /// The share of notifications that are read.
    public var reads = 0.3
    /// Over which time all this is spread.
    public var duration: Duration = .seconds(15)

    /// The highest share of live notifications of a recipient that stays below the planner's limit, where the oldest
    /// would be evicted.
    static let livePerRecipientMax = 48

    public init() {}

    /// What is wrong with them, as a sentence; nil where they are good.
    public var fault: String? {
        if recipients < 1 || recipients > 100_000 { return "recipients must lie between 1 and 100000" }
        if intents < 1 || intents > 1_000_000 { return "intents must lie between 1 and 1000000" }
        if !(0...1).contains(duplicates) { return "duplicates is a share from 0 to 1" }
        if !(0...1).contains(reads) { return "reads is a share from 0 to 1" }
        return nil
    }
}

extension SplitMix64 {
    /// True with this probability.
    public mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &self) < probability
    }
}
