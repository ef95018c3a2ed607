extension Planner {
    /// A create or an update.
    @inlinable
    func show<State: PlannerState>(
        _ intent: Intent, _ content: Content, _ arrival: Arrival, _ state: inout State, _ effects: inout PlanEffects
    ) throws(State.Failure) {
        let revision = intent.revision ?? 1
        func drop(_ decision: PlanDecision) {
            effects.line(intent.line(decision, revision, arrival))
        }
        // A sender's clock that runs ahead must not lengthen a life beyond the window.
        let created = min(intent.created ?? arrival.origin.at, arrival.now)
        if isStale(created, arrival.now) { return drop(.stale) }
        let known = try mark(intent.id, of: intent.recipient, arrival, &state)
        var mark = known ?? Mark(touched: arrival.now)
        let digest = intent.digest(content)
        if revision < mark.standing.created { return drop(.superseded) }
        if revision == mark.standing.created { return drop(digest == mark.digest ? .duplicate : .conflict) }

        let before = mark
        let isNew = mark.standing.create(revision)
        mark.digest = digest
        mark.touched = arrival.now
        guard isNew else {
            try state.setMark(mark, intent.id, of: intent.recipient)
            return drop(.suppressed)
        }
        let expires = expiry(of: intent, created: created)
        guard expires > arrival.now else {
            mark.standing.delete(through: revision)
            mark.live = nil
            try state.setMark(mark, intent.id, of: intent.recipient)
            return try takeOff(
                intent.id, through: revision, before, as: .expired, of: intent, arrival, &state, &effects)
        }
        mark.live = LiveNotification(
            content: content, expires: expires, notBefore: intent.notBefore, mode: intent.mode, urgent: intent.urgent,
            app: intent.app, planned: PlanOrder(at: arrival.now, offset: arrival.position.offset))
        try state.setMark(mark, intent.id, of: intent.recipient)
        try announce(intent, mark, before, arrival, &state, &effects)
        try evict(intent.recipient, arrival, &state, &effects)
    }

    /// The sender takes a notification back: every revision, unless it names one.
    @inlinable
    func retract<State: PlannerState>(
        _ intent: Intent, _ arrival: Arrival, _ state: inout State, _ effects: inout PlanEffects
    ) throws(State.Failure) {
        let created = intent.created ?? arrival.origin.at
        if isStale(created, arrival.now) {
            return effects.line(intent.line(.stale, intent.revision, arrival))
        }
        let through = intent.revision ?? Standing.everyRevision
        var mark = try mark(intent.id, of: intent.recipient, arrival, &state) ?? Mark(touched: arrival.now)
        if through <= mark.standing.deleted {
            return effects.line(intent.line(.duplicate, intent.revision, arrival))
        }
        let before = mark
        mark.delete(through: through, at: arrival.now)
        try state.setMark(mark, intent.id, of: intent.recipient)
        if mark.standing.isShown {
            return effects.line(intent.line(.superseded, intent.revision, arrival))
        }
        try takeOff(intent.id, through: through, before, as: .retracted, of: intent, arrival, &state, &effects)
    }

    /// Created before the dedupe window: whether its id was there already may be forgotten.
    @inlinable
    func isStale(_ created: Timestamp, _ now: Timestamp) -> Bool {
        created < now.subtracting(millis: dedupeWindowMillis)
    }

    /// What an intent comes to for its age alone, `stale` or `expired`, whatever the state holds; nil where it is young
    /// enough. `origin` is when its record was first appended.
    public func tooLate(_ intent: Intent, origin: Timestamp, now: Timestamp) -> PlanDecision? {
        let created = min(intent.created ?? origin, now)
        if isStale(created, now) { return .stale }
        guard case .show = intent.body else { return nil }
        return expiry(of: intent, created: created) > now ? nil : .expired
    }

    @inlinable
    func expiry(of intent: Intent, created: Timestamp) -> Timestamp {
        let latest = created.adding(millis: lifeMaxMillis)
        switch intent.expiry {
        case nil: return created.adding(millis: lifeDefaultMillis)
        case .at(let time): return min(time, latest)
        case .after(let life): return min(created + life, latest)
        }
    }

    /// The create for every device it is meant for, and the delete for those the revision before was meant for.
    @inlinable
    func announce<State: PlannerState>(
        _ intent: Intent, _ mark: Mark, _ before: Mark, _ arrival: Arrival, _ state: inout State,
        _ effects: inout PlanEffects
    ) throws(State.Failure) {
        guard let live = mark.live else { return }
        let isFirst = before.standing.created == 0
        let recipient = try state.recipient(intent.recipient)
        let create = [Op(creating: intent.id, mark.standing.created, live, isFirst: isFirst)]
        let record = PushRecord.ops(owner: intent.recipient, ops: create, cause: arrival.position)
        let isCounted = live.content.hasCountedBadge
        var line = intent.line(isFirst ? .planned : .updated, mark.standing.created, arrival)
        line.ops.reserveCapacity(recipient.devices.count)
        var isReached = false
        var repeatsPrevious = false
        // By index: to iterate would copy each device with all its fields.
        for index in recipient.devices.indices {
            let address = recipient.devices[index].address
            let device = recipient.devices[index].registration.device
            if mark.takes(live, on: recipient.devices[index].registration) {
                if isCounted {
                    var counted = create
                    counted[0].liveCount = try liveCount(
                        on: recipient.devices[index].registration, arrival, &state)
                    effects.push(counted, owner: intent.recipient, cause: arrival.position, to: address)
                } else {
                    effects.push(record, to: address, repeatsPrevious: repeatsPrevious)
                }
                line.ops.append(PlanLine.PlannedOp(device: device, kind: .create))
                isReached = true
                repeatsPrevious = true
            } else if let old = before.live, before.takes(old, on: recipient.devices[index].registration) {
                var delete = [Op(kind: .delete, id: intent.id, revision: mark.standing.created)]
                if old.content.hasAutomaticBadge {
                    delete[0].liveCount = try liveCount(
                        on: recipient.devices[index].registration, arrival, &state)
                }
                effects.push(delete, owner: intent.recipient, cause: arrival.position, to: address)
                line.ops.append(PlanLine.PlannedOp(device: device, kind: .delete))
                repeatsPrevious = false
            }
        }
        if !isReached { line.decision = .waiting }
        effects.line(line)
    }

    /// The delete for every device that may show what stood `before`, and the intent's line.
    @inlinable
    func takeOff<State: PlannerState>(
        _ id: Bytes, through revision: Int64, _ before: Mark, as decision: PlanDecision, of intent: Intent,
        _ arrival: Arrival, _ state: inout State, _ effects: inout PlanEffects
    ) throws(State.Failure) {
        let given = decision == .expired ? revision : intent.revision
        var line = intent.line(decision, given, arrival)
        if before.live != nil {
            let recipient = try state.recipient(intent.recipient)
            let delete = Op(kind: .delete, id: id, revision: revision)
            line.ops = try send(delete, of: before, to: recipient, named: intent.recipient, arrival, &state, &effects)
        }
        effects.line(line)
    }

    /// Above the limit of live notifications the oldest go, quietly: a screen that still has room for them lost nothing.
    @inlinable
    func evict<State: PlannerState>(
        _ name: Bytes, _ arrival: Arrival, _ state: inout State, _ effects: inout PlanEffects
    ) throws(State.Failure) {
        let excess = try state.live(of: name, at: arrival.now).count - policy.livePerRecipientMax
        guard excess > 0 else { return }
        let recipient = try state.recipient(name)
        for entry in try state.live(of: name, at: arrival.now).prefix(excess) {
            guard let before = try state.mark(entry.id, of: name), before.live != nil else { continue }
            var mark = before
            let revision = mark.standing.created
            mark.delete(through: revision, at: arrival.now)
            try state.setMark(mark, entry.id, of: name)
            let delete = Op(kind: .delete, id: entry.id, revision: revision, quiet: true)
            let ops = try send(delete, of: before, to: recipient, named: name, arrival, &state, &effects)
            effects.line(
                PlanLine(
                    decision: .evicted, recipient: name, id: entry.id, revision: revision, ops: ops,
                    cause: arrival.position))
        }
    }
}

extension Mark {
    /// Takes in a delete, and lets the content go where nothing stands any more.
    @inlinable
    mutating func delete(through revision: Int64, at now: Timestamp) {
        standing.delete(through: revision)
        if !standing.isShown { live = nil }
        touched = now
    }
}

extension Intent {
    @usableFromInline
    func line(_ decision: PlanDecision, _ revision: Int64?, _ arrival: Arrival) -> PlanLine {
        PlanLine(decision: decision, recipient: recipient, id: id, revision: revision, cause: arrival.position)
    }
}

extension Op {
    @usableFromInline
    init(creating id: Bytes, _ revision: Int64, _ live: LiveNotification, isFirst: Bool) {
        self.init(
            kind: .create, id: id, revision: revision, first: isFirst, urgent: live.urgent, mode: live.mode,
            notBefore: live.notBefore, expires: live.expires, content: live.content)
    }
}
