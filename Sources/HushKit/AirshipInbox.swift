import HushCore

/// The app's side of the `airship` dialect: the system shows its alerts by itself, under the notification's stable
/// identifier, and a silent push of ours takes them back.
///
/// It keeps nothing and acknowledges nothing; an app that needs its screen to converge speaks `hush`.
public enum AirshipInbox {
    /// What a push asks for: nothing for an alert, `remove` for a delete, `dropped` for what is neither.
    ///
    /// What an alert carries beside its text is for `HushContent(airship:)` and its `calls`.
    public static func receive(_ payload: PayloadValue) -> [HushAction] {
        if let identifiers = payload["hush.remove"]?.strings.filter(StableIdentifier.isOurs), !identifiers.isEmpty {
            let badge = payload["hush.badge"]?.integer.map { [HushAction.badge($0)] } ?? []
            return [.remove(identifiers)] + badge
        }
        return payload["aps"]?["alert"] == nil ? [.dropped(.foreign)] : []
    }
}

extension HushContent {
    /// Reads an alert of the `airship` dialect, ours or Airship's own; what is no member of either is an extra.
    public init(airship payload: PayloadValue) {
        let aps = payload["aps"]
        title = aps?["alert"]?["title"]?.string
        body = aps?["alert"]?["body"]?.string ?? aps?["alert"]?.string
        badge = aps?["badge"]?.integer
        sound = aps?["sound"]?.string
        category = aps?["category"]?.string
        thread = aps?["thread-id"]?.string
        link = payload["^d"]?.string
        url = payload["^u"]?.string
        landingPage = payload["^p"]?.string
        share = payload["^s"]?.string
        messageCenter = payload["^mc"]?.string
        sendID = payload["_"]?.string
        tagsAdded = Self.tags(payload["^+t"])
        tagsRemoved = Self.tags(payload["^-t"])
        inApp = payload["com.urbanairship.in_app"]
        actions = payload["com.urbanairship.interactive_actions"]?.object ?? [:]
        extras = (payload.object ?? [:]).filter { !$0.key.raw.withUnsafeBytes(Content.isReservedExtra) }
    }

    /// Airship takes one tag or a list.
    private static func tags(_ value: PayloadValue?) -> [Bytes] {
        value?.string.map { [$0] } ?? value?.strings ?? []
    }
}
