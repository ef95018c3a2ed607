/// What the deliverer keeps of one address, as of its last commit.
///
/// A row that says `isLeaving` was committed before the push left, so what a row does not say has certainly not left.
public struct AddressRow: Hashable, Sendable {
    /// Whose address it is; nil before the first bind, and after an unbind.
    public var binding: Binding?
    /// The highest version there was. It stays behind after an unbind, so that an older bind never wins; nil where the
    /// address was never bound.
    public var version: BindingVersion?
    /// The owner of that version.
    public var lastOwner: Bytes?
    public var gate: BatteryGate?
    /// What is unfinished: at most one op a notification, and at most one bind.
    public var ops: [PendingOp] = []
    /// Whether every push asks for a hello, because something sent was never acknowledged.
    public var wantsHello = false
    /// The owner's live notifications for this app, by the last op that told; nil where none did.
    public var liveCount: Int64?
    /// Whether the app said that it is not woken in the background.
    public var isRefreshOff = false

    public init() {}

    /// Whether there is nothing to keep.
    public var isEmpty: Bool { version == nil && ops.isEmpty }
}

/// An op that has no final outcome yet.
public struct PendingOp: Hashable, Sendable {
    public var op: OpID
    public var kind: OpKind
    /// Empty for a bind.
    public var id: Bytes
    public var revision: Int64
    /// Creates: no older one can be on the screen. Deletes: none of what it covers can be.
    public var first: Bool
    /// It rides on other pushes, and goes alone only after `Policy.quietMax`.
    public var quiet: Bool
    public var urgent: Bool
    public var mode: Mode
    public var notBefore: Timestamp?
    public var expires: Timestamp?
    public var content: Content?
    public var cause: Position?
    /// The trace of the push record that brought it.
    public var trace: TraceID?
    /// When it came.
    public var queuedAt: Timestamp
    /// The pushes it was in.
    public var attempts: Int32 = 0
    /// Whether APNs may have it: not so after an answer which proves that a push was refused.
    public var mayHaveLeft = false
    /// Whether a push with it is under way, or was when the process died.
    public var isLeaving = false
    /// When APNs last took a push that was sent for its sake.
    public var acceptedAt: Timestamp?
    /// How often it went again since.
    public var repeats: UInt8 = 0
    /// Whether its outcome is told already: an expired create that goes on as a delete, what waited when the device's id
    /// changed, or a question for a hello.
    public var isClosed = false
    /// Dialects without updates: the older content is deleted, the new one comes next.
    public var isCleared = false
    /// Whether an alert with it may have left, which the system shows without asking the app.
    public var wasAlerted = false

    public init(
        op: OpID, kind: OpKind, id: Bytes, revision: Int64, first: Bool = false, quiet: Bool = false,
        urgent: Bool = false, mode: Mode = .silent, notBefore: Timestamp? = nil, expires: Timestamp? = nil,
        content: Content? = nil, cause: Position?, queuedAt: Timestamp
    ) {
        self.op = op
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
        self.cause = cause
        self.queuedAt = queuedAt
    }
}

/// Why background pushes wait for a phone that is low on power, and until when.
public struct BatteryGate: Hashable, Sendable {
    public enum Kind: UInt8, Hashable, Sendable {
        /// The app said when.
        case hint
        /// The battery is low, or the phone saves power; nobody said until when.
        case low
    }

    public var kind: Kind
    /// The time of the reading behind it; an older one changes nothing.
    public var readingAt: Timestamp
    public var until: Timestamp
    /// How many probes went out.
    public var probes: UInt8 = 0
    /// Whether the ledger says that ops are held by this closing.
    public var isAnnounced = false

    public init(kind: Kind, readingAt: Timestamp, until: Timestamp) {
        self.kind = kind
        self.readingAt = readingAt
        self.until = until
    }
}
