public import HushCore
public import HushKit

/// A push as a phone gets it.
public struct DeliveredPush: Sendable {
    public var token: Bytes
    public var isAlert: Bool
    /// The `apns-collapse-id`: iOS makes it the identifier of an alert.
    public var collapseID: Bytes?
    /// The `apns-expiration`: APNs stores it for a phone that is away until then.
    public var expires: Timestamp?
    public var payload: PayloadValue

    public init(
        token: Bytes, isAlert: Bool, collapseID: Bytes?, expires: Timestamp? = nil, payload: PayloadValue
    ) {
        self.token = token
        self.isAlert = isAlert
        self.collapseID = collapseID
        self.expires = expires
        self.payload = payload
    }
}

/// One simulated phone: a screen, and the app on it, which speaks its dialect through HushKit: `HushInbox`, `SeedInbox`
/// or `AirshipInbox`.
///
/// Of one thread at a time. What the app sends comes out of each call.
public final class SimulatedPhone {
    /// What the app makes of a push that this phone got, for tests that want a rule of HushKit wrong.
    package typealias Filter = @Sendable (PayloadValue, SimulatedPhone) -> PayloadValue

    public let device: Bytes
    public let dialect: Dialect
    public let app: Bytes
    public private(set) var owner: Bytes
    public private(set) var token: Bytes
    public let screen = Screen()
    /// Pushes that the app dropped, by reason.
    public private(set) var drops: [HushDrop: Int] = [:]
    private var inbox: HushInbox
    private let filter: Filter?

    package init(
        owner: Bytes, device: Bytes, dialect: Dialect, app: Bytes, token: Bytes, install: Bytes, filter: Filter? = nil
    ) {
        self.owner = owner
        self.device = device
        self.dialect = dialect
        self.app = app
        self.token = token
        self.filter = filter
        inbox = HushInbox(device: device, install: install)
        _ = inbox.loggedIn(owner, newInstall: install)
    }

    /// The app is launched: it makes itself known.
    public func launch(now: Timestamp) -> [PhoneMessage] {
        guard dialect == .hush else { return [registerSeed()] }
        return perform(inbox.registered(token: token), now: now)
    }

    /// Takes a push; one for a token that is not this phone's is lost, as on Apple's side.
    public func receive(_ push: DeliveredPush, now: Timestamp) -> [PhoneMessage] {
        guard push.token == token else { return [] }
        if dialect != .hush { return receiveForeign(push, now: now) }
        let payload = filter?(push.payload, self) ?? push.payload
        let presented = push.isAlert ? push.collapseID : nil
        if let presented { screen.present(payload, identifier: presented) }
        return perform(inbox.receive(payload, presented: presented, now: now), now: now)
    }

    private func receiveForeign(_ push: DeliveredPush, now: Timestamp) -> [PhoneMessage] {
        guard dialect == .airship else {
            let actions = SeedInbox.receive(push.payload) { PayloadReader().read($0.raw) }
            return perform(actions, now: now)
        }
        if push.isAlert, let identifier = push.collapseID { screen.present(push.payload, identifier: identifier) }
        return perform(AirshipInbox.receive(push.payload), now: now)
    }

    /// The person reads a notification on this phone.
    public func read(_ id: Bytes, revision: Int64, now: Timestamp) -> [PhoneMessage] {
        perform(inbox.read(id, revision: revision), now: now)
    }

    /// The app tells the state of its battery, and perhaps since when it wants background pushes again.
    public func report(level: Double, charging: Bool, hint: Duration?, now: Timestamp) -> [PhoneMessage] {
        let reading = DeviceReading(battery: level, charging: charging, notBefore: hint.map { now + $0 })
        return [PhoneMessage(body: .signal(PhoneSignal(recipient: owner, device: device, at: now, reading: reading)))]
    }

    /// The app comes to the foreground: it says hello.
    public func foreground(now: Timestamp) -> [PhoneMessage] {
        guard dialect == .hush else { return [] }
        return perform(inbox.foregrounded(delivered: screen.delivered, now: now), now: now)
    }

    /// The app is deleted and installed again.
    public func reinstall(token: Bytes, install: Bytes, now: Timestamp) -> [PhoneMessage] {
        self.token = token
        screen.reset()
        inbox = HushInbox(device: device, install: install)
        _ = inbox.loggedIn(owner, newInstall: install)
        return launch(now: now) + foreground(now: now)
    }

    /// APNs gives another token. With an `install` the app starts a new one: this may be a backup on another phone.
    public func renew(token: Bytes, install: Bytes? = nil, now: Timestamp) -> [PhoneMessage] {
        self.token = token
        guard dialect == .hush else { return [registerSeed()] }
        return perform(inbox.registered(token: token, newInstall: install), now: now)
    }

    /// Another phone that was set up from this one's backup: the app and its state are there, the screen is empty, and
    /// the token is its own. It is still to be launched.
    public func restored(token: Bytes) -> SimulatedPhone {
        let phone = SimulatedPhone(
            owner: owner, device: device, dialect: dialect, app: app, token: token, install: inbox.install,
            filter: filter)
        phone.inbox = inbox
        return phone
    }

    /// Somebody else logs in.
    public func move(to owner: Bytes, install: Bytes, now: Timestamp) -> [PhoneMessage] {
        let actions = inbox.loggedIn(owner, newInstall: install)
        self.owner = owner
        let messages = perform(actions, now: now)
        return dialect == .hush ? messages : messages + [registerSeed()]
    }

    /// Removes what has expired.
    public func expire(now: Timestamp) {
        _ = perform(inbox.expire(now: now), now: now)
    }

    /// What the screen shows, for the comparison with the oracle.
    public var entries: [Bytes: ScreenEntry] {
        screen.shown.mapValues { shown in
            ScreenEntry(title: shown.content.title ?? "", revision: dialect == .hush ? shown.revision : nil)
        }
    }

    /// Whether the screen shows just that.
    public func shows(_ expected: [Bytes: ScreenEntry]) -> Bool {
        screen.shown.count == expected.count
            && screen.shown.allSatisfy { id, shown in expected[id].map { shows(shown, $0) } ?? false }
    }

    private func shows(_ shown: HushNotification, _ wanted: ScreenEntry) -> Bool {
        wanted.title == (shown.content.title ?? "") && (dialect != .hush || wanted.revision == shown.revision)
    }

    /// What differs from what the screen must show, for a log; empty where nothing does.
    public func difference(from expected: [Bytes: ScreenEntry]) -> String {
        let ids = Set(expected.keys).union(screen.shown.keys).sorted { $0.raw.lexicographicallyPrecedes($1.raw) }
        let lines = ids.compactMap { id -> String? in
            let shown = screen.shown[id]
            guard let wanted = expected[id] else { return "\(id) stands there and must not" }
            guard let shown else { return "\(id) is missing" }
            return shows(shown, wanted) ? nil : "\(id) shows \(shown.content.title ?? "no title"), not \(wanted.title)"
        }
        return lines.joined(separator: "; ")
    }

    private func registerSeed() -> PhoneMessage {
        PhoneMessage(
            body: .register(
                HushRegistration(recipient: owner, device: device, install: "", token: token, fresh: false), app: app,
                dialect: dialect))
    }

    /// Acknowledgements and a hello of one push travel in one signal.
    private func perform(_ actions: [HushAction], now: Timestamp) -> [PhoneMessage] {
        var messages: [PhoneMessage] = []
        var acks: [Bytes] = []
        var hello: HushHello?
        for action in actions where !screen.perform(action) {
            switch action {
            case .acknowledge(let names): acks += names
            case .hello(let said): hello = said
            case .report(let report): messages.append(PhoneMessage(body: .report(report, recipient: owner)))
            case .register(let registration):
                messages.append(PhoneMessage(body: .register(registration, app: app, dialect: dialect)))
            case .unregister(let unregistration): messages.append(PhoneMessage(body: .unregister(unregistration)))
            case .dropped(let reason): drops[reason, default: 0] += 1
            case .show, .remove, .removeAll, .badge: break
            }
        }
        if !acks.isEmpty || hello != nil {
            messages.append(
                PhoneMessage(
                    body: .signal(PhoneSignal(recipient: owner, device: device, at: now, acks: acks, hello: hello))))
        }
        return messages
    }
}
