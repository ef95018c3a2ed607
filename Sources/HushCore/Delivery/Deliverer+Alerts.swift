/// Pushes that the system shows by itself: which ops leave as one, and what their deletes wait for.
extension Deliverer {
    /// Whether the op, once it leads a push, leaves as an alert, which no battery gate and no budget holds.
    ///
    /// In the mode `auto` that is so where nothing says that the app is woken: it does not acknowledge, it has not
    /// lately, or it told that it is not. What went silently and was not acknowledged becomes an alert at its repeat.
    func isAlert(_ op: PendingOp, _ binding: Binding, _ row: AddressRow) -> Bool {
        guard op.kind == .create else { return false }
        switch binding.dialect {
        case .airship: return true
        case .crt, .pushwoosh: return false
        case .hush: break
        }
        switch op.mode {
        case .silent: return false
        case .visible: return op.acceptedAt == nil
        case .auto:
            if op.acceptedAt != nil { return !op.wasAlerted }
            return !binding.acknowledges || row.isRefreshOff || row.wantsHello
                || row.ops.contains { $0.repeats > 0 }
        }
    }

    /// Notes that APNs has, or may have, the alert of a push: a delete of what it shows must not overtake it.
    func noteAlert(
        _ flight: InFlight, _ now: Timestamp, _ state: inout AddressState, _ effects: inout DeliveryEffects
    ) {
        guard let id = flight.alertID else { return }
        noteAlert(id, now, &state, &effects)
    }

    func noteAlert(
        _ id: Bytes, _ now: Timestamp, _ state: inout AddressState, _ effects: inout DeliveryEffects
    ) {
        let until = now + policy.alertDeleteWait
        state.soft.alerts.removeAll { $0.until <= now || $0.id == id }
        state.soft.alerts.append(RecentAlert(id: id, until: until))
        for index in state.row.ops.indices where state.row.ops[index].kind == .delete && state.row.ops[index].id == id {
            state.row.ops[index].notBefore = until
            effects.isRowChanged = true
        }
    }

    /// How long a delete that comes now has to wait for the alert it takes back; nil where there is none.
    func alertWait(_ id: Bytes, _ now: Timestamp, _ soft: AddressSoftState) -> Timestamp? {
        if soft.inFlight?.alertID == id { return now + policy.alertDeleteWait }
        return soft.alerts.first { $0.id == id && $0.until > now }?.until
    }
}
