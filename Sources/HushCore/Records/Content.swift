/// What a notification says, as a canonical JSON object: the intent's content fields in the order of `Content.fields`,
/// strings with the shortest escapes in raw UTF-8, objects and arrays minified with their members as given.
///
/// One form serves the mark, `hush.pushes`, the payload and the comparison for conflicts, so the bytes are copied
/// through and never parsed on the way.
public struct Content: Hashable, Sendable {
    public let json: Bytes

    /// The content fields in their canonical order. Times, recipient, id and routing are no content.
    public static let fields: [Bytes] = [
        "title", "body", "badge", "sound", "category", "thread", "link", "url", "tags", "in_app", "actions", "extras",
    ]

    /// The most that content, id and what an alert repeats of them may take together, in bytes: APNs' 4,096 less room for
    /// what else a payload of one create holds (`aps`, owner tag, binding version, op id, revision, expiry) and for a
    /// bind and a request for a hello beside it.
    public static let bytesMax = 4096 - 512

    /// Takes JSON that is canonical, as described at the type; the codec that reads intents makes it.
    public init(json: Bytes) {
        self.json = json
    }
}
