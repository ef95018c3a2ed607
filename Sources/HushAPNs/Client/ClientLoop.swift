import HushBase
import Synchronization

/// One loop thread: takes requests, moves connections, hands answers back, all in batches. Made and used on its thread.
///
/// Each turn reads everything first, then opens streams, then writes once a connection: that is what makes frames
/// share system calls and TLS records.
final class ClientLoop {
    /// How often deadlines and silence are looked at while there is something to look after.
    static let tickInterval: Duration = .milliseconds(Int64(tickMillis))
    private static let tickMillis: Int32 = 50
    private static let idleMillis: Int32 = 1000
    private static let closingMillis: Int32 = 10
    static let readByteCount = 64 * 1024
    /// Connections that one loop opens at a time, of all its routes.
    static let connectsMax = 4

    /// The poller's tag of the wake-up; connections count from 1.
    private static let wakeUpTag: UInt64 = 0

    let index: Int
    let shared: ClientShared
    let inlets: LoopInlets
    let resolver: Resolver
    // Of one thread, and touched by every request.
    @exclusivity(unchecked) var routes: [RouteState]
    @exclusivity(unchecked) var answers: [PushAnswer] = []
    @exclusivity(unchecked) var counts = APNsCounts()
    var random = SystemRandomNumberGenerator()
    var nextTag: UInt64 = 1
    private var poller: Poller
    private let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ClientLoop.readByteCount, alignment: 16)
    private var ready: [(tag: UInt64, readiness: Readiness)] = []
    private var runs: [PushRun] = []
    private var replies: [Resolver.Reply] = []
    private var lastSeen = MonotonicTime.now()
    private var nextTick = MonotonicTime.now()
    private var dropsDone = 0
    private var wasHalted = false

    init(index: Int, shared: ClientShared, inlets: LoopInlets, resolver: Resolver) throws(SystemFault) {
        self.index = index
        self.shared = shared
        self.inlets = inlets
        self.resolver = resolver
        let now = MonotonicTime.now()
        routes = shared.routes.indices.map { RouteState(index: $0, shared: shared, at: now) }
        poller = try Poller()
        try poller.add(inlets.wakeUp.descriptor, for: .read, tag: Self.wakeUpTag)
    }

    deinit {
        readBuffer.deallocate()
    }

    /// Runs until the client is closed and all is answered.
    func run() {
        Sockets.blockBrokenPipeSignal()
        while true {
            let now = turn()
            guard shared.isClosing.load(ordering: .acquiring) else { continue }
            let isLate = now.nanos >= shared.closeAt.load(ordering: .acquiring)
            if isLate || (routes.allSatisfy(\.isIdle) && inlets.requests.count == 0) {
                finish(at: now)
                return
            }
        }
    }

    private func turn() -> MonotonicTime {
        ready.removeAll(keepingCapacity: true)
        // It may have stood still at any point of the turn before, not only while it waited.
        let begin = MonotonicTime.now()
        if mustDrop(at: begin) { dropAll(at: begin) }
        lastSeen = begin
        do {
            try poller.wait(atMostMillis: waitMillis) { ready.append(($0, $1)) }
        } catch {
            // Nothing but a closed epoll descriptor fails here; connections would never move again.
            preconditionFailure("\(error)")
        }
        var now = MonotonicTime.now()
        if mustDrop(at: now) { dropAll(at: now) }
        for event in ready where event.tag == Self.wakeUpTag { inlets.wakeUp.clear() }
        takeReplies(at: now)
        for event in ready where event.tag != Self.wakeUpTag { connectionReady(event.tag, at: now) }
        takeRequests()
        if now >= nextTick {
            tick(at: now)
            nextTick = now + Self.tickInterval
        }
        for route in routes.indices { dispatch(route, at: now) }
        now = MonotonicTime.now()
        flush(at: now)
        deliver()
        return now
    }

    private var waitMillis: Int32 {
        if shared.isClosing.load(ordering: .acquiring) { return Self.closingMillis }
        return routes.allSatisfy(\.isAsleep) ? Self.idleMillis : Self.tickMillis
    }

    // MARK: Stopped or told to drop

    private func mustDrop(at now: MonotonicTime) -> Bool {
        if wasStopped(at: now) {
            shared.isHalted.store(true, ordering: .sequentiallyConsistent)
            lastSeen = now
            report(.stopped, route: 0, "the process stood still: connections dropped, sending waits for resume")
            return true
        }
        let isHalted = shared.isHalted.load(ordering: .acquiring)
        defer { wasHalted = isHalted }
        return isHalted && !wasHalted || shared.drops.load(ordering: .acquiring) != dropsDone
    }

    private func wasStopped(at now: MonotonicTime) -> Bool {
        guard let limit = shared.configuration.stopLimit else { return false }
        return now - lastSeen > limit
    }

    /// Asked right before every write.
    func mayWrite() -> Bool {
        shared.drops.load(ordering: .acquiring) == dropsDone && !wasStopped(at: MonotonicTime.now())
    }

    private func dropAll(at now: MonotonicTime) {
        dropsDone = shared.drops.load(ordering: .acquiring)
        wasHalted = shared.isHalted.load(ordering: .acquiring)
        for route in routes.indices {
            for connection in routes[route].connections { end(connection, .dropped, at: now) }
            for push in routes[route].queue.takeAll() { answerNotSent(push) }
        }
        inlets.requests.takeAll(into: &runs)
        for run in runs {
            for place in run.range { answerNotSent(QueuedPush(run.batch, at: place)) }
        }
        runs.removeAll(keepingCapacity: true)
    }

    private func finish(at now: MonotonicTime) {
        for route in routes.indices {
            for connection in routes[route].connections {
                connection.io.sayGoodbye()
                end(connection, .dropped, at: now)
            }
        }
        dropAll(at: now)
        deliver()
    }

    // MARK: In and out

    private func takeRequests() {
        inlets.requests.takeAll(into: &runs)
        for run in runs {
            for place in run.range {
                let push = QueuedPush(run.batch, at: place)
                if let refusal = push.withRequest({ RequestCheck.refusal(of: $0) }) {
                    counts.refused += 1
                    answers.append(PushAnswer(tag: push.tag, outcome: refusal))
                } else {
                    routes[push.route].queue.append(push)
                }
            }
        }
        runs.removeAll(keepingCapacity: true)
    }

    private func takeReplies(at now: MonotonicTime) {
        inlets.resolved.takeAll(into: &replies)
        for reply in replies {
            switch reply.addresses {
            case .success(let addresses): connect(reply.route, to: addresses, at: now)
            case .failure(let fault): connectFailed(reply.route, fault.description, at: now)
            }
        }
    }

    private func deliver() {
        // First the counts, so that who has an answer finds it counted.
        shared.publish(counts, of: index)
        // There is room for the answer of every request taken: `held` counts both.
        shared.answers.offer(from: &answers)
    }

    func answerNotSent(_ push: QueuedPush) {
        counts.notSent += 1
        answers.append(PushAnswer(tag: push.tag, outcome: .notSent))
    }

    func report(_ kind: APNsEvent.Kind, route: Int, _ detail: String) {
        shared.configuration.onEvent?(APNsEvent(kind: kind, route: route, detail: detail))
    }

    // MARK: Descriptors

    private func connectionReady(_ tag: UInt64, at now: MonotonicTime) {
        // A connection that ended in this turn may still be among the events.
        guard let connection = connection(tagged: tag) else { return }
        if let fault = connection.io.ready(readBuffer, at: now) {
            end(connection, fault, at: now)
        } else {
            settle(connection, at: now)
        }
    }

    private func flush(at now: MonotonicTime) {
        for route in routes.indices {
            for connection in routes[route].connections {
                if let fault = connection.io.flush() {
                    if fault == .dropped {
                        if mustDrop(at: MonotonicTime.now()) { dropAll(at: now) }
                        return
                    }
                    end(connection, fault, at: now)
                } else {
                    settle(connection, at: now)
                }
            }
        }
    }

    /// Watches a connection, for what it waits for now.
    func watch(_ connection: LoopConnection) throws(SystemFault) {
        let interest = connection.io.channel.interest
        if connection.watched == interest { return }
        if connection.watched == nil {
            try poller.add(connection.io.channel.descriptor, for: interest, tag: connection.tag)
        } else {
            try poller.modify(connection.io.channel.descriptor, for: interest, tag: connection.tag)
        }
        connection.watched = interest
    }

    func unwatch(_ connection: LoopConnection) {
        guard connection.watched != nil else { return }
        connection.watched = nil
        do {
            try poller.remove(connection.io.channel.descriptor)
        } catch {
            // The descriptor is open until the connection goes, so it can be removed.
            preconditionFailure("\(error)")
        }
    }
}
