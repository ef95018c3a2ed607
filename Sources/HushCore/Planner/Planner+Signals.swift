extension Planner {
    /// What an app tells us goes on to the deliverer; a hello is answered with what makes its screen right.
    @usableFromInline
    func take<State: PlannerState>(
        _ signal: Signal, _ arrival: Arrival, _ state: inout State, _ effects: inout PlanEffects
    ) throws(State.Failure) {
        let recipient = try state.recipient(signal.recipient)
        var line = PlanLine(decision: .hello, recipient: signal.recipient, cause: arrival.position)
        guard let index = recipient.index(ofDevice: signal.device) else {
            if signal.hello != nil { effects.line(line) }
            return
        }
        let device = recipient.devices[index]
        var reading = signal.reading
        if reading.at == nil { reading.at = arrival.origin.at }
        effects.push(
            .signal(owner: signal.recipient, reading: reading, acks: signal.acks, hello: signal.hello != nil),
            to: device.address)
        guard let hello = signal.hello else { return }
        let known = hello.standings
        var ops = try leftovers(on: device.registration, hello, arrival, &state)
        ops += try snapshot(
            device.registration, knowing: known, isFirst: false, isAlerted: device.registration.dialect == .airship,
            arrival, &state)
        effects.push(ops, owner: signal.recipient, cause: arrival.position, to: device.address)
        line.ops = ops.map { PlanLine.PlannedOp(device: signal.device, kind: $0.kind, id: $0.id) }
        effects.line(line)
    }

    /// The creates that a device lacks: what is live, meant for its app, and new to what it knows of it.
    ///
    /// They are silent whatever their intents say: the app has just registered or said hello, so it runs and takes them;
    /// and where a create crossed that on its way, or another token brought it, an alert would ring a second time.
    /// `isAlerted`: the device's dialect has, or had, nothing but alerts, so any of them may have told.
    func snapshot<State: PlannerState>(
        _ registration: Registration, knowing known: [Bytes: Standing], isFirst: Bool, isAlerted: Bool,
        _ arrival: Arrival, _ state: inout State
    ) throws(State.Failure) -> [Op] {
        var creates: [Op] = []
        var (count, isCounted) = (Int64(0), false)
        for entry in try state.live(of: registration.recipient, at: arrival.now) {
            guard let mark = try state.mark(entry.id, of: registration.recipient), let live = mark.live,
                mark.takes(live, on: registration),
                try !isTakenBack(entry.id, mark, of: registration.recipient, arrival, &state)
            else { continue }
            count += 1
            isCounted = isCounted || live.content.hasCountedBadge
            var phone = known[entry.id] ?? Standing()
            guard phone.create(mark.standing.created) else { continue }
            var create = Op(creating: entry.id, mark.standing.created, live, isFirst: isFirst)
            create.mode = .silent
            create.isTold = isAlerted || live.mode != .silent
            creates.append(create)
        }
        // One for all: an op without it would make the address forget it.
        if isCounted { for index in creates.indices { creates[index].liveCount = count } }
        return creates
    }

    /// Whether an audience's notification is over, and the slice has not come yet that tells this holder.
    ///
    /// - Complexity: nothing is read but where the job of the id is unfinished.
    private func isTakenBack<State: PlannerState>(
        _ id: Bytes, _ mark: Mark, of recipient: Bytes, _ arrival: Arrival, _ state: inout State
    ) throws(State.Failure) -> Bool {
        guard try state.turns().contains(where: { $0.id == id }),
            let known = try audience(id, arrival.now, &state), known.mark.standing.deleted >= mark.standing.created
        else { return false }
        return try state.isHolder(recipient, of: id)
    }

    /// Deletes that answer one hello, so that its plan line fits a record; the next hello gets the rest.
    public static let helloDeletesMax = 256

    /// The deletes for what a device shows and should not: dealt with, expired, another app's, or unknown here.
    private func leftovers<State: PlannerState>(
        on registration: Registration, _ hello: Signal.Hello, _ arrival: Arrival, _ state: inout State
    ) throws(State.Failure) -> [Op] {
        var deletes: [Op] = []
        var seen: Set<Bytes> = []
        for entry in hello.shown where seen.insert(entry.id).inserted {
            let mark = try mark(entry.id, of: registration.recipient, arrival, &state)
            if let mark, let live = mark.live, live.expires > arrival.now, mark.takes(live, on: registration) {
                continue
            }
            let standing = mark?.standing ?? Standing()
            let through = max(standing.created, standing.deleted, entry.revision)
            deletes.append(Op(kind: .delete, id: entry.id, revision: through))
            if deletes.count == Self.helloDeletesMax { break }
        }
        return deletes
    }
}

extension Signal.Hello {
    /// What the phone knows of each notification.
    fileprivate var standings: [Bytes: Standing] {
        var known: [Bytes: Standing] = [:]
        for entry in shown { known[entry.id, default: Standing()].create(entry.revision) }
        for entry in gone { known[entry.id, default: Standing()].delete(through: entry.revision) }
        return known
    }
}
