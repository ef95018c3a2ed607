extension Planner {
    /// One op to every device a notification is meant for; returns what the plan line says of it.
    @usableFromInline
    func send<State: PlannerState>(
        _ op: Op, of live: LiveNotification, to recipient: Recipient, named name: Bytes, _ arrival: Arrival,
        _ state: inout State, _ effects: inout PlanEffects
    ) throws(State.Failure) -> [PlanLine.PlannedOp] {
        let isCounted = op.kind == .create ? live.content.hasCountedBadge : live.content.hasAutomaticBadge
        let record = PushRecord.ops(owner: name, ops: [op], cause: arrival.position)
        var planned: [PlanLine.PlannedOp] = []
        for device in recipient.devices where live.isMeant(for: device.registration.app) {
            if isCounted {
                var counted = op
                counted.liveCount = try liveCount(of: name, on: device.registration.app, arrival, &state)
                effects.push([counted], owner: name, cause: arrival.position, to: device.address)
            } else {
                effects.push(record, to: device.address, repeatsPrevious: !planned.isEmpty)
            }
            planned.append(PlanLine.PlannedOp(device: device.registration.device, kind: op.kind))
        }
        return planned
    }

    /// How many notifications a recipient's device with this app should show now: what `"badge":"auto"` stands for.
    ///
    /// - Complexity: one mark read for each live notification.
    @usableFromInline
    func liveCount<State: PlannerState>(
        of name: Bytes, on app: Bytes, _ arrival: Arrival, _ state: inout State
    ) throws(State.Failure) -> Int64 {
        var count: Int64 = 0
        for entry in try state.live(of: name, at: arrival.now) {
            if try state.mark(entry.id, of: name)?.live?.isMeant(for: app) ?? false { count += 1 }
        }
        return count
    }
}
