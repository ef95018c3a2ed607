public import HushCore

/// What a notification shows and carries, as its intent gave it; what is absent or of another type is nil or empty.
public struct HushContent: Hashable, Sendable {
    public var title: Bytes?
    public var body: Bytes?
    /// The number on the app's icon; nil leaves it as it is.
    public var badge: Int64?
    /// The sound's file name, or `default`; nil shows it without one.
    public var sound: Bytes?
    public var category: Bytes?
    public var thread: Bytes?
    /// Where the app goes when it is opened.
    public var link: Bytes?
    /// The web page that is opened then.
    public var url: Bytes?
    /// The web page that is shown inside of the app then.
    public var landingPage: Bytes?
    /// The text that is offered to share.
    public var share: Bytes?
    /// The message that the message centre opens at.
    public var messageCenter: Bytes?
    /// The sender's own name for the sending.
    public var sendID: Bytes?
    public var tagsAdded: [Bytes] = []
    public var tagsRemoved: [Bytes] = []
    /// An in-app message, as the sender wrote it.
    public var inApp: PayloadValue?
    /// What the buttons do, by their names.
    public var actions: [Bytes: PayloadValue] = [:]
    public var extras: [Bytes: PayloadValue] = [:]

    public init(title: Bytes? = nil, body: Bytes? = nil) {
        self.title = title
        self.body = body
    }

    /// Reads the content object of a create.
    public init(_ value: PayloadValue) {
        title = value["title"]?.string
        body = value["body"]?.string
        badge = value["badge"]?.integer
        sound = value["sound"]?.string
        category = value["category"]?.string
        thread = value["thread"]?.string
        link = value["link"]?.string
        url = value["url"]?.string
        landingPage = value["landing_page"]?.string
        share = value["share"]?.string
        messageCenter = value["message_center"]?.string
        sendID = value["send_id"]?.string
        tagsAdded = value["tags"]?["add"]?.strings ?? []
        tagsRemoved = value["tags"]?["remove"]?.strings ?? []
        inApp = value["in_app"]
        actions = value["actions"]?.object ?? [:]
        extras = value["extras"]?.object ?? [:]
    }
}

/// One notification, to be shown under its identifier in place of whatever stands there.
public struct HushNotification: Hashable, Sendable {
    /// The identifier in the notification centre; see `StableIdentifier`.
    public var identifier: Bytes
    public var id: Bytes
    public var revision: Int64
    public var content: HushContent

    public init(identifier: Bytes, id: Bytes, revision: Int64, content: HushContent) {
        self.identifier = identifier
        self.id = id
        self.revision = revision
        self.content = content
    }
}
