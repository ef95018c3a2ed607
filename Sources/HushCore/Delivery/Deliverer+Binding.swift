extension Deliverer {
    /// Takes a bind. It wins only with a higher version than there ever was, and reaches the app as an op of its own.
    func bind(
        _ binding: Binding, fresh: Bool, cause: Position, _ op: OpID, _ at: Timestamp, _ trace: TraceID?,
        _ address: Address, _ state: inout AddressState, _ effects: inout DeliveryEffects
    ) {
        let part = DeliveryLine.Part(op: op, kind: .bind, id: nil, cause: cause, trace: trace)
        if let version = state.row.version, binding.version <= version {
            return refuse(part, of: binding, address, state.row, version, &effects)
        }
        if let old = state.row.binding, old.owner != binding.owner {
            effects.final(.reassigned, state.row.ops.openParts, old)
            state.row.ops.removeAll()
            state.row.wantsHello = false
            state.row.liveCount = nil
            state.row.isRefreshOff = false
            effects.tell(old.owner, device: old.device, reason: "reassigned", address, binding.version)
        } else if let old = state.row.binding, old.device != binding.device {
            // What waits goes on, but its books are those of the device it was planned for.
            effects.final(.coalesced, state.row.ops.openParts, old)
            for index in state.row.ops.indices { state.row.ops[index].isClosed = true }
        }
        let isNew = state.row.version == nil
        let isOwnerChanged = state.row.lastOwner.map { $0 != binding.owner } ?? false
        state.row.binding = binding
        state.row.version = binding.version
        state.row.lastOwner = binding.owner
        state.soft.retryAt = nil
        state.soft.failures = 0
        state.soft.opsMax = nil
        effects.isRowChanged = true
        if let old = state.row.ops.firstIndex(where: { $0.kind == .bind }) {
            let covered = state.row.ops.remove(at: old)
            if !covered.isClosed { effects.final(.coalesced, [covered.part], binding) }
        }
        guard binding.dialect == .hush else {
            return effects.final(.suppressed, [part], binding, reason: "dialect_without_bind")
        }
        var pending = PendingOp(
            op: op, kind: .bind, id: Bytes([]), revision: 0, quiet: fresh && isNew, urgent: isOwnerChanged,
            cause: cause, queuedAt: at)
        pending.trace = trace
        state.row.ops.insert(pending, at: 0)
    }

    /// A bind that comes too late: the same again changes nothing; of anybody else the planner learns who won.
    private func refuse(
        _ part: DeliveryLine.Part, of binding: Binding, _ address: Address, _ row: AddressRow,
        _ version: BindingVersion, _ effects: inout DeliveryEffects
    ) {
        if row.binding?.owner == binding.owner {
            return effects.final(.coalesced, [part], binding)
        }
        effects.final(.reassigned, [part], binding)
        effects.tell(binding.owner, device: binding.device, reason: "reassigned", address, version)
    }

    /// Ends a binding up to this version; the version stays behind.
    func unbind(
        _ owner: Bytes, _ version: BindingVersion, _ row: inout AddressRow, _ effects: inout DeliveryEffects
    ) {
        if let binding = row.binding {
            guard binding.owner == owner, binding.version <= version else { return }
            release(binding, &row, &effects)
        }
        if row.version.map({ $0 < version }) ?? true {
            row.version = version
            row.lastOwner = owner
            effects.isRowChanged = true
        }
    }

    /// Ends the current binding, and with it whatever waits.
    func release(_ binding: Binding, _ row: inout AddressRow, _ effects: inout DeliveryEffects) {
        effects.final(.unregistered, row.ops.openParts, binding)
        row.binding = nil
        row.ops.removeAll()
        row.wantsHello = false
        row.liveCount = nil
        row.isRefreshOff = false
        row.gate = nil
        effects.isRowChanged = true
    }
}

extension [PendingOp] {
    /// Those whose outcome is not told yet.
    var openParts: [DeliveryLine.Part] { filter { !$0.isClosed }.map(\.part) }
}
