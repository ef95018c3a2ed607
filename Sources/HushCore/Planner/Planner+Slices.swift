/// Slices of audiences: walks over recipients in pieces, each of which joins a transaction of its own.
extension Planner {
    /// Takes the next slice of the job whose turn it is; nil where there is none.
    ///
    /// - Complexity: at most `Policy.sliceRowsMax` names passed and, but for a single recipient with more devices,
    ///   `Policy.sliceOpsMax` devices told. The effects must be empty.
    /// - Throws: what the state throws; its transaction must abort then.
    public func slice<State: PlannerState>(
        now: Timestamp, _ state: inout State, _ effects: inout PlanEffects
    ) throws(State.Failure) -> AudienceSlice? {
        guard let id = try state.turns().first?.id else { return nil }
        guard var job = try state.job(of: id), var known = try audience(id, now, &state) else {
            try state.setJob(nil, of: id, at: now)
            return nil
        }
        if known.expire(at: now) { try state.setAudience(known, id) }
        let standing = known.mark.standing
        var slice = AudienceSlice(
            id: id, revision: standing.isShown ? standing.created : standing.deleted,
            cause: Position(topic: .fanout, partition: 0, offset: 0), after: nil, through: nil, recipients: 0,
            isLast: true)
        if let walk = job.telling {
            slice.cause = walk.cause
            slice.after = walk.after
            try tellHolders(known, &slice, now, &state, &effects)
            job.telling = slice.isLast ? nil : AudienceJob.Walk(cause: walk.cause, after: slice.through)
        } else if let walk = job.evaluation, let audience = job.audience {
            slice.cause = walk.cause
            slice.after = walk.after
            try evaluate(audience, app: job.app, known, &slice, now, &state, &effects)
            job.evaluation = slice.isLast ? nil : AudienceJob.Walk(cause: walk.cause, after: slice.through)
            if slice.isLast { job.audience = nil }
        }
        if !job.isDone { job.turn = try nextTurn(&state) }
        try state.setJob(job.isDone ? nil : job, of: id, at: now)
        return slice
    }

    /// Asks the next recipients for their tags, and gives the notification to those who have a device that matches.
    private func evaluate<State: PlannerState>(
        _ audience: Audience, app: Bytes?, _ known: AudienceMark, _ slice: inout AudienceSlice, _ now: Timestamp,
        _ state: inout State, _ effects: inout PlanEffects
    ) throws(State.Failure) {
        let rowsMax = max(policy.sliceRowsMax, 1)
        var rows = 0
        var ops = 0
        slice.isLast = false
        while rows < rowsMax {
            // Hardly more than the ops have room for; what is read beyond is read again by the next slice.
            let countMax = min(rowsMax - rows, max(policy.sliceOpsMax - ops, 16))
            let next = try state.recipients(after: slice.through ?? slice.after, countMax: countMax)
            for row in next {
                let choice = row.recipient.choice(audience, app: app)
                if ops > 0, ops + choice.matching > policy.sliceOpsMax { return }
                slice.through = row.name
                rows += 1
                guard choice.matching > 0 else { continue }
                ops += choice.matching
                slice.recipients += 1
                try reach(
                    row.name, slice.id, known, excluding: choice.excluded, Arrival(slice, now), &state, &effects)
            }
            if next.count < countMax {
                slice.isLast = true
                return
            }
        }
    }

    /// Tells the next of those who hold the notification how it stands now.
    private func tellHolders<State: PlannerState>(
        _ known: AudienceMark, _ slice: inout AudienceSlice, _ now: Timestamp, _ state: inout State,
        _ effects: inout PlanEffects
    ) throws(State.Failure) {
        let countMax = max(policy.sliceOpsMax, 1)
        let next = try state.holders(of: slice.id, after: slice.after, countMax: countMax)
        slice.isLast = next.count < countMax
        for name in next {
            if effects.pushes.count >= countMax {
                slice.isLast = false
                break
            }
            slice.through = name
            guard try mark(slice.id, of: name, Arrival(slice, now), &state) != nil else { continue }
            try reach(name, slice.id, known, excluding: nil, Arrival(slice, now), &state, &effects)
            slice.recipients += 1
        }
    }

    /// Brings one recipient to where the audience's notification stands; nothing where they are there already.
    private func reach<State: PlannerState>(
        _ name: Bytes, _ id: Bytes, _ known: AudienceMark, excluding excluded: [Bytes]?, _ arrival: Arrival,
        _ state: inout State, _ effects: inout PlanEffects
    ) throws(State.Failure) {
        let standing = known.mark.standing
        var mark = try mark(id, of: name, arrival, &state) ?? Mark(touched: arrival.now)
        let before = mark
        let isNew = mark.standing.create(standing.created)
        mark.standing.delete(through: standing.deleted)
        if mark.standing.created > before.standing.created {
            mark.digest = known.mark.digest
            // Who was chosen once stays so, whatever became of their tags: an update leaves out nobody anew.
            if let excluded {
                let wasChosen = before.standing.created > 0 ? try state.isHolder(name, of: id) : false
                mark.excluded = wasChosen ? before.excluded.filter(excluded.contains) : excluded
            }
        }
        try state.addHolder(name, of: id, at: arrival.now)
        guard mark.standing != before.standing else { return }
        mark.touched = arrival.now
        if !mark.standing.isShown {
            mark.live = nil
        } else if isNew, var live = known.mark.live {
            live.planned = PlanOrder(at: arrival.now, offset: arrival.position.offset)
            mark.live = live
        }
        try state.setMark(mark, id, of: name)
        let intent = Intent(id: id, recipient: name, body: .retract)
        if isNew, mark.standing.isShown {
            try announce(intent, mark, before, arrival, &state, &effects)
            try evict(name, arrival, &state, &effects)
        } else if before.live != nil, mark.live == nil {
            try takeOff(id, through: standing.deleted, before, as: .retracted, of: intent, arrival, &state, &effects)
        }
    }
}

// MARK: registers meanwhile

extension Planner {
    /// A register came of someone whom a walk has passed: as long as it lasts they are asked again.
    ///
    /// - Complexity: one row read for each job that asks for tags; as a rule there is none.
    func askAgain<State: PlannerState>(
        _ recipient: Recipient, _ name: Bytes, _ arrival: Arrival, _ state: inout State, _ effects: inout PlanEffects
    ) throws(State.Failure) {
        for id in try state.turns().lazy.filter(\.isAsking).map(\.id) {
            guard let job = try state.job(of: id), let audience = job.audience, let passed = job.evaluation?.after,
                !(passed < name), var known = try self.audience(id, arrival.now, &state)
            else { continue }
            let choice = recipient.choice(audience, app: job.app)
            guard choice.matching > 0 else { continue }
            known.expire(at: arrival.now)
            try reach(name, id, known, excluding: choice.excluded, arrival, &state, &effects)
            try admit(recipient, name, id, audience, arrival, &state, &effects)
        }
    }

    /// Devices that were left out, and match now, take what their owner holds.
    private func admit<State: PlannerState>(
        _ recipient: Recipient, _ name: Bytes, _ id: Bytes, _ audience: Audience, _ arrival: Arrival,
        _ state: inout State, _ effects: inout PlanEffects
    ) throws(State.Failure) {
        guard var mark = try mark(id, of: name, arrival, &state), !mark.excluded.isEmpty else { return }
        let admitted = recipient.devices.filter { device in
            mark.excluded.contains(device.registration.device) && audience.matches(device.registration.tags)
        }
        guard !admitted.isEmpty else { return }
        mark.excluded.removeAll { device in admitted.contains { $0.registration.device == device } }
        try state.setMark(mark, id, of: name)
        guard let live = mark.live, live.expires > arrival.now else { return }
        let revision = mark.standing.created
        let ops = try send(
            Op(creating: id, revision, live, isFirst: false), of: mark, to: Recipient(devices: admitted), named: name,
            arrival, &state, &effects)
        effects.line(
            PlanLine(
                decision: .planned, recipient: name, id: id, revision: revision, ops: ops, cause: arrival.position))
    }
}

extension Arrival {
    /// What a slice plans comes of the record that asked for it, at the task's time.
    fileprivate init(_ slice: AudienceSlice, _ now: Timestamp) {
        self.init(position: slice.cause, appended: now, now: now)
    }
}

extension AudienceMark {
    /// Notes that its life is over; true where it was not before. How long it is remembered counts from the last record
    /// all the same, whenever a slice came to notice.
    @discardableResult
    fileprivate mutating func expire(at now: Timestamp) -> Bool {
        guard let live = mark.live, live.expires <= now else { return false }
        mark.delete(through: mark.standing.created, at: mark.touched)
        return true
    }
}

extension Recipient {
    /// How many devices an audience's notification goes to, and which it leaves out though its app has them.
    fileprivate func choice(_ audience: Audience, app: Bytes?) -> (matching: Int, excluded: [Bytes]) {
        var matching = 0
        var excluded: [Bytes] = []
        for index in devices.indices where app == nil || devices[index].registration.app == app {
            if audience.matches(devices[index].registration.tags) {
                matching += 1
            } else {
                excluded.append(devices[index].registration.device)
            }
        }
        return (matching, excluded)
    }
}
