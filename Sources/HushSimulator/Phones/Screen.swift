public import HushCore
public import HushKit

/// A simulated notification centre: what stands on the screen, and what rang.
public final class Screen: NotificationCentre {
    /// What is on the screen, by notification id.
    public private(set) var shown: [Bytes: HushNotification] = [:]
    /// How often each (id, revision) rang.
    public private(set) var rings: [Bytes: [Int64: Int]] = [:]

    public init() {}

    public func show(_ notification: HushNotification, sound: Bool) {
        shown[notification.id] = notification
        if sound { rings[notification.id, default: [:]][notification.revision, default: 0] += 1 }
    }

    /// The system shows an alert itself, before the app is asked; what it says stands in `aps`, which notification it is
    /// in the ops.
    public func present(_ payload: PayloadValue, identifier: Bytes) {
        for op in payload["hush"]?["ops"]?.array ?? [] {
            guard let parts = op.array, parts.count == 5, let id = parts[2].id, let revision = parts[3].integer,
                StableIdentifier.of(id) == identifier
            else { continue }
            let alert = payload["aps"]?["alert"]
            let content = HushContent(title: alert?["title"]?.string, body: alert?["body"]?.string)
            let isPassive = payload["aps"]?["interruption-level"] == "passive"
            show(
                HushNotification(identifier: identifier, id: id, revision: revision, content: content),
                sound: !isPassive)
        }
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

    /// A new install of the app: iOS clears the screen.
    public func reset() {
        shown.removeAll()
        rings.removeAll()
    }
}
