import HushCore

/// What goes wrong in a fleet, and how often.
public struct FleetFaults: Hashable, Sendable {
    /// A state that a phone is in for a while, or something that happens to it.
    public enum Spell: UInt8, Hashable, Sendable, CaseIterable {
        case offline, off, locked, forceQuit, lowPower, refreshOff, starved
        case reinstalled, renewed, handedOver, batteryLow, batteryHint

        /// What it is counted as.
        public var fault: FleetFault {
            switch self {
            case .offline: .offline
            case .off: .off
            case .locked: .locked
            case .forceQuit: .forceQuit
            case .lowPower: .lowPower
            case .refreshOff: .refreshOff
            case .starved: .starved
            case .reinstalled: .reinstalled
            case .renewed: .renewed
            case .handedOver: .handedOver
            case .batteryLow: .batteryLow
            case .batteryHint: .batteryHint
            }
        }

        /// Its length in minutes, the lower lengths more often; nil for what takes no time.
        var minutes: ClosedRange<Double>? {
            switch self {
            case .offline: 2...180
            case .off: 720...3600
            case .locked: 10...480
            case .forceQuit: 20...600
            case .lowPower: 60...300
            case .refreshOff: 120...1800
            case .starved: 60...360
            case .reinstalled, .renewed, .handedOver, .batteryLow, .batteryHint: nil
            }
        }
    }

    /// The share of phones that a spell meets in a day.
    public var spells: [Spell: Double] = [
        .offline: 0.5, .off: 0.03, .locked: 0.05, .forceQuit: 0.06, .lowPower: 0.1, .refreshOff: 0.04, .starved: 0.06,
        .reinstalled: 0.03, .renewed: 0.05, .handedOver: 0.05, .batteryLow: 0.05, .batteryHint: 0.05,
    ]
    /// What APNs answers.
    public var apns: APNsFaults
    /// Shares of the pushes that APNs took.
    public var lost = 0.003
    public var late = 0.01
    public var doubled = 0.005
    /// Shares of what apps send: acknowledgements that are lost; signals that are late, and doubled.
    public var ackLost = 0.01
    public var ackLate = 0.02
    public var ackDoubled = 0.01
    /// Shares of transactions that abort.
    public var planAborted = 0.01
    public var deliveryAborted = 0.01
    /// The share of people whose planner stands still for a while in a day, and of those whose device records alone
    /// come late to it.
    public var plannerLags = 0.03
    public var devicesLag = 0.03
    /// The share of logouts of which the sender never hears, and of logins that another one follows at once.
    public var logoutLost = 0.3
    public var quickLogins = 0.3
    /// The share of handovers of which the former owner's planner learns late.
    public var handoverLags = 0.3
    /// The share of new tokens that come while the phone is away, so that what was under way to the old one is gone.
    public var renewedAway = 0.5
    /// How often all deliverers die in a day.
    public var crashesPerDay = 3
    /// Shares of intents: sent twice, updates, retracts, with a short life, visible.
    public var repeated = 0.03
    public var updates = 0.06
    public var retracts = 0.03
    public var shortLived = 0.06
    public var visible = 0.04

    public init() {
        apns = APNsFaults()
        apns.tooManyRequests = 0.004
        apns.internalError = 0.002
        apns.unavailable = 0.002
        apns.reset = 0.004
        apns.silence = 0.004
        apns.retryAfterSeconds = 60
        apns.latency = .milliseconds(20) ... .milliseconds(200)
    }

    /// What a phone of another way can be compared in: the seeds' dialect has no expiry and no alerts.
    public mutating func keepComparable() {
        shortLived = 0
        visible = 0
    }
}
