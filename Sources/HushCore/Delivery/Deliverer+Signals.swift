extension Deliverer {
    /// Takes what the owner's app told: acknowledged ops, a hello, and how the phone's battery is.
    func signal(
        _ owner: Bytes, _ reading: DeviceReading, _ acks: [OpID], hello: Bool, at: Timestamp, _ now: Timestamp,
        _ state: inout AddressState, _ effects: inout DeliveryEffects
    ) {
        guard let binding = state.row.binding, binding.owner == owner else { return }
        if !acks.isEmpty { acknowledge(acks, binding, now, &state, &effects) }
        if hello, state.row.wantsHello {
            state.row.wantsHello = false
            state.row.ops.removeAll(where: \.asksForHello)
            effects.isRowChanged = true
        }
        // A phone's clock may be ahead; a reading from the future is one of now.
        let readAt = min(reading.at ?? at, now)
        guard now - readAt <= policy.readingAgeMax else { return }
        if let refresh = reading.backgroundRefresh, refresh == state.row.isRefreshOff {
            state.row.isRefreshOff = !refresh
            effects.isRowChanged = true
        }
        setGate(reading, readAt: readAt, now, &state.row, &effects)
    }

    private func acknowledge(
        _ acks: [OpID], _ binding: Binding, _ now: Timestamp, _ state: inout AddressState,
        _ effects: inout DeliveryEffects
    ) {
        var confirmed: [DeliveryLine.Part] = []
        var isPrompt = false
        state.row.ops.removeAll { op in
            guard op.attempts > 0, !op.asksForHello, acks.contains(op.op) else { return false }
            if let acceptedAt = op.acceptedAt { isPrompt = isPrompt || now - acceptedAt <= policy.promptAck }
            if !op.isClosed { confirmed.append(op.part) }
            effects.isRowChanged = true
            return true
        }
        if isPrompt { state.soft.budget.earn(now, policy) }
        effects.final(.confirmed, confirmed, binding)
    }

    /// Closes, moves or lifts the battery gate. A reading that is older than the one behind the gate, or that says
    /// nothing of power, changes nothing.
    private func setGate(
        _ reading: DeviceReading, readAt at: Timestamp, _ now: Timestamp, _ row: inout AddressRow,
        _ effects: inout DeliveryEffects
    ) {
        guard reading.battery != nil || reading.lowPower != nil || reading.charging != nil || reading.notBefore != nil
        else { return }
        guard row.gate.map({ $0.readingAt <= at }) ?? true else { return }
        let old = row.gate
        if let hint = reading.notBefore {
            // A signal that came late, after its hint, finds the gate as it would be by now: open.
            row.gate =
                hint > now ? BatteryGate(kind: .hint, readingAt: at, until: min(hint, now + policy.hintMax)) : nil
        } else if isLow(reading) {
            if let gate = row.gate, gate.kind == .low, gate.until > now {
                row.gate?.readingAt = at
            } else {
                row.gate = BatteryGate(kind: .low, readingAt: at, until: now + min(policy.holdProbe, policy.holdMax))
            }
        } else {
            row.gate = nil
        }
        if row.gate != old { effects.isRowChanged = true }
    }

    private func isLow(_ reading: DeviceReading) -> Bool {
        if reading.lowPower == true { return true }
        guard let battery = reading.battery else { return false }
        return battery <= policy.batteryLow && reading.charging != true
    }
}
