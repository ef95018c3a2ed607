public import HushBase
import HushCore

/// What was counted in a fleet, or in some of its households; counts of many add up.
public struct FleetCounts: Sendable {
    public var phones = 0
    public var intents = 0
    public var reads = 0
    public var screensRight = 0
    /// Pushes that APNs took, background pushes and alerts.
    public var pushes = 0
    public var alerts = 0
    /// How often iOS woke an app for a background push.
    public var wakeUps = 0
    /// Of what must stand on a screen at the end, what does not.
    public var createsLost = 0
    public var due = 0
    /// Time in which phones could be reached, and of it: the sum over what was missing; screens that were not right.
    public var reachableMillis: Int64 = 0
    public var missingMillis: Int64 = 0
    public var wrongMillis: Int64 = 0
    public var createDelays = LatencyHistogram()
    public var deleteDelays = LatencyHistogram()
    /// What faults are shares of, beside phones, intents and pushes: people, what apps send, transactions of each stage.
    public var people = 0
    public var signals = 0
    public var planCommits = 0
    public var deliveryCommits = 0
    public var fleets = 0
    private var faults: [Int] = Array(repeating: 0, count: FleetFault.allCases.count)

    init() {}

    /// How often a fault happened.
    public subscript(_ fault: FleetFault) -> Int { faults[Int(fault.rawValue)] }

    /// Of how many things a fault befalls some.
    public func whole(of fault: FleetFault) -> Int {
        switch fault.whole {
        case .phones: phones
        case .people: people
        case .intents: intents
        case .pushes: pushes
        case .signals: signals
        case .plans: planCommits
        case .deliveries: deliveryCommits
        case .fleets: fleets
        }
    }

    mutating func happened(_ fault: FleetFault) { faults[Int(fault.rawValue)] += 1 }

    mutating func add(_ other: FleetCounts) {
        phones += other.phones
        intents += other.intents
        reads += other.reads
        screensRight += other.screensRight
        pushes += other.pushes
        alerts += other.alerts
        wakeUps += other.wakeUps
        createsLost += other.createsLost
        due += other.due
        reachableMillis += other.reachableMillis
        missingMillis += other.missingMillis
        wrongMillis += other.wrongMillis
        createDelays.merge(other.createDelays)
        deleteDelays.merge(other.deleteDelays)
        people += other.people
        signals += other.signals
        planCommits += other.planCommits
        deliveryCommits += other.deliveryCommits
        fleets += other.fleets
        for (index, count) in other.faults.enumerated() { faults[index] += count }
    }
}

/// Something that must not happen, and did.
public struct FleetViolation: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable {
        case screenWrong = "a screen is wrong at the end"
        case wrongOwner = "a notification on another person's screen"
        case rangTwice = "a notification rang twice"
        case budget = "more pushes than the wake-up budget allows"
        case stuck = "something is stuck"
        case rejected = "a push was rejected"
    }

    public var kind: Kind
    public var seed: UInt64
    public var household: Int
    /// The phone's number in its household; nil where it is none's.
    public var phone: Int?
    public var detail: String
}
