public import HushCore
public import HushKit

/// A simulated notification centre: what stands on the screen, and what rang.
public final class Screen: NotificationCentre {
    /// What is on the screen, by notification id.
    public private(set) var shown: [Bytes: HushNotification] = [:]
    /// How often each (id, revision) rang.
    public private(set) var rings: [Bytes: [Int64: Int]] = [:]

    /// The number on the app's icon; nil until something sets it.
    public private(set) var badge: Int64?

    public init() {}

    public func show(_ notification: HushNotification, sound: Bool) {
        if let badge = notification.content.badge { setBadge(badge) }
        shown[notification.id] = notification
        if sound { rings[notification.id, default: [:]][notification.revision, default: 0] += 1 }
    }

    public func setBadge(_ count: Int64) {
        badge = count
        // As iOS does.
        if count == 0 { shown.removeAll() }
    }

    /// The system shows an alert itself, before the app is asked; what it says stands in `aps`, which notification it is
    /// in the ops.
    public func present(_ payload: PayloadValue, identifier: Bytes) {
        if let badge = payload["aps"]?["badge"]?.integer { setBadge(badge) }
        if payload["hush"] == nil { return presentForeign(payload, identifier: identifier) }
        for op in payload["hush"]?["ops"]?.array ?? [] {
            guard let parts = op.array, parts.count >= 5, let id = parts[2].id, let revision = parts[3].integer,
                StableIdentifier.of(id) == identifier
            else { continue }
            let alert = payload["aps"]?["alert"]
            let content = HushContent(
                title: alert?["title"]?.string, body: alert?["body"]?.string ?? alert?.string)
            show(
                HushNotification(identifier: identifier, id: id, revision: revision, content: content),
                sound: !Self.isPassive(payload))
        }
    }

    /// An alert of another dialect: its identifier is all that names it.
    private func presentForeign(_ payload: PayloadValue, identifier: Bytes) {
        let prefix = Array("hush.".utf8)
        let id = identifier.raw.starts(with: prefix) ? Bytes(identifier.raw.dropFirst(prefix.count)) : identifier
        let notification = HushNotification(
            identifier: identifier, id: id, revision: 1, content: HushContent(airship: payload))
        show(notification, sound: !Self.isPassive(payload))
    }

    private static func isPassive(_ payload: PayloadValue) -> Bool {
        payload["aps"]?["interruption-level"] == "passive"
    }

    public func remove(_ identifiers: [Bytes]) {
        for (id, notification) in shown where identifiers.contains(notification.identifier) { shown[id] = nil }
    }

    public func removeAll() {
        shown.removeAll()
    }

    /// What the centre holds, as an app asks it.
    public var delivered: [HushDelivered] {
        shown.values.map { HushDelivered(identifier: $0.identifier) }
    }

    /// Another person hears from now on.
    func forgetRings() {
        rings.removeAll()
    }

    /// A new install of the app: iOS clears the screen.
    public func reset() {
        shown.removeAll()
        rings.removeAll()
    }
}
