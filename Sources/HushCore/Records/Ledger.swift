/// What the planner decided about one notification, device or signal.
public enum PlanDecision: UInt8, Hashable, Sendable, CaseIterable {
    case planned, updated, waiting, retracted, read, registered, unregistered, fanout, sliced
    case duplicate, conflict, stale, suppressed, expired, superseded, evicted
    case hello, rekeyed, dead

    /// The name in the ledger.
    public var name: Bytes { Self.names[Int(rawValue)] }

    // Made once: a literal would be copied into a new array at each use.
    private static let names = allCases.map(\.spelling)

    private var spelling: Bytes {
        switch self {
        case .planned: "planned"
        case .updated: "updated"
        case .waiting: "waiting"
        case .retracted: "retracted"
        case .read: "read"
        case .registered: "registered"
        case .unregistered: "unregistered"
        case .fanout: "fanout"
        case .sliced: "sliced"
        case .duplicate: "duplicate"
        case .conflict: "conflict"
        case .stale: "stale"
        case .suppressed: "suppressed"
        case .expired: "expired"
        case .superseded: "superseded"
        case .evicted: "evicted"
        case .hello: "hello"
        case .rekeyed: "rekeyed"
        case .dead: "dead"
        }
    }
}

/// One plan line: the books hold exactly one for each input record and id.
public struct PlanLine: Hashable, Sendable {
    public var decision: PlanDecision
    public var recipient: Bytes
    public var id: Bytes?
    public var revision: Int64?
    /// Device by device, what was asked for.
    public var ops: [PlannedOp]
    public var cause: Position

    public struct PlannedOp: Hashable, Sendable {
        public var device: Bytes
        public var kind: OpKind
        /// The notification, where it is not the line's own (a bind or a hello makes ops of many ids).
        public var id: Bytes?

        public init(device: Bytes, kind: OpKind, id: Bytes? = nil) {
            self.device = device
            self.kind = kind
            self.id = id
        }
    }

    public init(
        decision: PlanDecision, recipient: Bytes, id: Bytes? = nil, revision: Int64? = nil, ops: [PlannedOp] = [],
        cause: Position
    ) {
        self.decision = decision
        self.recipient = recipient
        self.id = id
        self.revision = revision
        self.ops = ops
        self.cause = cause
    }
}

/// What became of an op or a push.
public enum DeliveryOutcome: UInt8, Hashable, Sendable, CaseIterable {
    case accepted, confirmed, coalesced, suppressed, expired, unregistered, reassigned, rejected, parked
    case held, retry, unknown

    /// The name in the ledger.
    public var name: Bytes { Self.names[Int(rawValue)] }

    // Made once: a literal would be copied into a new array at each use.
    private static let names = allCases.map(\.spelling)

    private var spelling: Bytes {
        switch self {
        case .accepted: "accepted"
        case .confirmed: "confirmed"
        case .coalesced: "coalesced"
        case .suppressed: "suppressed"
        case .expired: "expired"
        case .unregistered: "unregistered"
        case .reassigned: "reassigned"
        case .rejected: "rejected"
        case .parked: "parked"
        case .held: "held"
        case .retry: "retry"
        case .unknown: "unknown"
        }
    }
}
