extension Planner {
    /// An app install makes itself known: a renewal where nothing changed, else a bind and all that is live.
    @usableFromInline
    func register<State: PlannerState>(
        _ registration: Registration, _ arrival: Arrival, _ state: inout State, _ effects: inout PlanEffects
    ) throws(State.Failure) {
        let name = registration.recipient
        let version = arrival.origin
        var line = PlanLine(decision: .registered, recipient: name, cause: arrival.position)
        var recipient = try state.recipient(name)
        let known = recipient.index(ofDevice: registration.device)
        if let known, recipient.devices[known].isRenewed(by: registration) {
            guard recipient.devices[known].latest < version else {
                line.decision = .superseded
                return effects.line(line)
            }
            recipient.devices[known].registration = registration
            recipient.devices[known].renewed = version
            try state.setRecipient(recipient, name)
            effects.line(line)
            return try askAgain(recipient, name, arrival, &state, &effects)
        }
        let device = RegisteredDevice(registration: registration, address: registration.address, version: version)
        var isAlerted = registration.dialect == .airship
        guard !recipient.outdates(registration, device.address, at: version) else {
            line.decision = .superseded
            return effects.line(line)
        }
        if let known {
            let old = recipient.devices.remove(at: known)
            if old.address != device.address { effects.unbind(old) }
            isAlerted = isAlerted || old.registration.dialect == .airship
        }
        // The same person on the same token under another device id: one address has one device.
        if let other = recipient.index(of: device.address) {
            recipient.devices.remove(at: other)
        }
        while recipient.devices.count >= max(policy.devicesPerRecipientMax, 1),
            let oldest = recipient.devices.min(by: { $0.latest < $1.latest })
        {
            recipient.devices.removeAll { $0.address == oldest.address }
            effects.unbind(oldest)
        }
        recipient.insert(device)
        try state.setRecipient(recipient, name)
        line.ops = try bind(device, isFresh: registration.fresh, isAlerted: isAlerted, arrival, &state, &effects)
        effects.line(line)
        try askAgain(recipient, name, arrival, &state, &effects)
    }

    /// A device is gone, or one binding of it is lost.
    @usableFromInline
    func unregister<State: PlannerState>(
        _ loss: Unregistration, _ arrival: Arrival, _ state: inout State, _ effects: inout PlanEffects
    ) throws(State.Failure) {
        var line = PlanLine(decision: .unregistered, recipient: loss.recipient, cause: arrival.position)
        var recipient = try state.recipient(loss.recipient)
        let horizon = arrival.now.subtracting(millis: markLifeMillis)
        // The deliverer may not know by which device id its owner calls an address, so the address leads.
        let index =
            if let address = loss.address { recipient.index(of: address) } else {
                recipient.index(ofDevice: loss.device)
            }
        guard let index else {
            if loss.address == nil, loss.version == nil {
                recipient.depart(loss.device, at: arrival.origin, horizon: horizon)
                try state.setRecipient(recipient, loss.recipient)
            }
            line.decision = .duplicate
            return effects.line(line)
        }
        switch loss.fate(of: recipient.devices[index], arrival) {
        case .stays:
            line.decision = .superseded
        case .goes(let at):
            let device = recipient.devices.remove(at: index)
            recipient.depart(device.registration.device, at: at, horizon: horizon)
            try state.setRecipient(recipient, loss.recipient)
            effects.unbind(device)
        case .bindsAnew(let version):
            line.decision = .registered
            recipient.devices[index].version = version
            recipient.devices[index].renewed = nil
            try state.setRecipient(recipient, loss.recipient)
            line.ops = try bind(
                recipient.devices[index], isFresh: false,
                isAlerted: recipient.devices[index].registration.dialect == .airship, arrival, &state, &effects)
        }
        effects.line(line)
    }

    /// The bind of an address, and all that its owner's screens should show; returns what the plan line says of it.
    private func bind<State: PlannerState>(
        _ device: RegisteredDevice, isFresh: Bool, isAlerted: Bool, _ arrival: Arrival, _ state: inout State,
        _ effects: inout PlanEffects
    ) throws(State.Failure) -> [PlanLine.PlannedOp] {
        let name = device.registration.device
        effects.push(.bind(device.binding, fresh: isFresh, cause: arrival.position), to: device.address)
        let creates = try snapshot(
            device.registration, knowing: [:], isFirst: isFresh, isAlerted: isAlerted, arrival, &state)
        effects.push(creates, owner: device.registration.recipient, cause: arrival.position, to: device.address)
        return [PlanLine.PlannedOp(device: name, kind: .bind)]
            + creates.map { PlanLine.PlannedOp(device: name, kind: .create, id: $0.id) }
    }
}

extension Unregistration {
    fileprivate enum Fate {
        /// A newer binding or register is known than the one that was lost.
        case stays
        case goes(at: BindingVersion)
        /// The app registered after the loss, which was taken for a renewal: that register binds now.
        case bindsAnew(BindingVersion)
    }

    fileprivate func fate(of device: RegisteredDevice, _ arrival: Arrival) -> Fate {
        guard let version else {
            if let at, device.latest.at > at { return .stays }
            return device.latest < arrival.origin ? .goes(at: arrival.origin) : .stays
        }
        if device.version > version { return .stays }
        if let renewed = device.renewed, at.map({ $0 < renewed.at }) ?? (version < renewed) {
            return .bindsAnew(renewed)
        }
        return .goes(at: device.latest)
    }
}

extension PlanEffects {
    /// Names the version that ends, so that whoever holds the address by then is not touched.
    fileprivate mutating func unbind(_ device: RegisteredDevice) {
        push(.unbind(owner: device.registration.recipient, version: device.version), to: device.address)
    }
}
