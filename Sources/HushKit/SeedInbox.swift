public import HushCore

/// The app's side of the dialects `crt` and `pushwoosh`: silent pushes that carry one create (`crt`, `title`) or one
/// delete (`dlt`).
///
/// It keeps nothing: the notification's identifier is its store, so a repeated create replaces itself. There are no
/// revisions in these payloads, so a create that arrives after its own delete stands; the `hush` dialect is for apps to
/// which that matters.
public enum SeedInbox {
    /// What a push does: `show` or `remove`, or `dropped` where it is neither.
    ///
    /// Ids may be numbers or strings; 1 and "1" are one notification.
    ///
    /// In the `pushwoosh` dialect the same stands as JSON in the string `u`, which `parse` reads.
    public static func receive(
        _ payload: PayloadValue, parsing parse: (Bytes) -> PayloadValue? = { _ in nil }
    ) -> [HushAction] {
        if let custom = payload["u"]?.string {
            return parse(custom).map { receive($0) } ?? [.dropped(.foreign)]
        }
        if let id = payload["dlt"]?.id { return [.remove([StableIdentifier.of(id)])] }
        guard let id = payload["crt"]?.id else { return [.dropped(.foreign)] }
        let content = HushContent(title: payload["title"]?.string, body: payload["body"]?.string)
        let notification = HushNotification(
            identifier: StableIdentifier.of(id), id: id, revision: 1, content: content)
        return [.show(notification, sound: true)]
    }
}
