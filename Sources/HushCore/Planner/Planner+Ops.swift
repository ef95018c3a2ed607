extension Planner {
    /// One op to every device that takes a mark's content; returns what the plan line says of it.
    @usableFromInline
    func send<State: PlannerState>(
        _ op: Op, of mark: Mark, to recipient: Recipient, named name: Bytes, _ arrival: Arrival,
        _ state: inout State, _ effects: inout PlanEffects
    ) throws(State.Failure) -> [PlanLine.PlannedOp] {
        guard let live = mark.live else { return [] }
        let isCounted = op.kind == .create ? live.content.hasCountedBadge : live.content.hasAutomaticBadge
        let record = PushRecord.ops(owner: name, ops: [op], cause: arrival.position)
        var planned: [PlanLine.PlannedOp] = []
        for device in recipient.devices where mark.takes(live, on: device.registration) {
            if isCounted {
                var counted = op
                counted.liveCount = try liveCount(on: device.registration, arrival, &state)
                effects.push([counted], owner: name, cause: arrival.position, to: device.address)
            } else {
                effects.push(record, to: device.address, repeatsPrevious: !planned.isEmpty)
            }
            planned.append(PlanLine.PlannedOp(device: device.registration.device, kind: op.kind))
        }
        return planned
    }

    /// How many notifications a device should show now: what `"badge":"auto"` stands for.
    ///
    /// - Complexity: one mark read for each live notification.
    @usableFromInline
    func liveCount<State: PlannerState>(
        on registration: Registration, _ arrival: Arrival, _ state: inout State
    ) throws(State.Failure) -> Int64 {
        var count: Int64 = 0
        for entry in try state.live(of: registration.recipient, at: arrival.now) {
            guard let mark = try state.mark(entry.id, of: registration.recipient), let live = mark.live else {
                continue
            }
            if mark.takes(live, on: registration) { count += 1 }
        }
        return count
    }
}
