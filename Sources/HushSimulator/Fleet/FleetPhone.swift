import HushCore
import HushKit

/// A phone in the hand of a person: iOS with its rules about background pushes, the network, and the app.
///
/// From Apple's "Pushing background updates to your app": APNs stores one push a device and app, iOS holds the newest
/// background push only and grants about three wake-ups an hour; a force-quit app is not woken until it is launched.
struct FleetPhone {
    /// What iOS does about a push.
    enum Fate {
        case shown
        case woken
        /// Held; it replaced an older one or not.
        case held
        case discarded
    }

    let app: SimulatedPhone
    private let isThrottled: Bool
    /// How many spells of a kind are on.
    private var on: [Int] = Array(repeating: 0, count: FleetFaults.Spell.allCases.count)
    /// What APNs stores while the phone is away: the newest.
    var stored: DeliveredPush?
    /// What iOS holds until it may wake the app: the newest background push.
    var held: DeliveredPush?
    private var wakeUps: [Timestamp] = []
    /// What the app has sent, and could not, while the phone was away.
    var outbox: [PhoneMessage] = []
    /// Registers and reads leave one after the other.
    var lastSentAt = Timestamp.distantPast

    init(_ app: SimulatedPhone, isThrottled: Bool) {
        self.app = app
        self.isThrottled = isThrottled
    }

    func isOn(_ spell: FleetFaults.Spell) -> Bool { on[Int(spell.rawValue)] > 0 }

    /// Whether APNs reaches it.
    var isConnected: Bool { !isOn(.offline) && !isOn(.off) }
    /// Whether its screen could be right by now.
    var isReachable: Bool { isConnected && !isOn(.forceQuit) }

    mutating func start(_ spell: FleetFaults.Spell) {
        on[Int(spell.rawValue)] += 1
        if spell == .forceQuit || spell == .off { held = nil }
    }

    /// True where the last spell of its kind ended.
    mutating func end(_ spell: FleetFaults.Spell) -> Bool {
        on[Int(spell.rawValue)] -= 1
        return on[Int(spell.rawValue)] == 0
    }

    /// What becomes of a push that reached the phone.
    mutating func take(_ push: DeliveredPush, _ now: Timestamp) -> Fate {
        if push.isAlert { return .shown }
        if isOn(.forceQuit) { return .discarded }
        if let wakesAt = wakesAt(now), wakesAt <= now {
            wakeUps.append(now)
            if wakeUps.count > FleetOptions.wakeUpsPerHour { wakeUps.removeFirst() }
            held = nil
            return .woken
        }
        held = push
        return .held
    }

    /// When iOS would wake the app; nil where only the end of a spell lets it.
    func wakesAt(_ now: Timestamp) -> Timestamp? {
        for spell: FleetFaults.Spell in [.off, .locked, .forceQuit, .lowPower, .refreshOff, .starved] where isOn(spell)
        {
            return nil
        }
        guard isThrottled, wakeUps.count >= FleetOptions.wakeUpsPerHour, let oldest = wakeUps.first else { return now }
        return max(now, oldest + .seconds(3600))
    }

    /// A new install forgets what was on its way.
    mutating func forget() {
        (stored, held) = (nil, nil)
    }
}
