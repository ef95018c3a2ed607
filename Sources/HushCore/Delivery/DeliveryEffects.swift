/// Something that happens to an address.
public enum DeliveryEvent: Sendable {
    /// A record of `hush.pushes` at its place, with its append time and the trace that it belongs to.
    case record(PushRecord, partition: Int32, offset: Int64, at: Timestamp, trace: TraceID? = nil)
    /// What became of the push under way. Doubted: so many tokens do not fit that the fault is not theirs.
    case answer(PushResult, isDoubted: Bool = false)
    /// No credential leads to the app: nothing may ever leave.
    case unroutable
    /// The state was read back after a restart or a move.
    case restored
    /// Decide what leaves with this transaction; also for a time that was asked for. `true` where nothing may leave,
    /// because the sender or the credential is stopped.
    case plan(isPaused: Bool)
}

/// What became of a push.
public enum PushResult: Hashable, Sendable {
    case answered(status: UInt16, reason: Bytes, retryAfter: Duration?, timestamp: Timestamp?)
    /// It certainly did not reach APNs.
    case notSent
    /// APNs may have it.
    case unknown
}

/// A push to send once the transaction that decided it is committed.
public struct OutgoingPush: Hashable, Sendable {
    public var token: Bytes
    public var app: Bytes
    public var environment: PushEnvironment
    public var isAlert: Bool
    public var priority: UInt8
    public var expires: Timestamp?
    public var collapseID: Bytes?
    public var apnsID: [UInt8]
    public var payload: [UInt8]
}

/// Why an op waits.
public enum Gate: UInt8, Hashable, Sendable, CaseIterable {
    case battery
    case budget
    case notBefore

    /// The name in the ledger.
    public var name: Bytes {
        switch self {
        case .battery: "battery"
        case .budget: "budget"
        case .notBefore: "not_before"
        }
    }
}

/// One deliver line of the ledger: what became of some ops of one address, or how far they are.
public struct DeliveryLine: Hashable, Sendable {
    public struct Part: Hashable, Sendable {
        public var op: OpID
        public var kind: OpKind
        /// Nil for a bind.
        public var id: Bytes?
        public var cause: Position?
        /// The trace of the push record that brought it.
        public var trace: TraceID?

        public init(op: OpID, kind: OpKind, id: Bytes?, cause: Position?, trace: TraceID? = nil) {
            self.op = op
            self.kind = kind
            self.id = id
            self.cause = cause
            self.trace = trace
        }
    }

    public var outcome: DeliveryOutcome
    /// Whether its ops have no further line.
    public var isFinal: Bool
    public var recipient: Bytes
    /// Nil where the address is not known under the recipient's device.
    public var device: Bytes?
    public var ops: [Part]
    public var attempt: Int32?
    public var apnsID: [UInt8]?
    public var status: UInt16?
    /// APNs' reason, or why we rejected it ourselves.
    public var reason: Bytes?
    public var gate: Gate?
    public var until: Timestamp?

    public init(
        _ outcome: DeliveryOutcome, isFinal: Bool = true, recipient: Bytes, device: Bytes?, ops: [Part],
        reason: Bytes? = nil, gate: Gate? = nil, until: Timestamp? = nil
    ) {
        self.outcome = outcome
        self.isFinal = isFinal
        self.recipient = recipient
        self.device = device
        self.ops = ops
        self.reason = reason
        self.gate = gate
        self.until = until
    }
}

/// What one step of the deliverer asks for. Keep one and empty it for each step: its buffers stay.
public struct DeliveryEffects: Hashable, Sendable {
    public internal(set) var lines: [DeliveryLine] = []
    public internal(set) var push: OutgoingPush?
    /// Bindings that are lost, for their owners' planners.
    public internal(set) var losses: [Unregistration] = []
    /// When to plan again, where nothing else happens first.
    public internal(set) var wakeAt: Timestamp?
    /// Whether the row is to be written.
    public internal(set) var isRowChanged = false
    /// Whether APNs refuses the credential that the push was sent with.
    public internal(set) var isCredentialRefused = false

    public init() {}

    public mutating func removeAll() {
        lines.removeAll(keepingCapacity: true)
        losses.removeAll(keepingCapacity: true)
        push = nil
        wakeAt = nil
        isRowChanged = false
        isCredentialRefused = false
    }
}
