/// The deliverer's rules for one address: a pure state machine.
///
///     record ──▶ waiting ──plan──▶ leaving ──200──▶ accepted ──ack──▶ confirmed
///                   ▲                 │               │  └─ due again: leaving; after the last repeat: parked
///                   └── retry, unknown┘               └─ no acks expected: final
///
/// At most one push is under way. What `plan` decides may leave only after the transaction around it is committed; an
/// abort restores the state from before and forgets the push.
public struct Deliverer: Sendable {
    public var policy: Policy

    public init(policy: Policy) {
        self.policy = policy
    }

    /// Takes one event of the address whose state this is. Effects are added; empty them first. `now` is the
    /// deliverer's clock, of which only differences count; `random` spreads retries.
    public func step(
        _ event: DeliveryEvent, address: Address, now: Timestamp, random: inout some RandomNumberGenerator,
        state: inout AddressState, effects: inout DeliveryEffects
    ) {
        switch event {
        case .record(let record, let partition, let offset, let at, let trace):
            let op = OpID(partition: partition, offset: offset, index: 0)
            switch record {
            case .bind(let binding, let fresh, let cause):
                bind(binding, fresh: fresh, cause: cause, op, at, trace, address, &state, &effects)
            case .unbind(let owner, let version):
                unbind(owner, version, &state.row, &effects)
            case .ops(let owner, let ops, let cause):
                take(ops, owner: owner, cause: cause, op, now, trace, address, &state, &effects)
            case .signal(let owner, let reading, let acks, let hello):
                signal(owner, reading, acks, hello: hello, at: at, now, &state, &effects)
            }
        case .unroutable:
            giveUp(&state.row, &effects)
        case .answer(let result, let isDoubted):
            answer(result, isDoubted: isDoubted, address, now, &random, &state, &effects)
        case .restored:
            restored(now, &random, &state, &effects)
        case .plan(let isPaused):
            plan(isPaused: isPaused, now, &state, &effects)
        }
    }

    /// Takes ops of the owner; those of anybody else are answered by telling who holds the address.
    private func take(
        _ ops: [Op], owner: Bytes, cause: Position, _ first: OpID, _ now: Timestamp, _ trace: TraceID?,
        _ address: Address, _ state: inout AddressState, _ effects: inout DeliveryEffects
    ) {
        guard let binding = state.row.binding, binding.owner == owner else {
            return reassign(ops, owner: owner, cause: cause, first, trace, address, state.row, &effects)
        }
        var coalesced: [DeliveryLine.Part] = []
        for (index, op) in ops.enumerated() {
            let name = OpID(partition: first.partition, offset: first.offset, index: Int32(index))
            var pending = PendingOp(name, op, cause: cause, queuedAt: now)
            pending.trace = trace
            // What an op does not tell is not known any more: an old number would clear or miscount the screen.
            state.row.liveCount = op.liveCount
            if op.kind == .delete { pending.notBefore = alertWait(op.id, now, state.soft) }
            if let place = state.row.ops.firstIndex(where: { $0.kind != .bind && $0.id == op.id }) {
                let dropped = state.row.ops[place].merge(pending)
                if !dropped.isClosed { coalesced.append(dropped.part) }
                if dropped.op == name { continue }
            } else {
                state.row.ops.append(pending)
            }
            if let notBefore = op.notBefore, notBefore > now {
                effects.lines.append(
                    DeliveryLine(
                        .held, isFinal: false, recipient: owner, device: binding.device, ops: [pending.part],
                        gate: .notBefore, until: notBefore))
            }
        }
        effects.final(.coalesced, coalesced, binding)
        boundOps(binding, now, &state.row, &effects)
        effects.isRowChanged = true
    }

    private func reassign(
        _ ops: [Op], owner: Bytes, cause: Position, _ first: OpID, _ trace: TraceID?, _ address: Address,
        _ row: AddressRow, _ effects: inout DeliveryEffects
    ) {
        let parts = ops.enumerated().map { index, op in
            DeliveryLine.Part(
                op: OpID(partition: first.partition, offset: first.offset, index: Int32(index)), kind: op.kind,
                id: op.id, cause: cause, trace: trace)
        }
        effects.lines.append(DeliveryLine(.reassigned, recipient: owner, device: nil, ops: parts))
        effects.tell(owner, device: nil, reason: "reassigned", address, row.version)
    }

    /// Keeps the number of waiting ops within its limit: the oldest is given up, accepted ones first, and a hello will
    /// make the screen right.
    private func boundOps(
        _ binding: Binding, _ now: Timestamp, _ row: inout AddressRow, _ effects: inout DeliveryEffects
    ) {
        var parked: [DeliveryLine.Part] = []
        var last: PendingOp?
        while row.ops.count(where: { !$0.asksForHello }) > max(policy.opsPerAddressMax, 1) {
            var victim = 0
            for index in row.ops.indices.dropFirst() where row.ops[index].isGivenUp(before: row.ops[victim]) {
                victim = index
            }
            let op = row.ops.remove(at: victim)
            if !op.isClosed { parked.append(op.part) }
            last = op
        }
        guard let last else { return }
        ask(inPlaceOf: last, now, binding, &row)
        effects.final(.parked, parked, binding)
    }
}

extension Binding {
    /// Whether ops wait for the app's word; the other dialects have no way to give it.
    var acknowledges: Bool { acks && dialect == .hush }
}

extension PendingOp {
    init(_ name: OpID, _ op: Op, cause: Position, queuedAt: Timestamp) {
        self.init(
            op: name, kind: op.kind, id: op.id, revision: op.revision, first: op.first, quiet: op.quiet,
            urgent: op.urgent, mode: op.mode, notBefore: op.notBefore, expires: op.expires, content: op.content,
            cause: cause, queuedAt: queuedAt)
        wasAlerted = op.isTold
    }

    /// The question for a hello that follows the parking of `op`; `repeats` is where it begins to count.
    init(askingAs op: PendingOp, repeats: Int, at: Timestamp) {
        self.init(op: op.op, kind: .bind, id: Bytes([]), revision: 0, cause: op.cause, queuedAt: at)
        trace = op.trace
        attempts = op.attempts
        mayHaveLeft = true
        acceptedAt = at
        self.repeats = UInt8(clamping: repeats)
        isClosed = true
    }

    /// Whether it is no bind of its own, and only a hello is its answer.
    var asksForHello: Bool { kind == .bind && isClosed }

    var part: DeliveryLine.Part {
        DeliveryLine.Part(op: op, kind: kind, id: kind == .bind ? nil : id, cause: cause, trace: trace)
    }

    fileprivate func isGivenUp(before other: PendingOp) -> Bool {
        if (kind == .bind) != (other.kind == .bind) { return other.kind == .bind }
        if (acceptedAt != nil) != (other.acceptedAt != nil) { return acceptedAt != nil }
        return op < other.op
    }
}

extension DeliveryEffects {
    /// One final line for some ops of the binding's owner, none where there are none.
    mutating func final(
        _ outcome: DeliveryOutcome, _ ops: [DeliveryLine.Part], _ binding: Binding, reason: Bytes? = nil
    ) {
        if ops.isEmpty { return }
        lines.append(
            DeliveryLine(outcome, recipient: binding.owner, device: binding.device, ops: ops, reason: reason))
    }

    /// Tells an owner's planner that an address is lost to it, under which version. A device that is not known is
    /// named by its address, which is what counts.
    mutating func tell(
        _ owner: Bytes, device: Bytes?, reason: Bytes, _ address: Address, _ version: BindingVersion?,
        at: Timestamp? = nil
    ) {
        losses.append(
            Unregistration(
                recipient: owner, device: device ?? address.key, reason: reason, address: address, version: version,
                at: at))
    }
}
