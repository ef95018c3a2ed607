import HushCore

/// One address under test: takes events, commits, and keeps what left and what was told.
struct DeliveryBench {
    var deliverer: Deliverer
    var state = AddressState()
    var now = Timestamp(millis: 1_764_583_200_000)
    var random = SplitMix64(seed: 7)
    var pushes: [OutgoingPush] = []
    var lines: [DeliveryLine] = []
    var losses: [Unregistration] = []
    var wakeAt: Timestamp?
    var isCredentialRefused = false
    private var offset: Int64 = 0
    private var effects = DeliveryEffects()
    static let address = Address(app: "com.example.app", environment: .production, token: "aa11")
    static let cause = Position(topic: .intents, partition: 3, offset: 1201)

    init(policy: Policy = Policy()) {
        deliverer = Deliverer(policy: policy)
    }

    /// A bench whose address is bound, with the bind acknowledged.
    static func bound(
        dialect: Dialect = .hush, acks: Bool = true, policy: Policy = Policy()
    ) -> DeliveryBench {
        var bench = DeliveryBench(policy: policy)
        bench.bind("ada", version: 1, dialect: dialect, acks: acks)
        bench.settle()
        return bench
    }

    static func binding(
        _ owner: Bytes, version: Int64, device: Bytes = "ada-phone", dialect: Dialect = .hush, acks: Bool = true
    ) -> Binding {
        Binding(
            owner: owner, device: device, install: "i1", token: "aa11", app: "com.example.app",
            environment: .production, dialect: dialect, acks: acks,
            version: BindingVersion(at: Timestamp(millis: version), partition: 0, offset: 0))
    }

    /// Takes an event, then plans what leaves, as one transaction does.
    mutating func send(_ event: DeliveryEvent, isPaused: Bool = false) {
        for event in [event, .plan(isPaused: isPaused)] {
            effects.removeAll()
            deliverer.step(
                event, address: Self.address, now: now, random: &random, state: &state, effects: &effects)
            lines += effects.lines
            losses += effects.losses
            isCredentialRefused = isCredentialRefused || effects.isCredentialRefused
            if let push = effects.push { pushes.append(push) }
            wakeAt = effects.wakeAt
        }
    }

    /// Takes a record; returns its place.
    @discardableResult
    mutating func record(_ record: PushRecord) -> OpID {
        offset += 1
        send(.record(record, partition: 7, offset: offset, at: now))
        return OpID(partition: 7, offset: offset, index: 0)
    }

    @discardableResult
    mutating func bind(
        _ owner: Bytes, version: Int64, device: Bytes = "ada-phone", dialect: Dialect = .hush, acks: Bool = true,
        fresh: Bool = false
    ) -> OpID {
        record(
            .bind(
                Self.binding(owner, version: version, device: device, dialect: dialect, acks: acks), fresh: fresh,
                cause: Position(topic: .devices, partition: 3, offset: version)))
    }

    @discardableResult
    mutating func ops(_ ops: [Op], owner: Bytes = "ada") -> OpID {
        record(.ops(owner: owner, ops: ops, cause: Self.cause))
    }

    @discardableResult
    mutating func create(
        _ id: Bytes, _ revision: Int64 = 1, first: Bool = true, urgent: Bool = false, mode: Mode = .silent,
        notBefore: Timestamp? = nil, expires: Timestamp? = nil, title: String = "T"
    ) -> OpID {
        ops([
            Op(
                kind: .create, id: id, revision: revision, first: first, urgent: urgent, mode: mode,
                notBefore: notBefore, expires: expires, content: Content(json: Bytes(#"{"title":"\#(title)"}"#)))
        ])
    }

    @discardableResult
    mutating func delete(_ id: Bytes, through revision: Int64 = 1, quiet: Bool = false) -> OpID {
        ops([Op(kind: .delete, id: id, revision: revision, quiet: quiet)])
    }

    mutating func signal(
        _ reading: DeviceReading = DeviceReading(), acks: [OpID] = [], hello: Bool = false, owner: Bytes = "ada"
    ) {
        record(.signal(owner: owner, reading: reading, acks: acks, hello: hello))
    }

    mutating func answer(_ status: UInt16, _ reason: Bytes = "", retryAfter: Duration? = nil, at: Timestamp? = nil) {
        send(.answer(.answered(status: status, reason: reason, retryAfter: retryAfter, timestamp: at)))
    }

    mutating func pass(_ time: Duration) {
        now = now + time
        send(.plan(isPaused: false))
    }

    /// Kills the process: what is not committed in the row is gone.
    mutating func crash() {
        state.soft = AddressSoftState()
        send(.restored)
    }

    /// Takes what is under way, and acknowledges everything.
    mutating func settle() {
        while state.soft.inFlight != nil { answer(200) }
        if state.row.binding?.acks == true, !state.row.ops.isEmpty {
            signal(acks: state.row.ops.map(\.op))
            offset -= 1
        }
        pushes.removeAll()
        lines.removeAll()
        losses.removeAll()
    }

    /// Takes out the payloads that left since the last call, without what all have in common.
    mutating func left() -> [String] {
        defer { pushes.removeAll() }
        return pushes.map { push in
            let text = String(decoding: push.payload, as: UTF8.self)
            let parts = text.split(separator: #""ops":"#, maxSplits: 1)
            return parts.count == 2 ? String(parts[1].dropLast(2)) : text
        }
    }

    /// Takes out the outcomes since the last call.
    mutating func outcomes() -> [String] {
        defer { lines.removeAll() }
        return lines.map { line in
            let ops = line.ops.map { "\($0.kind.name) \($0.id?.text ?? "")" }.joined(separator: ", ")
            return "\(line.outcome.name)\(line.gate.map { " by \($0.name)" } ?? ""): \(ops)"
        }
    }
}
