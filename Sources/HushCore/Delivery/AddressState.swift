/// What the deliverer knows of an address: the durable row, and what a restart may forget.
public struct AddressState: Hashable, Sendable {
    public var row: AddressRow
    public var soft: AddressSoftState

    public init(row: AddressRow = AddressRow(), soft: AddressSoftState = AddressSoftState()) {
        self.row = row
        self.soft = soft
    }
}

/// What a restart may forget: the push under way, backoff and budget.
public struct AddressSoftState: Hashable, Sendable {
    public var inFlight: InFlight?
    /// Nothing leaves before.
    public var retryAt: Timestamp?
    /// Failures in a row.
    public var failures = 0
    public var budget = WakeUpBudget()
    /// Whether the ledger says that ops wait for the budget.
    public var isBudgetAnnounced = false
    /// The ops in a push, after APNs found one too large.
    public var opsMax: Int?
    /// Alerts that APNs took a moment ago, at most one an op of that moment.
    var alerts: [RecentAlert] = []

    public init() {}

    /// Whether it may be forgotten between pushes: no more than the budget is lost, as a restart loses it.
    public func isIdle(_ now: Timestamp) -> Bool {
        inFlight == nil && opsMax == nil && (retryAt ?? .distantPast) <= now && alerts.allSatisfy { $0.until <= now }
    }
}

/// An alert that may still be on its way to the phone, so that a delete sent now could overtake it.
struct RecentAlert: Hashable, Sendable {
    var id: Bytes
    var until: Timestamp
}

/// A push that was planned and has no answer yet; there is at most one an address.
public struct InFlight: Hashable, Sendable {
    public struct Part: Hashable, Sendable {
        public var op: OpID
        public var kind: OpKind
        /// Whether an earlier push may have brought it to APNs.
        public var hadLeft: Bool
        /// Whether an earlier push may have shown it as an alert.
        public var wasAlerted: Bool
    }

    public var parts: [Part]
    public var version: BindingVersion
    public var attempt: Int32
    public var apnsID: [UInt8]
    /// Dialects without updates: it deletes the older content of a create.
    public var isClearing: Bool
    /// The notification that an alert shows.
    public var alertID: Bytes?
    /// Whether it took a token of the wake-up budget.
    public var tookToken: Bool
}

/// A token bucket of the background pushes that a phone is woken by. iOS has one of its own and drops what exceeds it.
public struct WakeUpBudget: Hashable, Sendable {
    /// Milliseconds until the bucket is full again, as of `at`; both 0 for a full one.
    private var debt: Int64 = 0
    private var at = Timestamp(millis: 0)

    public init() {}

    /// When there is a token, `now` where there is one.
    func tokenAt(_ now: Timestamp, _ policy: Policy) -> Timestamp {
        let missing = outstanding(now) - Int64(policy.wakeUpBurst - 1) * Self.millisPerToken(policy)
        return missing <= 0 ? now : now + .milliseconds(missing)
    }

    mutating func take(_ now: Timestamp, _ policy: Policy) {
        debt = outstanding(now) + Self.millisPerToken(policy)
        at = now
    }

    /// Puts a token back.
    mutating func earn(_ now: Timestamp, _ policy: Policy) {
        debt = max(outstanding(now) - Self.millisPerToken(policy), 0)
        at = debt == 0 ? Timestamp(millis: 0) : now
    }

    private func outstanding(_ now: Timestamp) -> Int64 {
        max(debt - max(now.millis - at.millis, 0), 0)
    }

    private static func millisPerToken(_ policy: Policy) -> Int64 {
        3_600_000 / Int64(max(policy.wakeUpsPerHour, 1))
    }
}
