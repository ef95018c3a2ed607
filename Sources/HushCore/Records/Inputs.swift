/// How a notification reaches a screen.
public enum Mode: UInt8, Hashable, Sendable, CaseIterable {
    case silent
    case visible
    case auto

    public var name: Bytes { Self.names[Int(rawValue)] }

    // Made once: a literal would be copied into a new array at each use.
    private static let names = allCases.map(\.spelling)

    private var spelling: Bytes {
        switch self {
        case .silent: "silent"
        case .visible: "visible"
        case .auto: "auto"
        }
    }
}

/// When a notification stops being worth showing, as its sender wrote it.
public enum Expiry: Hashable, Sendable {
    case at(Timestamp)
    case after(Duration)
}

/// "Show notification `id` to `recipient`", or take it back.
public struct Intent: Hashable, Sendable {
    public enum Body: Hashable, Sendable {
        case show(Content)
        case retract
    }

    public var id: Bytes
    public var recipient: Bytes
    public var body: Body
    /// Nil: 1 for what is shown, every revision for a retract.
    public var revision: Int64?
    /// `created` of the record, else its CloudEvents `ce_time`, else nil: the append time then.
    public var created: Timestamp?
    public var expiry: Expiry?
    public var notBefore: Timestamp?
    /// The app topic it is meant for; nil: all of the recipient's.
    public var app: Bytes?
    public var mode: Mode
    public var urgent: Bool

    public init(
        id: Bytes, recipient: Bytes, body: Body, revision: Int64? = nil, created: Timestamp? = nil,
        expiry: Expiry? = nil, notBefore: Timestamp? = nil, app: Bytes? = nil, mode: Mode = .silent,
        urgent: Bool = false
    ) {
        self.id = id
        self.recipient = recipient
        self.body = body
        self.revision = revision
        self.created = created
        self.expiry = expiry
        self.notBefore = notBefore
        self.app = app
        self.mode = mode
        self.urgent = urgent
    }
}

/// The recipient has dealt with these notifications.
public struct Read: Hashable, Sendable {
    public enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        case read
        case dismissed

        public var name: Bytes { self == .read ? "read" : "dismissed" }
    }

    public var recipient: Bytes
    public var ids: [Bytes]
    /// The revision that was seen; nil: the highest planned so far.
    public var revision: Int64?
    public var device: Bytes?
    public var install: Bytes?
    public var kind: Kind

    public init(
        recipient: Bytes, ids: [Bytes], revision: Int64? = nil, device: Bytes? = nil, install: Bytes? = nil,
        kind: Kind = .read
    ) {
        self.recipient = recipient
        self.ids = ids
        self.revision = revision
        self.device = device
        self.install = install
        self.kind = kind
    }
}

/// An app install makes itself known.
public struct Registration: Hashable, Sendable {
    public var recipient: Bytes
    public var device: Bytes
    /// Lower-case hex of any length.
    public var token: Bytes
    /// APNs' topic.
    public var app: Bytes
    public var environment: PushEnvironment
    public var dialect: Dialect
    /// Whether the app acknowledges ops.
    public var acks: Bool
    public var tags: [Bytes]
    public var install: Bytes?
    /// Whether the install says that it holds nothing yet.
    public var fresh: Bool

    public init(
        recipient: Bytes, device: Bytes, token: Bytes, app: Bytes, environment: PushEnvironment = .production,
        dialect: Dialect = .hush, acks: Bool = false, tags: [Bytes] = [], install: Bytes? = nil, fresh: Bool = false
    ) {
        self.recipient = recipient
        self.device = device
        self.token = token
        self.app = app
        self.environment = environment
        self.dialect = dialect
        self.acks = acks
        self.tags = tags
        self.install = install
        self.fresh = fresh
    }

    public var address: Address { Address(app: app, environment: environment, token: token) }
}

/// A device is gone; with `address` and `version` only that binding of it is meant.
public struct Unregistration: Hashable, Sendable {
    public var recipient: Bytes
    public var device: Bytes
    public var reason: Bytes?
    public var address: Address?
    public var version: BindingVersion?
    /// Apple's timestamp after a 410.
    public var at: Timestamp?

    public init(
        recipient: Bytes, device: Bytes, reason: Bytes? = nil, address: Address? = nil,
        version: BindingVersion? = nil, at: Timestamp? = nil
    ) {
        self.recipient = recipient
        self.device = device
        self.reason = reason
        self.address = address
        self.version = version
        self.at = at
    }
}

/// What an app tells us; all but recipient and device may be absent.
public struct Signal: Hashable, Sendable {
    /// What is on screen and what is gone there, with revisions.
    public struct Hello: Hashable, Sendable {
        public var shown: [Entry]
        public var gone: [Entry]

        public init(shown: [Entry], gone: [Entry]) {
            self.shown = shown
            self.gone = gone
        }
    }

    public struct Entry: Hashable, Sendable {
        public var id: Bytes
        public var revision: Int64

        public init(id: Bytes, revision: Int64) {
            self.id = id
            self.revision = revision
        }
    }

    public var recipient: Bytes
    public var device: Bytes
    public var reading: DeviceReading
    public var acks: [OpID]
    public var hello: Hello?

    public init(
        recipient: Bytes, device: Bytes, reading: DeviceReading = DeviceReading(), acks: [OpID] = [],
        hello: Hello? = nil
    ) {
        self.recipient = recipient
        self.device = device
        self.reading = reading
        self.acks = acks
        self.hello = hello
    }
}

/// The state of a phone, as it saw itself at `at`.
public struct DeviceReading: Hashable, Sendable {
    public var at: Timestamp?
    /// 0 to 1.
    public var battery: Double?
    public var charging: Bool?
    public var lowPower: Bool?
    public var backgroundRefresh: Bool?
    /// The delay hint.
    public var notBefore: Timestamp?

    public init(
        at: Timestamp? = nil, battery: Double? = nil, charging: Bool? = nil, lowPower: Bool? = nil,
        backgroundRefresh: Bool? = nil, notBefore: Timestamp? = nil
    ) {
        self.at = at
        self.battery = battery
        self.charging = charging
        self.lowPower = lowPower
        self.backgroundRefresh = backgroundRefresh
        self.notBefore = notBefore
    }
}

/// One decoded record of a planner input.
public enum PlannerEvent: Hashable, Sendable {
    case intent(Intent)
    case read(Read)
    case register(Registration)
    case unregister(Unregistration)
    case signal(Signal)
    /// In a box of its own: it is rare, and would make every event as large as itself.
    indirect case audience(AudienceIntent)
}
