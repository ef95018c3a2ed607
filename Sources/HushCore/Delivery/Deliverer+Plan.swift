extension Deliverer {
    /// Decides what leaves with this transaction, and when to look again.
    func plan(
        isPaused: Bool, _ now: Timestamp, _ state: inout AddressState, _ effects: inout DeliveryEffects
    ) {
        guard let binding = state.row.binding else { return }
        if isBehind(now, state.row.ops) { settle(now, binding, &state, &effects) }
        if isPaused || state.soft.inFlight != nil || state.row.ops.isEmpty { return }
        reopenGate(now, binding, &state.row, &effects)
        while true {
            let ready = readiness(now, binding, state)
            guard let leader = ready.leader else {
                announce(ready, now, binding, &state, &effects)
                effects.wakeAt = ready.next
                return
            }
            if compose(leader, binding, now, &state, &effects) { return }
            // It fits no push at all, so it never will.
            let misfit = state.row.ops.remove(at: leader)
            if !misfit.isClosed {
                effects.final(.rejected, [misfit.part], binding, reason: "payload_too_large")
            }
            effects.isRowChanged = true
        }
    }

    private func isBehind(_ now: Timestamp, _ ops: [PendingOp]) -> Bool {
        ops.contains { op in
            (op.kind == .create && op.expires.map { $0 <= now } ?? false)
                || isSpent(op, now)
        }
    }

    /// Whether an op was repeated as often as it may be, and its time for an answer is over.
    private func isSpent(_ op: PendingOp, _ now: Timestamp) -> Bool {
        guard op.acceptedAt != nil, !op.isLeaving else { return false }
        let repeatsMax = policy.repeatIntervals.count + (op.asksForHello ? policy.helloAsksMax : 0)
        return op.repeats >= repeatsMax && dueAt(op) <= now
    }

    /// Turns expired creates into deletes, and gives up what was never acknowledged.
    private func settle(
        _ now: Timestamp, _ binding: Binding, _ state: inout AddressState, _ effects: inout DeliveryEffects
    ) {
        var expired: [DeliveryLine.Part] = []
        for index in state.row.ops.indices where state.row.ops[index].kind == .create {
            guard let expires = state.row.ops[index].expires, expires <= now else { continue }
            if !state.row.ops[index].isClosed { expired.append(state.row.ops[index].part) }
            state.row.ops[index].expire()
            state.row.ops[index].queuedAt = now
            state.row.ops[index].notBefore = alertWait(state.row.ops[index].id, now, state.soft)
        }
        effects.final(.expired, expired, binding)
        park(now, binding, &state.row, &effects) { isSpent($0, now) }
        effects.isRowChanged = true
    }

    /// Gives ops up: they leave the row, and a hello is to make the screen right.
    func park(
        _ now: Timestamp, _ binding: Binding, reason: Bytes? = nil, _ row: inout AddressRow,
        _ effects: inout DeliveryEffects, where isGivenUp: (PendingOp) -> Bool
    ) {
        var parked: [DeliveryLine.Part] = []
        var last: PendingOp?
        row.ops.removeAll { op in
            guard isGivenUp(op) else { return false }
            if !op.isClosed { parked.append(op.part) }
            if !op.asksForHello { last = op }
            effects.isRowChanged = true
            return true
        }
        if let last { ask(inPlaceOf: last, now, binding, &row) }
        effects.final(.parked, parked, binding, reason: reason)
    }

    /// What was parked is gone from here; until a hello tells what the phone lacks, a bind under a parked op's name goes
    /// alone now and then, for what asked for one before may have been replaced where APNs stores it, or its answer lost.
    func ask(inPlaceOf op: PendingOp, _ now: Timestamp, _ binding: Binding, _ row: inout AddressRow) {
        guard binding.acknowledges else { return }
        row.wantsHello = true
        if !row.ops.contains(where: { $0.kind == .bind }) {
            row.ops.append(PendingOp(askingAs: op, repeats: policy.repeatIntervals.count, at: now))
        }
    }

    /// When an op wants to go for its own sake. After the last repeat: when it is given up.
    func dueAt(_ op: PendingOp) -> Timestamp {
        guard let acceptedAt = op.acceptedAt else { return op.quiet ? op.queuedAt + policy.quietMax : .distantPast }
        if op.asksForHello { return acceptedAt + policy.helloInterval }
        let intervals = policy.repeatIntervals
        let interval = Int(op.repeats) < intervals.count ? intervals[Int(op.repeats)] : intervals.first ?? .zero
        return acceptedAt + (op.quiet ? max(interval, policy.quietMax) : interval)
    }

    /// What may lead a push now, else when something may.
    struct Readiness {
        var leader: Int?
        var next: Timestamp?
        /// Ops that want to go and wait for nothing but this gate.
        var heldByBattery: [Int] = []
        var heldByBudget: [Int] = []
        var budgetUntil = Timestamp.distantPast
    }

    private func readiness(_ now: Timestamp, _ binding: Binding, _ state: AddressState) -> Readiness {
        var found = Readiness()
        let gateUntil = state.row.gate?.until ?? .distantPast
        let retryAt = state.soft.retryAt ?? .distantPast
        let tokenAt = policy.wakeUpBurst > 0 ? state.soft.budget.tokenAt(now, policy) : .distantPast
        for (index, op) in state.row.ops.enumerated() {
            let wanted = max(dueAt(op), op.notBefore ?? .distantPast)
            var ready = max(wanted, retryAt)
            if !op.urgent, !isAlert(op, binding, state.row) {
                let budget = budgetAt(op, tokenAt: tokenAt)
                if wanted <= now {
                    if gateUntil > now { found.heldByBattery.append(index) }
                    if budget > now {
                        found.heldByBudget.append(index)
                        found.budgetUntil = max(found.budgetUntil, budget)
                    }
                }
                ready = max(ready, gateUntil, budget)
            }
            // An expiring create makes a delete, so that is a time to look again too.
            let expiry = op.kind == .create ? op.expires ?? .distantFuture : .distantFuture
            found.next = min(found.next ?? .distantFuture, min(ready, expiry))
            if ready <= now, found.leader.map({ rank(op, now) < rank(state.row.ops[$0], now) }) ?? true {
                found.leader = index
            }
        }
        return found
    }

    /// Creates wait a minute at most; deletes and repeats until there is a token.
    private func budgetAt(_ op: PendingOp, tokenAt: Timestamp) -> Timestamp {
        guard op.kind == .create, op.acceptedAt == nil else { return tokenAt }
        return min(tokenAt, max(op.queuedAt, op.notBefore ?? .distantPast) + policy.createBudgetWaitMax)
    }

    /// One line for each closing of a gate that holds something.
    private func announce(
        _ ready: Readiness, _ now: Timestamp, _ binding: Binding, _ state: inout AddressState,
        _ effects: inout DeliveryEffects
    ) {
        if let gate = state.row.gate, gate.until > now, !gate.isAnnounced, !ready.heldByBattery.isEmpty {
            state.row.gate?.isAnnounced = true
            effects.isRowChanged = true
            effects.held(.battery, until: gate.until, ready.heldByBattery.map { state.row.ops[$0] }, binding)
        } else if !state.soft.isBudgetAnnounced, !ready.heldByBudget.isEmpty {
            state.soft.isBudgetAnnounced = true
            effects.held(.budget, until: ready.budgetUntil, ready.heldByBudget.map { state.row.ops[$0] }, binding)
        }
    }

    /// Forgets a gate that is open for good. One that stands open for a probe stays until the probe leaves.
    private func reopenGate(
        _ now: Timestamp, _ binding: Binding, _ row: inout AddressRow, _ effects: inout DeliveryEffects
    ) {
        guard let gate = row.gate, gate.until <= now else { return }
        if gate.kind == .low, binding.dialect == .hush, now < gate.until + policy.holdMax { return }
        row.gate = nil
        effects.isRowChanged = true
    }

    /// The order in which ops fill a push; the lower goes first.
    func rank(_ op: PendingOp, _ now: Timestamp) -> Int {
        let isDue = dueAt(op) <= now
        if !isDue, op.quiet { return 6 }
        switch op.kind {
        case .bind: return 0
        case .delete: return isDue ? 1 : 4
        case .create: return isDue ? (op.urgent ? 2 : 3) : 5
        }
    }
}

extension DeliveryEffects {
    fileprivate mutating func held(_ gate: Gate, until: Timestamp, _ ops: [PendingOp], _ binding: Binding) {
        let parts = ops.openParts
        if parts.isEmpty { return }
        lines.append(
            DeliveryLine(
                .held, isFinal: false, recipient: binding.owner, device: binding.device, ops: parts, gate: gate,
                until: until))
    }
}
