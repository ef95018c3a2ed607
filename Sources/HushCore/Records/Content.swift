/// What a notification says, as a canonical JSON object: the intent's content fields in the order of `Content.fields`,
/// strings with the shortest escapes in raw UTF-8, objects and arrays minified with their members as given.
///
/// One form serves the mark, `hush.pushes`, the payload and the comparison for conflicts, so the bytes are copied
/// through and never parsed on the way.
public struct Content: Hashable, Sendable {
    public let json: Bytes

    /// The content fields in their canonical order; `fields` has their names.
    public enum Field: Int, CaseIterable, Sendable {
        case title, body, badge, sound, category, thread, link, url, tags, inApp, actions, extras
        case landingPage, share, messageCenter, sendID, mutableContent, contentAvailable
    }

    /// The names of the content fields, in the order of `Field`. Times, recipient, id and routing are no content.
    public static let fields: [Bytes] = [
        "title", "body", "badge", "sound", "category", "thread", "link", "url", "tags", "in_app", "actions", "extras",
        "landing_page", "share", "message_center", "send_id", "mutable_content", "content_available",
    ]

    /// Whether `extras` may not have a member of that name, for it stands at the top level of a payload in the
    /// `airship` dialect: there `aps`, `_` and Airship's names for actions mean something, and so do ours.
    public static func isReservedExtra(_ name: UnsafeRawBufferPointer) -> Bool {
        if reservedExtras.contains(where: { $0.isEqual(to: name) }) { return true }
        return reservedExtraPrefixes.contains {
            $0.isEqual(to: UnsafeRawBufferPointer(rebasing: name.prefix($0.count)))
        }
    }

    /// The long names are those of the actions that an app of Airship's runs wherever it meets them.
    private static let reservedExtras: [Bytes] = [
        "aps", "_", "hush", "add_tags_action", "remove_tags_action", "deep_link_action", "open_external_url_action",
        "landing_page_action", "share_action", "open_mc_action",
    ]
    private static let reservedExtraPrefixes: [Bytes] = ["^", "com.urbanairship.", "hush."]

    /// The most that content, id and what an alert repeats of them may take together, in bytes: APNs' 4,096 less room for
    /// what else a payload of one create holds (`aps`, owner tag, binding version, op id, revision, expiry) and for a
    /// bind and a request for a hello beside it.
    public static let bytesMax = 4096 - 512

    /// Takes JSON that is canonical, as described at the type; the codec that reads intents makes it.
    public init(json: Bytes) {
        self.json = json
    }
}
