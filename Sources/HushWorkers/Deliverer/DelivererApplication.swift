import HushAPNs
public import HushBase
import HushCore
public import HushStream

/// The deliverer as a stream application: one per slot, with a transport of its own that its tasks share.
///
/// Requests wait in the outbox until the transport has room; answers go to the task that sent, by their tag.
public final class DelivererApplication: StreamApplication {
    let configuration: DelivererConfiguration
    let reader = PushRecordReader()
    let metrics: DelivererMetrics
    /// By route.
    private(set) var breakers: [CredentialBreaker]
    /// By route, as of the last turn.
    private var credentialVersions: [UInt64]
    private let slot: Int
    private let transport: any PushTransport
    private var outbox: [PushRequest] = []
    private var flights: [Flight] = []
    private var freeFlights: [Int] = []
    private var answers: [PushAnswer] = []
    /// Tasks with more ops parked than they may.
    private var fullTasks = 0
    /// The slot was stopped: nothing leaves until a commit shows that the partitions are still ours.
    private var isHeld = false
    /// Commits until a transport that halted by itself may go on: the one under way may have been proved before.
    private var commitsUntilResume = 0

    /// A push from its decision to its answer; its tag is the generation and the place.
    private struct Flight {
        var task: DelivererTask?
        var entry: AddressEntry?
        var route = 0
        var generation: UInt32 = 0
    }

    public init(_ configuration: DelivererConfiguration, transport: any PushTransport) {
        self.configuration = configuration
        metrics = DelivererMetrics(configuration.metrics)
        self.transport = transport
        let routeCount = (configuration.routes.map(\.index).max() ?? -1) + 1
        breakers = Array(repeating: CredentialBreaker(), count: routeCount)
        credentialVersions = Array(repeating: 0, count: routeCount)
        slot = configuration.board.join()
    }

    deinit {
        configuration.board.leave(slot: slot)
    }

    public var wakeUps: [WakeUp] { [transport.wakeUp] }

    public func makeTask(partition: Int32) -> DelivererTask {
        DelivererTask(partition: partition, self)
    }

    public func turn(_ tasks: [Int32: (task: DelivererTask, context: TaskContext)]) {
        transport.drain(into: &answers)
        for answer in answers {
            guard let (task, entry, route) = land(answer.tag), !task.isClosed else { continue }
            let result = answer.outcome.result
            metrics.count(result)
            task.received(result, entry, route: route)
            tasks[task.partition]?.context.signal()
        }
        answers.removeAll(keepingCapacity: true)
        lookForNewCredentials(tasks)
        if transport.isHalted {
            if commitsUntilResume == 0 { commitsUntilResume = 2 }
            // A transaction without news still proves whose the partitions are.
            for (_, member) in tasks { member.context.signal() }
        }
        flush()
    }

    public var isSaturated: Bool { fullTasks > 0 || outbox.count >= transport.capacity }

    /// A task came to park more ops than it may, or fewer again.
    func parked(isFull: Bool) {
        fullTasks += isFull ? 1 : -1
    }

    public func wasFrozen() {
        isHeld = true
        transport.dropConnections()
    }

    public func letGo() {
        for request in outbox { free(place(request.tag)) }
        outbox.removeAll()
        // What the transport holds was taken from partitions that others may work on now.
        if flights.count > freeFlights.count { transport.dropConnections() }
        for place in flights.indices where flights[place].task != nil { free(place) }
    }

    /// A task's transaction is committed, and the slot holds nothing back.
    func committed() {
        isHeld = false
        if commitsUntilResume > 0 { commitsUntilResume -= 1 }
        if commitsUntilResume == 0, transport.isHalted { transport.resume() }
        flush()
    }

    /// Takes a push that may leave; it leaves with the next `flush` at the earliest. Returns its tag.
    func enqueue(_ push: OutgoingPush, _ task: DelivererTask, _ entry: AddressEntry, route: Int) -> UInt64 {
        let place: Int
        if let free = freeFlights.popLast() {
            place = free
        } else {
            place = flights.count
            flights.append(Flight())
        }
        flights[place].task = task
        flights[place].entry = entry
        flights[place].route = route
        flights[place].generation &+= 1
        let tag = UInt64(flights[place].generation) << 32 | UInt64(place + 1)
        outbox.append(
            PushRequest(
                tag: tag, route: route, token: push.token.raw, topic: push.app.raw,
                kind: push.isAlert ? .alert : .background, priority: push.priority,
                expiration: push.expires?.seconds, collapseID: push.collapseID?.raw, apnsID: push.apnsID,
                payload: push.payload))
        return tag
    }

    /// Takes back what a task has not sent yet; each is told as not sent.
    func withdraw(_ task: DelivererTask) {
        outbox.removeAll { request in
            guard flights[place(request.tag)].task === task else { return false }
            if let (task, entry, route) = land(request.tag) { task.received(.notSent, entry, route: route) }
            return true
        }
    }

    /// A push of a route was decided.
    func left(route: Int, _ now: Timestamp) {
        breakers[route].left(now)
    }

    /// What became of a push of a route: stops what goes out there, or lets it go on.
    func took(_ result: PushResult, isRefused: Bool, route: Int, _ now: Timestamp) {
        let wasClosed = breakers[route].isClosed
        let hasOpened = breakers[route].took(result, isRefused: isRefused, now)
        guard hasOpened || breakers[route].isClosed != wasClosed,
            let place = configuration.routes.first(where: { $0.index == route })?.place
        else { return }
        if hasOpened {
            let reason = breakers[route].reason(of: result)
            configuration.board.set(place, slot: slot, reason)
            configuration.log.warn(
                "APNs pushes are paused", ["credential": .text("\(place)"), "reason": .text(reason)])
        } else {
            configuration.board.set(place, slot: slot, nil)
            configuration.log.info("APNs pushes go on", ["credential": .text("\(place)")])
        }
    }

    /// A credential with new files is tried at once, not only when its pause is over.
    private func lookForNewCredentials(_ tasks: [Int32: (task: DelivererTask, context: TaskContext)]) {
        for route in breakers.indices {
            let version = transport.credentialVersion(route: route)
            if version == credentialVersions[route] { continue }
            credentialVersions[route] = version
            if breakers[route].isClosed { continue }
            breakers[route].mended(configuration.now())
            for (_, member) in tasks {
                member.task.credentialMended()
                member.context.signal()
            }
        }
    }

    private func flush() {
        if isHeld || outbox.isEmpty { return }
        let taken = transport.submit(outbox)
        metrics.sent.add(taken)
        if taken == outbox.count {
            outbox.removeAll(keepingCapacity: true)
        } else if taken > 0 {
            outbox.removeFirst(taken)
        }
    }

    private func place(_ tag: UInt64) -> Int { Int(tag & 0xffff_ffff) - 1 }

    /// The push of a tag, whose place is then free; nil for a tag that is not under way.
    private func land(_ tag: UInt64) -> (DelivererTask, AddressEntry, Int)? {
        let place = place(tag)
        guard flights.indices.contains(place), flights[place].generation == UInt32(tag >> 32),
            let task = flights[place].task, let entry = flights[place].entry
        else { return nil }
        free(place)
        return (task, entry, flights[place].route)
    }

    /// The generation stays, so that a late answer finds no later push.
    private func free(_ place: Int) {
        flights[place].task = nil
        flights[place].entry = nil
        freeFlights.append(place)
    }
}

extension PushAnswer.Outcome {
    /// The same in the core's words.
    fileprivate var result: PushResult {
        switch self {
        case .answered(let status, let reason, let retryAfterSeconds, let timestampMillis):
            .answered(
                status: status, reason: Bytes(reason), retryAfter: retryAfterSeconds.map { .seconds($0) },
                timestamp: timestampMillis.map(Timestamp.init(millis:)))
        case .notSent: .notSent
        case .unknown: .unknown
        }
    }
}
