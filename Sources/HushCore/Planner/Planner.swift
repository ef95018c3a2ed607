/// When and where a record came in.
public struct Arrival: Hashable, Sendable {
    /// Where it stands; the cause of what follows.
    public var position: Position
    /// Its append time and place; those of the original where it was re-keyed, so that a detour changes no order.
    public var origin: BindingVersion
    /// The planner's time: the highest append time its task has seen.
    public var now: Timestamp

    @inlinable
    public init(position: Position, origin: BindingVersion, now: Timestamp) {
        self.position = position
        self.origin = origin
        self.now = now
    }

    /// A record that came straight here.
    @inlinable
    public init(position: Position, appended: Timestamp, now: Timestamp) {
        let origin = BindingVersion(at: appended, partition: position.partition, offset: position.offset)
        self.init(position: position, origin: origin, now: now)
    }
}

/// The planner's rules: the one writer of what is live, as a pure function of state and record.
///
/// What intents run through is inlinable, so that it is compiled for the state it works on; the rest is rare.
///
/// Every record of intents, reads and devices, and every hello, gets exactly one plan line for each id it names; an id
/// that it evicts, or that an unfinished audience brings its devices, gets one too.
public struct Planner: Hashable, Sendable {
    public var policy: Policy { didSet { self = Planner(policy: policy) } }
    // In milliseconds, for a `Duration` is 128 bits wide and a record asks for them several times.
    @usableFromInline let dedupeWindowMillis: Int64
    @usableFromInline let lifeDefaultMillis: Int64
    @usableFromInline let lifeMaxMillis: Int64
    /// How long a mark is remembered after its last change; nothing may drop one earlier.
    public let markLifeMillis: Int64

    public init(policy: Policy = Policy()) {
        self.policy = policy
        dedupeWindowMillis = policy.dedupeWindow.wholeMillis
        lifeDefaultMillis = policy.lifeDefault.wholeMillis
        lifeMaxMillis = policy.lifeMax.wholeMillis
        markLifeMillis = (policy.dedupeWindow + policy.dedupeGrace).wholeMillis
    }

    /// Takes one record in: changes the state, and appends to the effects.
    ///
    /// - Complexity: of an intent, one mark read and written and one push per device.
    /// - Throws: what the state throws; the step has then happened in part, and its transaction must abort.
    @inlinable
    public func step<State: PlannerState>(
        _ event: PlannerEvent, _ arrival: Arrival, _ state: inout State, _ effects: inout PlanEffects
    ) throws(State.Failure) {
        switch event {
        case .intent(let intent):
            switch intent.body {
            case .show(let content): try show(intent, content, arrival, &state, &effects)
            case .retract: try retract(intent, arrival, &state, &effects)
            }
        case .read(let read): try take(read, arrival, &state, &effects)
        case .register(let registration): try register(registration, arrival, &state, &effects)
        case .unregister(let unregistration): try unregister(unregistration, arrival, &state, &effects)
        case .signal(let signal): try take(signal, arrival, &state, &effects)
        case .audience(let addressed): try take(addressed, arrival, &state, &effects)
        }
    }

    /// The mark that still counts: one past its life is as good as gone, whether or not the store has dropped it yet,
    /// so that a replay decides the same.
    @inlinable
    func mark<State: PlannerState>(
        _ id: Bytes, of recipient: Bytes, _ arrival: Arrival, _ state: inout State
    ) throws(State.Failure) -> Mark? {
        guard let mark = try state.mark(id, of: recipient),
            mark.touched >= arrival.now.subtracting(millis: markLifeMillis)
        else { return nil }
        return mark
    }
}
