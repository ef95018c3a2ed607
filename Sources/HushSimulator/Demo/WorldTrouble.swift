import HushCore

/// What befalls phones and their pushes while a world runs, in its time: shares as `FleetFaults` has them.
///
/// Only phones of the `hush` dialect are in trouble: the others cannot say what they got, so nobody repeats it to them.
public struct WorldTrouble: Hashable, Sendable {
    /// The share of phones that a spell meets.
    public var spells: [FleetFaults.Spell: Double] = [
        .offline: 0.3, .locked: 0.1, .forceQuit: 0.1, .starved: 0.1, .off: 0.05,
    ]
    /// A spell's length as a share of the run's.
    public var lengths = 0.02...0.25
    /// Shares of the pushes that APNs took.
    public var lost = 0.02
    public var late = 0.03
    public var doubled = 0.02
    /// Shares of what apps acknowledge.
    public var ackLost = 0.03
    public var ackLate = 0.03
    public var ackDoubled = 0.02
    /// How late what is late may be.
    public var lateness: Duration = .seconds(2)

    public init() {}

    /// Phones that are always there, and a network that loses nothing.
    public static let none: WorldTrouble = {
        var none = WorldTrouble()
        none.spells = [:]
        (none.lost, none.late, none.doubled) = (0, 0, 0)
        (none.ackLost, none.ackLate, none.ackDoubled) = (0, 0, 0)
        return none
    }()
}

/// The phones of a world in trouble, and what is on its way to them and from them. Of one thread.
struct TroubledPhones {
    /// What is to happen at a time after the begin.
    private enum Event {
        case start(phone: Int, FleetFaults.Spell)
        case end(phone: Int, FleetFaults.Spell)
        case reach(phone: Int, DeliveredPush)
        case send([PhoneMessage])
    }

    /// What became of one step.
    struct Outcome {
        var messages: [PhoneMessage] = []
        /// Phones whose screen may be another now.
        var touched: [Int] = []
        var wakeUps = 0
    }

    private let trouble: WorldTrouble
    private var random: SplitMix64
    private var phones: [FleetPhone]
    private var queue = EventQueue<Event>()
    /// How often each thing went wrong.
    private(set) var counts: [FleetFault: Int] = [:]

    init(_ trouble: WorldTrouble, _ apps: [SimulatedPhone], over duration: Duration, seed: UInt64) {
        self.trouble = trouble
        random = SplitMix64(seed: seed)
        phones = apps.map { FleetPhone($0, isThrottled: false) }
        for (index, app) in apps.enumerated() where app.dialect == .hush {
            for spell in FleetFaults.Spell.allCases {
                guard let share = trouble.spells[spell], random.chance(share) else { continue }
                let start = duration * Double.random(in: 0.1..<0.8, using: &random)
                let length = duration * Double.random(in: trouble.lengths, using: &random)
                queue.add(.start(phone: index, spell), at: Self.begin + start)
                queue.add(.end(phone: index, spell), at: Self.begin + start + length)
            }
        }
    }

    private static let begin = Timestamp(millis: 0)

    /// Whether nothing is on its way and no phone is in trouble.
    var isOver: Bool { queue.isEmpty }

    /// What is due `elapsed` after the begin happens.
    mutating func play(until elapsed: Duration, now: Timestamp) -> Outcome {
        var outcome = Outcome()
        while let at = queue.nextAt, at <= Self.begin + elapsed, let (_, event) = queue.take() {
            switch event {
            case .start(let phone, let spell):
                count(spell.fault)
                phones[phone].start(spell)
            case .end(let phone, let spell): end(spell, of: phone, elapsed, now, &outcome)
            case .reach(let phone, let push): reach(phone, push, elapsed, now, &outcome)
            case .send(let messages): outcome.messages += messages
            }
        }
        return outcome
    }

    /// A push comes from APNs: usually at once, sometimes late, twice, or never.
    mutating func deliver(_ push: DeliveredPush, to phone: Int, elapsed: Duration, now: Timestamp) -> Outcome {
        var outcome = Outcome()
        guard phones[phone].app.dialect == .hush else {
            reach(phone, push, elapsed, now, &outcome)
            return outcome
        }
        if random.chance(trouble.lost) {
            count(.lost)
            return outcome
        }
        // An alert that APNs itself brings twice sounds twice, whatever a sender does.
        if !push.isAlert, random.chance(trouble.doubled) {
            count(.doubled)
            queue.add(.reach(phone: phone, push), at: later(elapsed))
        }
        if random.chance(trouble.late) {
            count(.late)
            queue.add(.reach(phone: phone, push), at: later(elapsed))
        } else {
            reach(phone, push, elapsed, now, &outcome)
        }
        return outcome
    }

    /// What an app sends while it is away waits for the network.
    mutating func send(_ messages: [PhoneMessage], from phone: Int) -> [PhoneMessage] {
        if phones[phone].isConnected { return messages }
        phones[phone].outbox += messages
        return []
    }

    /// A new token, or a new install, forgets what was on its way.
    mutating func forget(_ phone: Int) { phones[phone].forget() }

    private mutating func reach(
        _ phone: Int, _ push: DeliveredPush, _ elapsed: Duration, _ now: Timestamp, _ outcome: inout Outcome
    ) {
        // It was late, and the token is another's or nobody's by now.
        guard phones[phone].app.token == push.token else { return }
        if phones[phone].isConnected { return hand(push, to: phone, elapsed, now, &outcome) }
        count(phones[phone].stored == nil ? .stored : .storedReplaced)
        phones[phone].stored = push
    }

    private mutating func hand(
        _ push: DeliveredPush, to phone: Int, _ elapsed: Duration, _ now: Timestamp, _ outcome: inout Outcome
    ) {
        let replaces = phones[phone].held != nil
        switch phones[phone].take(push, now) {
        case .held: return count(replaces ? .heldReplaced : .held)
        case .discarded: return count(.discarded)
        case .woken: outcome.wakeUps += 1
        case .shown: break
        }
        outcome.touched.append(phone)
        for message in phones[phone].app.receive(push, now: now) {
            outcome.messages += acknowledge(message, from: phone, elapsed)
        }
    }

    /// What a woken app sends may be lost, late or come twice.
    private mutating func acknowledge(
        _ message: PhoneMessage, from phone: Int, _ elapsed: Duration
    ) -> [PhoneMessage] {
        guard message.topic == .signals, phones[phone].app.dialect == .hush else { return [message] }
        if random.chance(trouble.ackLost) {
            count(.ackLost)
            return []
        }
        if random.chance(trouble.ackDoubled) {
            count(.ackDoubled)
            queue.add(.send([message]), at: later(elapsed))
        }
        if random.chance(trouble.ackLate) {
            count(.ackLate)
            queue.add(.send([message]), at: later(elapsed))
            return []
        }
        return [message]
    }

    private mutating func end(
        _ spell: FleetFaults.Spell, of phone: Int, _ elapsed: Duration, _ now: Timestamp, _ outcome: inout Outcome
    ) {
        guard phones[phone].end(spell) else { return }
        outcome.touched.append(phone)
        if phones[phone].isConnected {
            outcome.messages += phones[phone].outbox
            phones[phone].outbox = []
            if let stored = phones[phone].stored {
                phones[phone].stored = nil
                if stored.expires.map({ $0 > now }) ?? true { hand(stored, to: phone, elapsed, now, &outcome) }
            }
        }
        if spell == .forceQuit {
            // The person opens the app again; iOS tells nothing of what it discarded.
            let app = phones[phone].app
            outcome.messages += send(app.launch(now: now) + app.foreground(now: now), from: phone)
        }
        if let held = phones[phone].held, let wakesAt = phones[phone].wakesAt(now), wakesAt <= now {
            hand(held, to: phone, elapsed, now, &outcome)
        }
    }

    private mutating func later(_ elapsed: Duration) -> Timestamp {
        Self.begin + elapsed + trouble.lateness * Double.random(in: 0.01..<1, using: &random)
    }

    private mutating func count(_ fault: FleetFault) { counts[fault, default: 0] += 1 }
}
