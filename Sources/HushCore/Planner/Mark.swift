/// What the planner remembers of one notification of one recipient, for as long as duplicates may come.
///
/// `live` is there exactly while `standing.isShown`: planned, and neither read, retracted, dismissed nor evicted. What
/// has merely expired keeps its content until it is dealt with or its mark is forgotten.
public struct Mark: Hashable, Sendable {
    public var standing: Standing
    /// Of the fields of the highest revision created, as its sender gave them; tells a duplicate from a conflict.
    public var digest: UInt64
    /// The planner's time at the last change, from which the dedupe window counts.
    public var touched: Timestamp
    public var live: LiveNotification?
    /// Devices of the recipient that an audience left out when it was evaluated; they are not told of this id.
    public var excluded: [Bytes]

    @inlinable
    public init(
        standing: Standing = Standing(), digest: UInt64 = 0, touched: Timestamp, live: LiveNotification? = nil,
        excluded: [Bytes] = []
    ) {
        self.standing = standing
        self.digest = digest
        self.touched = touched
        self.live = live
        self.excluded = excluded
    }

    /// Whether a device shows a content of this notification.
    @inlinable
    public func takes(_ live: LiveNotification, on registration: Registration) -> Bool {
        live.isMeant(for: registration.app) && (excluded.isEmpty || !excluded.contains(registration.device))
    }
}

/// What a screen should show, kept so that a device which comes later gets it too.
public struct LiveNotification: Hashable, Sendable {
    public var content: Content
    public var expires: Timestamp
    public var notBefore: Timestamp?
    public var mode: Mode
    public var urgent: Bool
    /// The app topic it is meant for; nil: all of the recipient's.
    public var app: Bytes?
    public var planned: PlanOrder

    @inlinable
    public init(
        content: Content, expires: Timestamp, notBefore: Timestamp? = nil, mode: Mode = .silent, urgent: Bool = false,
        app: Bytes? = nil, planned: PlanOrder
    ) {
        self.content = content
        self.expires = expires
        self.notBefore = notBefore
        self.mode = mode
        self.urgent = urgent
        self.app = app
        self.planned = planned
    }

    /// Whether a device that runs this app shows it.
    @inlinable
    public func isMeant(for app: Bytes) -> Bool {
        self.app == nil || self.app == app
    }
}

/// When a notification was planned: the planner's time, then the offset of its record; the lowest is evicted first.
public struct PlanOrder: Hashable, Comparable, Sendable {
    public var at: Timestamp
    public var offset: Int64

    @inlinable
    public init(at: Timestamp, offset: Int64) {
        self.at = at
        self.offset = offset
    }

    @inlinable
    public static func < (left: PlanOrder, right: PlanOrder) -> Bool {
        (left.at.millis, left.offset) < (right.at.millis, right.offset)
    }
}

/// One entry of a recipient's list of live notifications.
public struct LiveEntry: Hashable, Sendable {
    public var id: Bytes
    public var expires: Timestamp
    public var planned: PlanOrder

    @inlinable
    public init(id: Bytes, expires: Timestamp, planned: PlanOrder) {
        self.id = id
        self.expires = expires
        self.planned = planned
    }
}

extension Intent {
    /// Tells apart what two intents of one id and revision ask for, by the fields as given: `created` and whatever was
    /// left to a default do not count, so a producer that sends again makes no conflict.
    @usableFromInline
    func digest(_ content: Content) -> UInt64 {
        var hash = Fingerprint()
        hash.update(content.json.raw)
        switch expiry {
        case nil: hash.update(0)
        case .at(let time):
            hash.update(1)
            hash.update(UInt64(bitPattern: time.millis))
        case .after(let life):
            hash.update(2)
            hash.update(UInt64(bitPattern: life.wholeMillis))
        }
        if let notBefore { hash.update(UInt64(bitPattern: notBefore.millis)) }
        if let app { hash.update(app.raw) }
        hash.update(UInt64(mode.rawValue) << 1 | (urgent ? 1 : 0))
        return hash.value
    }
}
