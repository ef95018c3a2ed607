public import HushCore

/// Which fleet is simulated, how long, and in what trouble; a run is a function of these alone.
public struct FleetOptions: Hashable, Sendable {
    /// How senders write.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Spread over the day.
        case calm
        /// Bursts of 40 in an hour.
        case chat
    }

    /// How the fleet is served.
    public enum Way: String, Hashable, Sendable, CaseIterable {
        /// The first seed's way: one push an operation, no acknowledgements, no budget.
        case crt
        case hush
    }

    public var seed: UInt64 = 1
    public var phones = 200
    public var hours = 24
    public var intentsPerDay = 20
    /// The share of notifications that are read.
    public var reads = 0.3
    public var kind = Kind.calm
    /// Whether iOS wakes an app at most three times an hour and holds the newest push beyond.
    public var isThrottled = true
    public var way = Way.hush
    public var faults = FleetFaults()
    public var policy = Policy()
    /// Only this household.
    public var household: Int?
    /// A rule that tests leave out, to show that it would be noticed.
    package var broken: BrokenRule?

    public init() {}

    /// What is wrong with them, as a sentence; nil where they are good.
    public var fault: String? {
        if phones < 1 || phones > 100_000 { return "phones must lie between 1 and 100000" }
        if hours < 1 || hours > 72 { return "hours must lie between 1 and 72" }
        if intentsPerDay < 1 || intentsPerDay > 1000 { return "intents-per-day must lie between 1 and 1000" }
        if !(0...1).contains(reads) { return "reads is a share from 0 to 1" }
        return nil
    }

    var duration: Duration { .seconds(hours * 3600) }

    /// When every phone can be reached again: the longest spell reaches beyond the end of the inputs by this.
    static let spellBeyondEnd = Duration.seconds(60 * 3600)
    /// When the screens are judged: the time after the inputs' end that phones may be away, and then repeats may take.
    static let judgedAfter = Duration.seconds(110 * 3600)
    /// How long a notification lives: beyond the judgement, as far as the planner's longest life allows.
    static let life = Duration.seconds(6 * 86_400)
    /// Background wake-ups that iOS grants in an hour.
    static let wakeUpsPerHour = 3

    /// The options as arguments of `hush simulate`.
    public var arguments: String {
        var text = "--seed \(seed) --phones \(phones) --hours \(hours) --intents-per-day \(intentsPerDay)"
        text += " --reads \(reads) --fleet \(kind.rawValue) --throttle \(isThrottled ? "on" : "off")"
        if way == .crt { text += " --way crt" }
        if let household { text += " --household \(household)" }
        return text
    }
}

/// Rules that a test takes out of the deliverer or the phone; the simulation must notice each.
package enum BrokenRule: String, Hashable, Sendable, CaseIterable {
    /// The phone does not look whose push it is.
    case ownerTag
    /// The deliverer does not look whose ops it takes.
    case ownerCheck
    /// The app does nothing about a bind.
    case bindOp
    /// What was accepted is not sent again.
    case repeats
    /// The phone does not remember deletes of what it never showed.
    case tombstones
}
