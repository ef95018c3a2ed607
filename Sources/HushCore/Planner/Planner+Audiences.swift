/// Audience intents: each partition gets a copy, keeps what it says as one mark, and reaches its recipients in slices.
///
/// The tags are asked once. Whoever is chosen then holds the notification by a mark like any other, which makes reads,
/// expiry, eviction, binds and hellos work on it, and updates and retracts go to those who hold it.
extension Planner {
    /// The copy of an audience intent that is this partition's: decides what it means, and leaves the work to slices.
    @usableFromInline
    func take<State: PlannerState>(
        _ addressed: AudienceIntent, _ arrival: Arrival, _ state: inout State, _ effects: inout PlanEffects
    ) throws(State.Failure) {
        let intent = addressed.intent
        let created = min(intent.created ?? arrival.origin.at, arrival.now)
        let isStale = isStale(created, arrival.now)
        let decision: (PlanDecision, revision: Int64?)
        switch intent.body {
        case .show where isStale: decision = (.stale, intent.revision ?? 1)
        case .retract where isStale: decision = (.stale, intent.revision)
        case .show(let content): decision = try show(addressed, content, created, arrival, &state)
        case .retract: decision = (try retract(intent, arrival, &state), intent.revision)
        }
        effects.line(
            PlanLine(
                decision: decision.0, recipient: Bytes([]), id: intent.id, revision: decision.revision,
                cause: arrival.position))
    }

    /// Whether a partition may take in its copy of an audience intent. One that would have it ask for tags anew must
    /// wait for room as a dead letter; updates, retracts and repeats of what is known always may.
    public func hasRoom<State: PlannerState>(
        for addressed: AudienceIntent, now: Timestamp, _ state: inout State
    ) throws(State.Failure) -> Bool {
        guard addressed.audience != nil else { return true }
        if try state.turns().count(where: \.isAsking) < max(policy.audiencesMax, 1) { return true }
        return try audience(addressed.intent.id, now, &state)?.isEvaluated ?? false
    }

    private func show<State: PlannerState>(
        _ addressed: AudienceIntent, _ content: Content, _ created: Timestamp, _ arrival: Arrival,
        _ state: inout State
    ) throws(State.Failure) -> (PlanDecision, revision: Int64?) {
        let intent = addressed.intent
        let revision = intent.revision ?? 1
        var known = try audience(intent.id, arrival.now, &state) ?? AudienceMark(mark: Mark(touched: arrival.now))
        let before = known.mark.standing
        let digest = addressed.digest(content)
        let evaluates = addressed.audience != nil && !known.isEvaluated && before.deleted < Standing.everyRevision
        if revision == before.created { return (digest == known.mark.digest ? .duplicate : .conflict, revision) }
        if revision < before.created {
            // An update that names nobody came before this one, which does: now it has somebody to go to.
            guard evaluates else { return (.superseded, revision) }
            try begin(addressed, evaluates: true, tells: false, &known, arrival, &state)
            return (.planned, before.created)
        }
        let isNew = known.mark.standing.create(revision)
        known.mark.digest = digest
        known.mark.touched = arrival.now
        let expires = expiry(of: intent, created: created)
        let isAlive = expires > arrival.now
        if isNew, isAlive {
            known.mark.live = LiveNotification(
                content: content, expires: expires, notBefore: intent.notBefore, mode: intent.mode,
                urgent: intent.urgent, app: intent.app,
                planned: PlanOrder(at: arrival.now, offset: arrival.position.offset))
        } else if isNew {
            known.mark.delete(through: revision, at: arrival.now)
        }
        // What is over when it comes asks nobody, so that a later revision still can.
        try begin(
            addressed, evaluates: evaluates && (isAlive || !isNew), tells: known.isEvaluated, &known, arrival, &state)
        if !isNew { return (.suppressed, revision) }
        if !isAlive { return (.expired, revision) }
        if evaluates { return (.planned, revision) }
        return (known.isEvaluated ? .updated : .waiting, revision)
    }

    private func retract<State: PlannerState>(
        _ intent: Intent, _ arrival: Arrival, _ state: inout State
    ) throws(State.Failure) -> PlanDecision {
        let through = intent.revision ?? Standing.everyRevision
        var known = try audience(intent.id, arrival.now, &state) ?? AudienceMark(mark: Mark(touched: arrival.now))
        if through <= known.mark.standing.deleted { return .duplicate }
        known.mark.delete(through: through, at: arrival.now)
        let addressed = AudienceIntent(intent: intent, audience: nil)
        try begin(addressed, evaluates: false, tells: known.isEvaluated, &known, arrival, &state)
        return known.mark.standing.isShown ? .superseded : .retracted
    }

    /// Keeps the mark, and makes or changes the job that it asks for.
    private func begin<State: PlannerState>(
        _ addressed: AudienceIntent, evaluates: Bool, tells: Bool, _ known: inout AudienceMark, _ arrival: Arrival,
        _ state: inout State
    ) throws(State.Failure) {
        let id = addressed.intent.id
        if evaluates { known.isEvaluated = true }
        try state.setAudience(known, id)
        let turn = try nextTurn(&state)
        var job = try state.job(of: id) ?? AudienceJob(turn: turn)
        if evaluates {
            job.evaluation = AudienceJob.Walk(cause: arrival.position)
            job.audience = addressed.audience
            job.app = addressed.intent.app
        }
        // After this nothing can show any more, so nobody else need be found.
        if known.mark.standing.deleted == Standing.everyRevision {
            job.evaluation = nil
            job.audience = nil
        }
        if tells { job.telling = AudienceJob.Walk(cause: arrival.position) }
        try state.setJob(job.isDone ? nil : job, of: id, at: arrival.now)
    }

    func nextTurn<State: PlannerState>(_ state: inout State) throws(State.Failure) -> Int64 {
        (try state.turns().last?.turn ?? 0) + 1
    }

    /// What is known of an audience, as `mark` of a recipient's notification.
    func audience<State: PlannerState>(
        _ id: Bytes, _ now: Timestamp, _ state: inout State
    ) throws(State.Failure) -> AudienceMark? {
        guard let known = try state.audience(id),
            known.mark.touched >= now.subtracting(millis: markLifeMillis)
        else { return nil }
        return known
    }
}

extension AudienceIntent {
    /// As of an intent; the first revision is the one that asks for tags, so other tags there are another wish.
    fileprivate func digest(_ content: Content) -> UInt64 {
        var hash = Fingerprint()
        hash.update(intent.digest(content))
        if let audience, (intent.revision ?? 1) == 1 {
            for tags in [audience.all, audience.any, audience.none] {
                hash.update(UInt64(tags.count))
                for tag in tags { hash.update(tag.raw) }
            }
        }
        return hash.value
    }
}
