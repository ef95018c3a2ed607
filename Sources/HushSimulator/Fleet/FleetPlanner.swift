import HushCore

/// The planner of one person: the rules on state in memory, with transactions that may abort.
struct FleetPlanner {
    private struct Waiting {
        var event: PlannerEvent
        var arrival: Arrival
    }

    let name: Bytes
    private let planner: Planner
    private let partition: Int32
    private var state = MemoryPlannerState()
    private var waiting: [Waiting] = []
    private var offset: Int64 = 0
    private var now = Timestamp.distantPast
    private var effects = PlanEffects()
    /// Whether an event of the queue will let it work.
    var isScheduled = false
    /// It stands still until then.
    var standsUntil = Timestamp.distantPast
    /// Records of `hush.devices` do not come before then: topics keep no order among each other.
    var devicesUntil = Timestamp.distantPast

    init(name: Bytes, partition: Int32, policy: Policy) {
        self.name = name
        self.partition = partition
        planner = Planner(policy: policy)
    }

    var isIdle: Bool { waiting.isEmpty }

    /// Whether there is something that it may take.
    func hasWork(_ now: Timestamp) -> Bool { waiting.contains { !isLate($0, now) } }

    private func isLate(_ waiting: Waiting, _ now: Timestamp) -> Bool {
        waiting.arrival.position.topic == .devices && now < devicesUntil
    }

    /// Appends a record to a topic of the person's.
    mutating func append(_ event: PlannerEvent, to topic: InputTopic, at: Timestamp) {
        let position = Position(topic: topic, partition: partition, offset: offset)
        offset += 1
        waiting.append(Waiting(event: event, arrival: Arrival(position: position, appended: at, now: at)))
    }

    /// Takes what has come in one transaction; `commit` gets what goes to each address. An abort leaves all as it was.
    mutating func work(_ at: Timestamp, isAborted: Bool, commit: (Address, PushRecord) -> Void) {
        let before = isAborted ? state : nil
        let start = now
        for waiting in waiting where !isLate(waiting, at) {
            now = max(now, waiting.arrival.origin.at)
            effects.removeAll()
            var arrival = waiting.arrival
            arrival.now = now
            planner.step(waiting.event, arrival, &state, &effects)
            if isAborted { continue }
            for push in effects.pushes { commit(push.address, push.record) }
        }
        if let before {
            (state, now) = (before, start)
        } else {
            waiting = waiting.filter { isLate($0, at) }
        }
    }
}
