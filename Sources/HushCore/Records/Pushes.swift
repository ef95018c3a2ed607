/// What an op does to one notification on one address.
public enum OpKind: UInt8, Hashable, Sendable, CaseIterable {
    case create
    case delete
    case bind

    public var name: Bytes { Self.names[Int(rawValue)] }

    // Made once: a literal would be copied into a new array at each use.
    private static let names = allCases.map(\.spelling)

    private var spelling: Bytes {
        switch self {
        case .create: "create"
        case .delete: "delete"
        case .bind: "bind"
        }
    }
}

/// A create or a delete of one notification on one address, as the planner writes it; its id comes from where its
/// record lands.
public struct Op: Hashable, Sendable {
    public var kind: OpKind
    public var id: Bytes
    /// Creates: this revision. Deletes: through this revision.
    public var revision: Int64
    /// Creates: the first of its id on this address.
    public var first: Bool
    /// Deletes: the phone probably needs nothing.
    public var quiet: Bool
    public var urgent: Bool
    public var mode: Mode
    public var notBefore: Timestamp?
    public var expires: Timestamp?
    public var content: Content?
    /// The owner's live notifications for this app with the op done; told where a badge depends on it.
    public var liveCount: Int64?
    /// Creates that a bind or a hello sends again: an alert may have told of it before.
    public var isTold = false

    public init(
        kind: OpKind, id: Bytes, revision: Int64, first: Bool = false, quiet: Bool = false, urgent: Bool = false,
        mode: Mode = .silent, notBefore: Timestamp? = nil, expires: Timestamp? = nil, content: Content? = nil,
        liveCount: Int64? = nil
    ) {
        self.kind = kind
        self.id = id
        self.revision = revision
        self.first = first
        self.quiet = quiet
        self.urgent = urgent
        self.mode = mode
        self.notBefore = notBefore
        self.expires = expires
        self.content = content
        self.liveCount = liveCount
    }
}

/// A binding: which install of whom an address is.
public struct Binding: Hashable, Sendable {
    public var owner: Bytes
    public var device: Bytes
    public var install: Bytes?
    public var token: Bytes
    public var app: Bytes
    public var environment: PushEnvironment
    public var dialect: Dialect
    public var acks: Bool
    public var version: BindingVersion

    public init(
        owner: Bytes, device: Bytes, install: Bytes?, token: Bytes, app: Bytes, environment: PushEnvironment,
        dialect: Dialect, acks: Bool, version: BindingVersion
    ) {
        self.owner = owner
        self.device = device
        self.install = install
        self.token = token
        self.app = app
        self.environment = environment
        self.dialect = dialect
        self.acks = acks
        self.version = version
    }
}

/// One record of `hush.pushes`; its key is the address.
public enum PushRecord: Hashable, Sendable {
    /// `fresh`: the install holds nothing yet, so at an address never bound before the bind op is quiet. `cause`: the
    /// record that the planner's line names; not always the register whose place is the version.
    case bind(Binding, fresh: Bool, cause: Position)
    case unbind(owner: Bytes, version: BindingVersion)
    case ops(owner: Bytes, ops: [Op], cause: Position)
    /// What the owner's app told here; `hello`: it said hello, so what was parked starts again.
    case signal(owner: Bytes, reading: DeviceReading, acks: [OpID], hello: Bool)
}
