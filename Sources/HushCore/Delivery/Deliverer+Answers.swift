extension Deliverer {
    /// Takes what became of the push under way. An op that was merged or acknowledged meanwhile is no part of it any
    /// more.
    func answer(
        _ result: PushResult, isDoubted: Bool, _ address: Address, _ now: Timestamp,
        _ random: inout some RandomNumberGenerator, _ state: inout AddressState, _ effects: inout DeliveryEffects
    ) {
        guard let flight = state.soft.inFlight else { return }
        state.soft.inFlight = nil
        switch result {
        case .unknown:
            noteAlert(flight, now, &state, &effects)
            comeBack(flight, hasLeft: true, &state.row, &effects)
            let until = backOff(now, atLeast: .zero, &random, &state.soft)
            tell(.unknown, flight, state.row, until: until, &effects)
            giveUpUnanswered(flight, now, &state, &effects)
        case .notSent:
            if flight.tookToken { state.soft.budget.earn(now, policy) }
            comeBack(flight, hasLeft: false, &state.row, &effects)
            let until = backOff(now, atLeast: .zero, &random, &state.soft)
            tell(.retry, flight, state.row, reason: "not_sent", until: until, &effects)
        case .answered(let status, let reason, let retryAfter, let timestamp):
            let line = Answered(flight: flight, status: status, reason: reason)
            // What APNs did not take wakes nobody.
            if flight.tookToken, status != 200 { state.soft.budget.earn(now, policy) }
            switch APNsReason.classify(status: status, reason: reason.raw) {
            case .delivered:
                noteAlert(flight, now, &state, &effects)
                accept(line, now, &state, &effects)
            case .rejectOps:
                reject(line, &state.row, &effects)
            case .restAddress:
                let until = now + policy.addressRest
                if isDoubted {
                    again(line, hasLeft: false, until: until, &state.row, &effects)
                } else {
                    reject(line, &state.row, &effects)
                }
                state.soft.retryAt = until
            case .dropDevice:
                drop(line, address, timestamp, now, &random, &state, &effects)
            case .split:
                if flight.parts.count > 1 {
                    state.soft.opsMax = flight.parts.count / 2
                    again(line, hasLeft: false, until: nil, &state.row, &effects)
                } else {
                    reject(line, &state.row, &effects)
                }
            case .pauseCredential, .keepToken:
                effects.isCredentialRefused = true
                let until = backOff(now, atLeast: retryAfter ?? .zero, &random, &state.soft)
                again(line, hasLeft: false, until: until, &state.row, &effects)
            case .delayToken, .renewToken, .reconnect, .retry:
                // A 4xx proves that APNs did not take the push, anything else proves nothing.
                let hasLeft = !(400..<500).contains(status)
                if hasLeft { noteAlert(flight, now, &state, &effects) }
                let until = backOff(now, atLeast: retryAfter ?? .zero, &random, &state.soft)
                again(line, hasLeft: hasLeft, until: until, &state.row, &effects)
                if hasLeft { giveUpUnanswered(flight, now, &state, &effects) }
            }
        }
    }

    /// Parks those of a push's ops that got nothing but unknown outcomes for too long.
    ///
    /// It happens at such an outcome and not by the clock alone, so that what waited for a credential is tried first.
    private func giveUpUnanswered(
        _ flight: InFlight, _ now: Timestamp, _ state: inout AddressState, _ effects: inout DeliveryEffects
    ) {
        guard let binding = state.row.binding else { return }
        park(now, binding, reason: "unanswered", &state.row, &effects) { op in
            guard flight.parts.contains(where: { $0.op == op.op && $0.kind == op.kind }) else { return false }
            let since = max(op.queuedAt, op.notBefore ?? .distantPast, op.acceptedAt ?? .distantPast)
            return now - since >= policy.unansweredMax
        }
    }

    /// Nothing leads to the app: what waits is rejected, and a hello will make the screen right once something does.
    func giveUp(_ row: inout AddressRow, _ effects: inout DeliveryEffects) {
        guard let binding = row.binding, !row.ops.isEmpty else { return }
        effects.final(.rejected, row.ops.openParts, binding, reason: "no_credential")
        row.ops.removeAll()
        row.wantsHello = binding.acknowledges
        effects.isRowChanged = true
    }

    /// After a restart: what was leaving has an unknown fate.
    func restored(
        _ now: Timestamp, _ random: inout some RandomNumberGenerator, _ state: inout AddressState,
        _ effects: inout DeliveryEffects
    ) {
        state.soft = AddressSoftState()
        guard let binding = state.row.binding, state.row.ops.contains(where: \.isLeaving) else { return }
        var unknown: [PendingOp] = []
        for index in state.row.ops.indices where state.row.ops[index].isLeaving {
            state.row.ops[index].isLeaving = false
            unknown.append(state.row.ops[index])
        }
        for op in unknown where op.wasAlerted { noteAlert(op.id, now, &state, &effects) }
        effects.isRowChanged = true
        let until = backOff(now, atLeast: .zero, &random, &state.soft)
        let parts = unknown.openParts
        if parts.isEmpty { return }
        effects.lines.append(
            DeliveryLine(
                .unknown, isFinal: false, recipient: binding.owner, device: binding.device, ops: parts,
                reason: "restarted", until: until))
    }

    fileprivate struct Answered {
        var flight: InFlight
        var status: UInt16
        var reason: Bytes
    }

    /// A 200: final where the app does not acknowledge, else the op waits for its word.
    private func accept(
        _ answered: Answered, _ now: Timestamp, _ state: inout AddressState, _ effects: inout DeliveryEffects
    ) {
        state.soft.failures = 0
        state.soft.opsMax = nil
        guard let binding = state.row.binding else { return }
        let flight = answered.flight
        let isFinal = !binding.acknowledges
        let parts = flight.open(state.row.ops)
        for part in flight.parts {
            guard let index = state.row.ops.index(of: part) else { continue }
            effects.isRowChanged = true
            if flight.isClearing {
                state.row.ops[index].isLeaving = false
                state.row.ops[index].isCleared = true
            } else if isFinal {
                state.row.ops.remove(at: index)
            } else if state.row.ops[index].isLeaving {
                state.row.ops[index].isLeaving = false
                if state.row.ops[index].acceptedAt != nil { state.row.ops[index].repeats += 1 }
                state.row.ops[index].acceptedAt = now
            }
        }
        effects.line(
            .accepted, answered, isFinal: isFinal && !flight.isClearing, parts, binding, until: nil)
    }

    private func reject(_ answered: Answered, _ row: inout AddressRow, _ effects: inout DeliveryEffects) {
        guard let binding = row.binding else { return }
        effects.line(.rejected, answered, isFinal: true, answered.flight.open(row.ops), binding, until: nil)
        for part in answered.flight.parts {
            guard let index = row.ops.index(of: part) else { continue }
            row.ops.remove(at: index)
            effects.isRowChanged = true
        }
    }

    /// A 410 unbinds the binding its push was sent under, whatever its timestamp says; under a newer one the ops go
    /// again.
    private func drop(
        _ answered: Answered, _ address: Address, _ timestamp: Timestamp?, _ now: Timestamp,
        _ random: inout some RandomNumberGenerator, _ state: inout AddressState, _ effects: inout DeliveryEffects
    ) {
        guard let binding = state.row.binding else { return }
        guard binding.version == answered.flight.version else {
            return again(answered, hasLeft: false, until: nil, &state.row, &effects)
        }
        let left = answered.flight.open(state.row.ops)
        effects.line(.unregistered, answered, isFinal: true, left, binding, until: nil)
        for part in answered.flight.parts {
            if let index = state.row.ops.index(of: part) { state.row.ops.remove(at: index) }
        }
        release(binding, &state.row, &effects)
        state.soft = AddressSoftState()
        effects.tell(
            binding.owner, device: binding.device, reason: answered.reason.isEmpty ? "Unregistered" : answered.reason,
            address, binding.version, at: timestamp ?? now)
    }

    /// The ops wait again.
    private func again(
        _ answered: Answered, hasLeft: Bool, until: Timestamp?, _ row: inout AddressRow,
        _ effects: inout DeliveryEffects
    ) {
        comeBack(answered.flight, hasLeft: hasLeft, &row, &effects)
        guard let binding = row.binding else { return }
        effects.line(.retry, answered, isFinal: false, answered.flight.open(row.ops), binding, until: until)
    }

    private func comeBack(
        _ flight: InFlight, hasLeft: Bool, _ row: inout AddressRow, _ effects: inout DeliveryEffects
    ) {
        for part in flight.parts {
            guard let index = row.ops.index(of: part) else { continue }
            row.ops[index].isLeaving = false
            if !hasLeft {
                row.ops[index].mayHaveLeft = part.hadLeft
                row.ops[index].wasAlerted = part.wasAlerted
            }
            effects.isRowChanged = true
        }
    }

    /// Exponential with full jitter, and not before APNs allows it.
    private func backOff(
        _ now: Timestamp, atLeast: Duration, _ random: inout some RandomNumberGenerator,
        _ soft: inout AddressSoftState
    ) -> Timestamp {
        let limit = min(policy.retryBase * (1 << min(soft.failures, 20)), policy.retryMax)
        soft.failures += 1
        let jitter = Int64.random(in: 0...max(limit.wholeMillis, 0), using: &random)
        let until = now + max(.milliseconds(jitter), atLeast)
        soft.retryAt = until
        return until
    }

    private func tell(
        _ outcome: DeliveryOutcome, _ flight: InFlight, _ row: AddressRow, reason: Bytes? = nil, until: Timestamp,
        _ effects: inout DeliveryEffects
    ) {
        let parts = flight.open(row.ops)
        guard let binding = row.binding, !parts.isEmpty else { return }
        var line = DeliveryLine(
            outcome, isFinal: false, recipient: binding.owner, device: binding.device, ops: parts, reason: reason,
            until: until)
        line.attempt = flight.attempt
        line.apnsID = flight.apnsID
        effects.lines.append(line)
    }
}

extension InFlight {
    /// The parts that are still unfinished and whose outcome is not told.
    fileprivate func open(_ ops: [PendingOp]) -> [DeliveryLine.Part] {
        parts.compactMap { part in
            guard let index = ops.index(of: part), !ops[index].isClosed else { return nil }
            return ops[index].part
        }
    }
}

extension [PendingOp] {
    /// The op that a part of a push stands for. One that has expired since is another thing: a delete.
    fileprivate func index(of part: InFlight.Part) -> Int? {
        firstIndex { $0.op == part.op && $0.kind == part.kind }
    }
}

extension DeliveryEffects {
    fileprivate mutating func line(
        _ outcome: DeliveryOutcome, _ answered: Deliverer.Answered, isFinal: Bool, _ parts: [DeliveryLine.Part],
        _ binding: Binding, until: Timestamp?
    ) {
        if parts.isEmpty { return }
        var line = DeliveryLine(
            outcome, isFinal: isFinal, recipient: binding.owner, device: binding.device, ops: parts,
            reason: answered.reason.isEmpty ? nil : answered.reason, until: until)
        line.attempt = answered.flight.attempt
        line.apnsID = answered.flight.apnsID
        line.status = answered.status
        lines.append(line)
    }
}
