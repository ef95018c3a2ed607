import HushCore

/// The fields of an intent that mean something to us; others are passed over.
enum IntentField: String, CaseIterable {
    case id, recipient, audience, revision, retract, created, expires, ttl, app, mode, urgent
    case notBefore = "not_before"
    case title, body, badge, sound, category, thread, link, url, tags, actions, extras, share
    case inApp = "in_app"
    case landingPage = "landing_page"
    case messageCenter = "message_center"
    case sendID = "send_id"
    case mutableContent = "mutable_content"
    case contentAvailable = "content_available"
}

/// Reads a record of `hush.intents`.
enum IntentReader {
    /// What was found so far; nil is absent, as JSON's null is.
    private struct Draft {
        var id: Bytes?
        var recipient: Bytes?
        /// Where there is one that is no `false`.
        var audience: JSONValue?
        var isRetract = false
        var revision: Int64?
        var created: Timestamp?
        var expires: Timestamp?
        var timeToLive: Int64?
        var notBefore: Timestamp?
        var app: Bytes?
        var mode = Mode.silent
        var urgent = false
    }

    static func read(
        _ envelope: Envelope, _ fields: FieldTable<IntentField>, _ content: inout ContentWriter
    ) throws(DeadReason) -> PlannerEvent {
        content.removeAll()
        var draft = Draft()
        for value in envelope.data.children {
            guard let field = fields.field(value.key) else { continue }
            if let contentField = field.content {
                try content.set(contentField, value)
            } else if !value.isNull {
                try take(field, value, &draft)
            }
        }
        guard let id = draft.id else { throw missing("id") }
        let recipient = draft.audience == nil ? try envelope.recipient(draft.recipient) : id
        guard draft.isRetract || content.isShowable else {
            throw DeadReason(.missingField, "fields \"title\", \"body\" and \"retract\" are all missing")
        }
        if draft.revision == Standing.everyRevision, !draft.isRetract {
            throw DeadReason(.badField, "field \"revision\" must be below \(Standing.everyRevision)")
        }
        let intent = Intent(
            id: id, recipient: recipient,
            body: draft.isRetract ? .retract : .show(try content.content(id: id, mode: draft.mode)),
            revision: draft.revision, created: try created(draft.created, envelope),
            expiry: draft.expires.map(Expiry.at) ?? draft.timeToLive.map { .after(.seconds($0)) },
            notBefore: draft.notBefore, app: draft.app, mode: draft.mode, urgent: draft.urgent)
        guard let audience = draft.audience else { return .intent(intent) }
        guard draft.recipient == nil else {
            throw DeadReason(.badField, "fields \"recipient\" and \"audience\" exclude each other")
        }
        return .audience(try AudienceReader.read(audience, of: intent))
    }

    private static func take(_ field: IntentField, _ value: JSONValue, _ draft: inout Draft) throws(DeadReason) {
        switch field {
        case .id: draft.id = try value.identifier("id")
        case .recipient: draft.recipient = try value.identifier("recipient")
        case .audience: draft.audience = try AudienceReader.isOne(value) ? value : nil
        case .retract: draft.isRetract = try value.boolean("retract")
        case .revision: draft.revision = try value.integer("revision", 1...Standing.everyRevision)
        case .created: draft.created = try value.time("created")
        case .expires: draft.expires = try value.time("expires")
        case .ttl: draft.timeToLive = try value.integer("ttl", 0...InputLimits.epochSecondsMax)
        case .notBefore: draft.notBefore = try value.time("not_before")
        case .app: draft.app = try value.app()
        case .mode: draft.mode = try value.choice("mode", \Mode.name)
        case .urgent: draft.urgent = try value.boolean("urgent")
        case .title, .body, .badge, .sound, .category, .thread, .link, .url, .tags, .inApp, .actions, .extras,
            .landingPage, .share, .messageCenter, .sendID, .mutableContent, .contentAvailable:
            preconditionFailure("content fields are taken by the content writer")
        }
    }

    /// The data's own time, else the CloudEvent's.
    private static func created(_ given: Timestamp?, _ envelope: Envelope) throws(DeadReason) -> Timestamp? {
        if let given { return given }
        guard let time = envelope.time, time.count > 0 else { return nil }
        guard let created = Timestamp(rfc3339: time) else {
            throw DeadReason(.badEnvelope, "the CloudEvent's time is no RFC 3339 time")
        }
        return created
    }
}

extension IntentField {
    /// The content field it is; nil for those that route and time an intent.
    var content: Content.Field? {
        switch self {
        case .title: .title
        case .body: .body
        case .badge: .badge
        case .sound: .sound
        case .category: .category
        case .thread: .thread
        case .link: .link
        case .url: .url
        case .tags: .tags
        case .inApp: .inApp
        case .actions: .actions
        case .extras: .extras
        case .landingPage: .landingPage
        case .share: .share
        case .messageCenter: .messageCenter
        case .sendID: .sendID
        case .mutableContent: .mutableContent
        case .contentAvailable: .contentAvailable
        case .id, .recipient, .audience, .revision, .retract, .created, .expires, .ttl, .app, .mode, .urgent,
            .notBefore:
            nil
        }
    }
}

extension JSONValue {
    /// APNs' topic: it travels in a header, so it is visible ASCII.
    func app() throws(DeadReason) -> Bytes {
        let app = try string("app")
        guard !app.isEmpty, app.count <= InputLimits.appBytesMax, app.raw.allSatisfy({ (0x21...0x7e).contains($0) })
        else { throw wrong("app", "must be 1 to \(InputLimits.appBytesMax) visible ASCII characters") }
        return app
    }
}
