extension Deliverer {
    /// Makes the push that this op leads, and marks what is in it as leaving; false where not even the op alone fits.
    func compose(
        _ leader: Int, _ binding: Binding, _ now: Timestamp, _ state: inout AddressState,
        _ effects: inout DeliveryEffects
    ) -> Bool {
        let isAlert = isAlert(state.row.ops[leader], binding, state.row)
        var draft: Draft?
        switch binding.dialect {
        case .hush: draft = cumulative(leader, isAlert: isAlert, binding, now, &state, &effects)
        case .crt, .pushwoosh: draft = single(leader, binding, state.row)
        case .airship: draft = airship(leader, binding, now, state)
        }
        guard let draft else { return false }
        let tookToken = !isAlert && passGates(now, &state)
        state.soft.isBudgetAnnounced = false
        state.soft.retryAt = nil
        var parts: [InFlight.Part] = []
        parts.reserveCapacity(draft.ops.count)
        for index in draft.ops {
            parts.append(
                InFlight.Part(
                    op: state.row.ops[index].op, kind: state.row.ops[index].kind,
                    hadLeft: state.row.ops[index].mayHaveLeft, wasAlerted: state.row.ops[index].wasAlerted))
            let counts = state.row.ops[index].acceptedAt == nil || dueAt(state.row.ops[index]) <= now
            state.row.ops[index].attempts += 1
            state.row.ops[index].isLeaving = counts
            if !draft.isClearing { state.row.ops[index].mayHaveLeft = true }
        }
        let lead = state.row.ops[draft.ops[0]]
        let apnsID = APNsID.text(lead.op, attempt: lead.attempts)
        state.soft.inFlight = InFlight(
            parts: parts, version: binding.version, attempt: lead.attempts, apnsID: apnsID,
            isClearing: draft.isClearing, alertID: isAlert ? lead.id : nil, tookToken: tookToken)
        if isAlert { state.row.ops[leader].wasAlerted = true }
        effects.isRowChanged = true
        effects.push = OutgoingPush(
            token: binding.token, app: binding.app, environment: binding.environment, isAlert: isAlert,
            priority: isAlert ? 10 : 5, expires: expiry(draft, state.row), collapseID: draft.collapseID,
            apnsID: apnsID, payload: draft.payload)
        return true
    }

    /// What a push will be.
    private struct Draft {
        /// Indexes into the row's ops; the first gives the push its name.
        var ops: [Int]
        var payload: [UInt8]
        var collapseID: Bytes?
        var isClearing = false
    }

    /// All that is unfinished, in the order of rank, as far as it fits.
    private func cumulative(
        _ leader: Int, isAlert: Bool, _ binding: Binding, _ now: Timestamp, _ state: inout AddressState,
        _ effects: inout DeliveryEffects
    ) -> Draft? {
        let ops = state.row.ops
        var payload =
            isAlert
            ? HushPayloadWriter(
                alert: ops[leader].content ?? Content(json: "{}"), liveCount: state.row.liveCount,
                isPassive: ops[leader].mayHaveLeft, owner: binding.owner, version: binding.version,
                bytesMax: policy.payloadBytesMax)
            : HushPayloadWriter(owner: binding.owner, version: binding.version, bytesMax: policy.payloadBytesMax)
        var draft = Draft(ops: [], payload: [])
        if write(ops[leader], into: &payload) { draft.ops.append(leader) }
        if draft.ops.isEmpty { return nil }
        let hasLastRepeat = ops.contains { op in
            op.acceptedAt != nil && Int(op.repeats) + 1 >= policy.repeatIntervals.count && dueAt(op) <= now
        }
        if hasLastRepeat, binding.acknowledges { state.row.wantsHello = true }
        if state.row.wantsHello, ops[leader].kind != .bind { _ = payload.hello(ops[leader].op) }
        for index in fillingOrder(except: leader, binding, now, state.row) {
            if let opsMax = state.soft.opsMax, draft.ops.count >= opsMax { break }
            if write(ops[index], into: &payload) { draft.ops.append(index) }
        }
        if isAlert { draft.collapseID = StableIdentifier.of(ops[leader].id) }
        draft.payload = payload.finish()
        return draft
    }

    /// Ops that may ride: those whose time has come, creates newest first; an alert of its own is none.
    private func fillingOrder(except leader: Int, _ binding: Binding, _ now: Timestamp, _ row: AddressRow) -> [Int] {
        if row.ops.count == 1 { return [] }
        var order: [(rank: Int, index: Int)] = []
        for (index, op) in row.ops.enumerated() where index != leader {
            if let notBefore = op.notBefore, notBefore > now { continue }
            // Every push asks for the hello anyway.
            if op.asksForHello { continue }
            // What went silently before may ride until it is time for its alert.
            if isAlert(op, binding, row), op.acceptedAt == nil || dueAt(op) <= now { continue }
            order.append((rank(op, now), index))
        }
        order.sort { left, right in
            if left.rank != right.rank { return left.rank < right.rank }
            return row.ops[left.index].op > row.ops[right.index].op
        }
        return order.map(\.index)
    }

    private func write(_ op: PendingOp, into payload: inout HushPayloadWriter) -> Bool {
        switch op.kind {
        case .bind: payload.bind(op.op)
        case .delete: payload.delete(op.op, id: op.id, through: op.revision)
        case .create:
            payload.create(
                op.op, id: op.id, revision: op.revision, content: op.content ?? Content(json: "{}"),
                expires: op.expires, isTold: op.wasAlerted)
        }
    }

    /// One op a push; an update deletes the older content first.
    private func single(_ leader: Int, _ binding: Binding, _ row: AddressRow) -> Draft? {
        let op = row.ops[leader]
        let isClearing = op.kind == .create && !op.first && !op.isCleared
        let payload =
            if op.kind == .create, !isClearing, let content = op.content {
                SeedPayload.create(op.id, content: content, dialect: binding.dialect)
            } else {
                SeedPayload.delete(op.id, dialect: binding.dialect)
            }
        guard payload.count <= policy.payloadBytesMax else { return nil }
        return Draft(
            ops: [leader], payload: payload, collapseID: StableIdentifier.of(op.id), isClearing: isClearing)
    }

    /// An alert a create; all deletes whose time has come in one silent push, for iOS may hold the newest only.
    ///
    /// What was told of before is passive, as a repeat is: what a bind or a hello sends again.
    private func airship(_ leader: Int, _ binding: Binding, _ now: Timestamp, _ state: AddressState) -> Draft? {
        let op = state.row.ops[leader]
        guard op.kind == .delete else {
            let payload = AirshipPayload.create(
                op.content ?? Content(json: "{}"), liveCount: state.row.liveCount,
                isPassive: op.mayHaveLeft || op.wasAlerted)
            guard payload.count <= policy.payloadBytesMax else { return nil }
            return Draft(ops: [leader], payload: payload, collapseID: StableIdentifier.of(op.id))
        }
        let order = [leader] + fillingOrder(except: leader, binding, now, state.row)
        let deletes = order.filter { state.row.ops[$0].kind == .delete }.prefix(state.soft.opsMax ?? order.count)
        let removed = AirshipPayload.remove(
            deletes.map { state.row.ops[$0].id }, liveCount: state.row.liveCount, bytesMax: policy.payloadBytesMax)
        guard let removed else { return nil }
        return Draft(ops: Array(deletes.prefix(removed.count)), payload: removed.payload)
    }

    /// A background push takes a token where there is one, and is the probe of a low battery; true where it took one.
    private func passGates(_ now: Timestamp, _ state: inout AddressState) -> Bool {
        if var gate = state.row.gate, gate.kind == .low, gate.until <= now {
            gate.probes = min(gate.probes + 1, 16)
            gate.until = now + min(policy.holdProbe * (1 << Int(gate.probes)), policy.holdMax)
            gate.isAnnounced = false
            state.row.gate = gate
        }
        guard policy.wakeUpBurst > 0, state.soft.budget.tokenAt(now, policy) <= now else { return false }
        state.soft.budget.take(now, policy)
        return true
    }

    /// When APNs may forget the push: with its last create, never where it deletes or binds.
    private func expiry(_ draft: Draft, _ row: AddressRow) -> Timestamp? {
        if draft.isClearing { return nil }
        var latest = Timestamp.distantPast
        for index in draft.ops {
            guard row.ops[index].kind == .create, let expires = row.ops[index].expires else { return nil }
            latest = max(latest, expires)
        }
        return latest
    }
}
