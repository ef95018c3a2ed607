public import HushBase
public import HushCore
import HushKit

/// The simulated world of a run: plays a workload in its time, moves pushes to phones, and hands out what senders and
/// apps publish. Of one thread.
public final class World {
    /// What was handed out for publishing.
    public struct Published: Hashable, Sendable {
        /// Intents, repeats among them.
        public var intents = 0
        public var duplicates = 0
        public var reads = 0
        public var devices = 0
        public var signals = 0
        public var hellos = 0
    }

    /// A token that is no phone's any more.
    public struct DeadToken: Hashable, Sendable {
        public var token: Bytes
        public var since: Timestamp
    }

    public static let app: Bytes = "com.example.hush"

    public let workload: Workload
    public private(set) var phones: [SimulatedPhone] = []
    public private(set) var published = Published()
    /// Notifications that were shown to somebody whose they are not.
    public private(set) var shownToOthers = 0
    /// When the last intent with a short life is over.
    public private(set) var lastExpiry = Timestamp.distantPast
    private var dead: [DeadToken] = []
    private let recipientOfID: [Bytes: Bytes]
    private var byToken: [Bytes: Int] = [:]
    /// The phones that a recipient was ever logged in on.
    private var phonesOf: [Bytes: Set<Int>] = [:]
    private var next = 0
    private var troubled: TroubledPhones
    private var elapsed: Duration = .zero
    /// What was dealt with and still stands on a screen, by phone, and since when.
    private var owed: [Int: [Bytes: Timestamp]] = [:]
    /// From a read or retract to the moment at which a screen that showed it shows it no more.
    public private(set) var clearDelays = LatencyHistogram()
    /// Background pushes that woke an app.
    public private(set) var wakeUps = 0

    /// How many events have happened.
    public var played: Int { next }
    private var random: SplitMix64

    package init(
        _ workload: Workload, seed: UInt64, trouble: WorldTrouble = .none, filter: SimulatedPhone.Filter? = nil
    ) {
        self.workload = workload
        // Not the generator's own stream of numbers.
        random = SplitMix64(seed: ~seed)
        var recipientOfID: [Bytes: Bytes] = [:]
        for timed in workload.events {
            if case .show(let show) = timed.event { recipientOfID[show.id] = show.recipient }
        }
        self.recipientOfID = recipientOfID
        troubled = TroubledPhones(.none, [], over: .zero, seed: seed)
        for (index, phone) in workload.phones.enumerated() {
            let token = newToken()
            byToken[token] = index
            phonesOf[phone.owner, default: []].insert(index)
            phones.append(
                SimulatedPhone(
                    owner: phone.owner, device: phone.device, dialect: phone.dialect, app: Self.app, token: token,
                    install: newInstall(), filter: filter))
        }
        let last = workload.events.last?.at ?? .zero
        troubled = TroubledPhones(trouble, phones, over: last, seed: random.next())
    }

    /// Whether everything has happened.
    public var isOver: Bool { next == workload.events.count && troubled.isOver }

    /// How often each thing went wrong with phones and their pushes.
    public var troubles: [FleetFault: Int] { troubled.counts }

    /// Plays what is due `elapsed` after the begin, at most `eventsMax` events; returns what is to be published, in
    /// order.
    public func play(until elapsed: Duration, eventsMax: Int, now: Timestamp) -> [PhoneMessage] {
        self.elapsed = elapsed
        var messages = settle(troubled.play(until: elapsed, now: now), now: now)
        let end = min(workload.events.count, next + eventsMax)
        while next < end, workload.events[next].at <= elapsed {
            let timed = workload.events[next]
            next += 1
            if let message = timed.event.message() {
                messages.append(message)
                if timed.isDuplicate { published.duplicates += 1 }
                if case .show(let show) = timed.event, let life = show.life { lastExpiry = max(lastExpiry, now + life) }
                owe(timed.event, now: now)
            } else {
                messages += happen(timed.event, now: now)
            }
        }
        return count(messages)
    }

    /// Brings a push to its phone; a token that is nobody's loses it.
    public func deliver(_ push: DeliveredPush, now: Timestamp) -> [PhoneMessage] {
        guard let index = byToken[push.token] else { return [] }
        return count(settle(troubled.deliver(push, to: index, elapsed: elapsed, now: now), now: now))
    }

    /// Looks at the screens that may be others now; returns what is to be published.
    private func settle(_ outcome: TroubledPhones.Outcome, now: Timestamp) -> [PhoneMessage] {
        wakeUps += outcome.wakeUps
        for index in outcome.touched {
            let phone = phones[index]
            for (id, _) in phone.screen.shown where recipientOfID[id] != phone.owner { shownToOthers += 1 }
            for (id, since) in owed[index] ?? [:] where phone.screen.shown[id] == nil {
                owed[index]?[id] = nil
                clearDelays.record(now - since)
            }
        }
        return outcome.messages
    }

    /// Notes which screens have to lose what is dealt with.
    private func owe(_ event: Workload.Event, now: Timestamp) {
        let (recipient, id, through): (Bytes, Bytes, Int64) =
            switch event {
            case .read(let recipient, let id, let revision, _): (recipient, id, revision)
            case .retract(let recipient, let id, let revision): (recipient, id, revision ?? .max)
            default: ("", "", 0)
            }
        for index in phonesOf[recipient] ?? [] where phones[index].owner == recipient {
            guard let shown = phones[index].screen.shown[id] else { continue }
            if shown.revision <= through { owed[index, default: [:]][id] = now }
        }
    }

    /// Lets every phone remove what has expired.
    public func expire(now: Timestamp) {
        for phone in phones { phone.expire(now: now) }
    }

    /// Hands out the tokens that died since the last call.
    public func takeDead() -> [DeadToken] {
        defer { dead.removeAll() }
        return dead
    }

    /// How many screens show what they must, phone by phone.
    public func screensRight(_ expected: [[Bytes: ScreenEntry]]) -> Int {
        phones.indices.filter { phones[$0].shows(expected[$0]) }.count
    }

    /// Notifications that rang twice for one content, on phones that know what content is.
    public var rangTwice: Int {
        phones.lazy.filter { $0.dialect == .hush }
            .flatMap { $0.screen.rings.values.flatMap(\.values) }.filter { $0 > 1 }.count
    }

    private func happen(_ event: Workload.Event, now: Timestamp) -> [PhoneMessage] {
        switch event {
        case .show, .retract: return []
        case .read(let recipient, let id, let revision, let phone):
            guard let phone else { return [] }
            defer { owe(event, now: now) }
            if phones[phone].owner == recipient {
                return troubled.send(phones[phone].read(id, revision: revision, now: now), from: phone)
            }
            // Somebody else is logged in there by now, so it is read elsewhere.
            let elsewhere = Workload.Event.read(recipient: recipient, id: id, revision: revision, phone: nil)
            return elsewhere.message().map { [$0] } ?? []
        case .battery(let phone, let level, let charging, let hint):
            let messages = phones[phone].report(level: level, charging: charging, hint: hint, now: now)
            return troubled.send(messages, from: phone)
        case .appears(let phone): return troubled.send(phones[phone].launch(now: now), from: phone)
        case .reinstalled(let phone):
            owed[phone] = nil
            let messages = phones[phone].reinstall(
                token: replaceToken(of: phone, now), install: newInstall(), now: now)
            return troubled.send(messages, from: phone)
        case .renewed(let phone):
            return troubled.send(phones[phone].renew(token: replaceToken(of: phone, now), now: now), from: phone)
        case .moved(let phone, let owner):
            owed[phone] = nil
            phonesOf[owner, default: []].insert(phone)
            return troubled.send(phones[phone].move(to: owner, install: newInstall(), now: now), from: phone)
        }
    }

    private func replaceToken(of phone: Int, _ now: Timestamp) -> Bytes {
        byToken[phones[phone].token] = nil
        troubled.forget(phone)
        dead.append(DeadToken(token: phones[phone].token, since: now))
        let token = newToken()
        byToken[token] = phone
        return token
    }

    private func count(_ messages: [PhoneMessage]) -> [PhoneMessage] {
        for message in messages {
            switch message.topic {
            case .intents: published.intents += 1
            case .reads: published.reads += 1
            case .devices: published.devices += 1
            case .signals:
                published.signals += 1
                if message.saysHello { published.hellos += 1 }
            case .fanout: break
            }
        }
        return messages
    }

    private func newToken() -> Bytes {
        Bytes((0..<4).flatMap { _ in Hex.encode(random.next()) })
    }

    private func newInstall() -> Bytes {
        Bytes(Hex.encode(random.next()))
    }
}
