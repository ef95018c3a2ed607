extension Planner {
    /// The recipient has read or dismissed notifications: they go from every device, quietly from the one that knows.
    @usableFromInline
    func take<State: PlannerState>(
        _ read: Read, _ arrival: Arrival, _ state: inout State, _ effects: inout PlanEffects
    ) throws(State.Failure) {
        let recipient = try state.recipient(read.recipient)
        var pending = [[Op]](repeating: [], count: recipient.devices.count)
        var seen: Set<Bytes> = []
        for id in read.ids where read.ids.count == 1 || seen.insert(id).inserted {
            var line = PlanLine(
                decision: .read, recipient: read.recipient, id: id, revision: read.revision, cause: arrival.position)
            var mark = try mark(id, of: read.recipient, arrival, &state) ?? Mark(touched: arrival.now)
            let through = read.revision ?? max(mark.standing.created, 1)
            guard through > mark.standing.deleted else {
                line.decision = .duplicate
                effects.line(line)
                continue
            }
            let live = mark.live
            mark.delete(through: through, at: arrival.now)
            try state.setMark(mark, id, of: read.recipient)
            if mark.standing.isShown {
                line.decision = .superseded
            } else if let live {
                for (index, device) in recipient.devices.enumerated()
                where mark.takes(live, on: device.registration) {
                    let quiet = read.isKnown(to: device.registration)
                    var delete = Op(kind: .delete, id: id, revision: through, quiet: quiet)
                    if live.content.hasAutomaticBadge {
                        delete.liveCount = try liveCount(on: device.registration, arrival, &state)
                    }
                    pending[index].append(delete)
                    line.ops.append(PlanLine.PlannedOp(device: device.registration.device, kind: .delete))
                }
            }
            effects.line(line)
        }
        for (device, ops) in zip(recipient.devices, pending) where !ops.isEmpty {
            effects.push(ops, owner: read.recipient, cause: arrival.position, to: device.address)
        }
    }
}

extension Read {
    /// Whether the read comes from this very install and names what it saw, so that its screen is right already.
    ///
    /// Without a revision the planner may delete more than the phone saw, and another install of the same device may
    /// have been given it since: these deletes must not wait.
    fileprivate func isKnown(to registration: Registration) -> Bool {
        guard revision != nil, let device, let install else { return false }
        return device == registration.device && install == registration.install
    }
}
