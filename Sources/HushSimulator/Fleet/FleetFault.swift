/// Something that goes wrong in a fleet, and is counted.
public enum FleetFault: UInt8, Hashable, Sendable, CaseIterable {
    case offline, off, locked, forceQuit, lowPower, refreshOff, starved
    case reinstalled, renewed, handedOver, batteryLow, batteryHint
    case repeatedIntent, logoutLost
    case plannerStands, devicesLag, planAborts, deliveryAborts, crash
    case tooManyRequests, internalError, unavailable, unregistered, reset, silence
    case lost, late, doubled, stored, storedReplaced, storedExpired, held, heldReplaced, discarded
    case ackLost, ackLate, ackDoubled

    /// What its count is a share of.
    public enum Whole: String, Hashable, Sendable {
        case phones, people, intents, pushes, signals
        case plans = "planner transactions"
        case deliveries = "deliverer transactions"
        case fleets
    }

    public var whole: Whole {
        switch self {
        case .offline, .off, .locked, .forceQuit, .lowPower, .refreshOff, .starved, .reinstalled, .renewed, .handedOver,
            .batteryLow, .batteryHint, .logoutLost:
            .phones
        case .plannerStands, .devicesLag: .people
        case .repeatedIntent: .intents
        case .planAborts: .plans
        case .deliveryAborts: .deliveries
        case .crash: .fleets
        case .tooManyRequests, .internalError, .unavailable, .unregistered, .reset, .silence, .lost, .late, .doubled,
            .stored, .storedReplaced, .storedExpired, .held, .heldReplaced, .discarded:
            .pushes
        case .ackLost, .ackLate, .ackDoubled: .signals
        }
    }

    public var name: String {
        switch self {
        case .offline: "offline"
        case .off: "switched off"
        case .locked: "locked since its start"
        case .forceQuit: "force-quit"
        case .lowPower: "low-power mode"
        case .refreshOff: "background refresh off"
        case .starved: "no background budget"
        case .reinstalled: "reinstalled"
        case .renewed: "new token"
        case .handedOver: "handed to another person"
        case .batteryLow: "low battery told"
        case .batteryHint: "delay hint"
        case .repeatedIntent: "an intent is sent twice"
        case .logoutLost: "a logout is lost"
        case .plannerStands: "planner stands still"
        case .devicesLag: "device records lag"
        case .planAborts: "planner's transaction aborts"
        case .deliveryAborts: "deliverer's transaction aborts"
        case .crash: "deliverers die"
        case .tooManyRequests: "APNs answers 429 TooManyRequests"
        case .internalError: "APNs answers 500 InternalServerError"
        case .unavailable: "APNs answers 503 ServiceUnavailable"
        case .unregistered: "APNs answers 410 Unregistered"
        case .reset: "APNs resets a stream"
        case .silence: "APNs is silent"
        case .lost: "APNs loses a push"
        case .late: "a push comes late"
        case .doubled: "a push comes twice"
        case .stored: "APNs stores a push"
        case .storedReplaced: "APNs replaces its stored push"
        case .storedExpired: "a stored push expires"
        case .held: "iOS holds a push"
        case .heldReplaced: "iOS replaces the push it holds"
        case .discarded: "a force-quit app misses a push"
        case .ackLost: "an acknowledgement is lost"
        case .ackLate: "an acknowledgement is late"
        case .ackDoubled: "an acknowledgement comes twice"
        }
    }

    /// What an answer of APNs that is no 200 counts as; nil where no fault of a fleet explains it.
    init?(status: UInt16) {
        switch status {
        case 410: self = .unregistered
        case 429: self = .tooManyRequests
        case 500: self = .internalError
        case 503: self = .unavailable
        default: return nil
        }
    }
}
