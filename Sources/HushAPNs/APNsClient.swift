public import HushBase
private import Synchronization

/// Sends pushes to APNs over connections of its own, on threads of its own; requests and answers cross in batches.
///
/// Every request that `submit` took gets exactly one answer, at the latest about 50 ms after its deadline. The client resends
/// only what APNs certainly did not take (GOAWAY, REFUSED_STREAM, an expired token, a connection that broke before the
/// request was written); everything else is the caller's to repeat. Of any thread; one at a time drains.
public final class APNsClient: Sendable {
    private let shared: ClientShared
    private let inlets: [LoopInlets]
    private let threads: [NamedThread]
    private let resolver: Resolver

    /// Checks the configuration and its files, and starts the threads; connections open with the first requests.
    /// - Throws: `APNsConfigurationFault`, which names what to mend.
    public init(_ configuration: APNsConfiguration) throws {
        try configuration.checkNumbers()
        let routes = try RouteContext.all(of: configuration, atSeconds: WallClock.nowMillis() / 1000)
        let shared = try ClientShared(configuration: configuration, routes: routes)
        let inlets = try (0..<configuration.threads).map { _ in try LoopInlets(configuration: configuration) }
        let resolver = try Resolver(configuration) { [onEvent = configuration.onEvent] change, routes in
            for route in routes {
                switch change {
                case .renewed(let files):
                    onEvent?(APNsEvent(kind: .credentialRenewed, route: route, detail: files))
                case .bad(let reason): onEvent?(APNsEvent(kind: .credentialBad, route: route, detail: reason))
                }
            }
        }
        self.shared = shared
        self.inlets = inlets
        self.resolver = resolver
        try resolver.start(replies: inlets.map(\.resolved), routes: routes)
        threads = try inlets.indices.map { index in
            try NamedThread.start(name: "apns-\(index)") {
                do {
                    try ClientLoop(index: index, shared: shared, inlets: inlets[index], resolver: resolver).run()
                } catch {
                    // Only the process's limit of descriptors fails here, at start.
                    preconditionFailure("the APNs loop cannot start: \(error)")
                }
            }
        }
    }

    deinit {
        close(deadline: .zero)
    }

    /// Takes the first requests of a batch, as many as there is room for, in order; returns how many.
    ///
    /// 0 where the client is full, halted or closed: then try again after `drain` or `resume`.
    public func submit(_ batch: [PushRequest]) -> Int {
        if batch.isEmpty || isHalted || shared.isClosing.load(ordering: .acquiring) { return 0 }
        let taken = shared.reserve(batch.count)
        if taken == 0 { return 0 }
        for index in 0..<taken {
            precondition(
                shared.routes.indices.contains(batch[index].route), "there is no route \(batch[index].route)")
        }
        // A part is copied, so that the caller can remove it from what is his alone.
        let requests = taken == batch.count ? batch : Array(batch[..<taken])
        let pushes = PushBatch(requests, deadline: MonotonicTime.now() + shared.configuration.requestDeadline)
        let share = (taken + inlets.count - 1) / inlets.count
        for (index, inlet) in inlets.enumerated() {
            let range = min(index * share, taken)..<min((index + 1) * share, taken)
            // There is room: a run has at least one of the requests that room is reserved for.
            if !range.isEmpty { _ = inlet.requests.offer(PushRun(batch: pushes, range: range)) }
        }
        return taken
    }

    /// Takes all answers that are there into `answers`, whose own elements are dropped.
    ///
    /// Clears `wakeUp` first, so an answer that comes meanwhile signals it again.
    public func drain(into answers: inout [PushAnswer]) {
        shared.answersReady.clear()
        shared.answers.takeAll(into: &answers)
        shared.held.subtract(answers.count, ordering: .acquiringAndReleasing)
    }

    /// Signalled when answers wait: for the caller's poller.
    public var wakeUp: WakeUp { shared.answersReady }

    /// Requests taken whose answers are not drained yet.
    public var inFlight: Int { shared.held.load(ordering: .acquiring) }

    public var capacity: Int { shared.configuration.queueCapacity }

    /// For a sender that was stopped: closes all connections without another byte. What waits is answered `notSent`, what
    /// was written `unknown`. The client goes on with new requests.
    public func dropConnections() {
        shared.drops.add(1, ordering: .acquiringAndReleasing)
        for inlet in inlets { inlet.wakeUp.signal() }
    }

    /// Whether the client found by itself that the process stood still (`stopLimit`) and refuses requests.
    public var isHalted: Bool { shared.isHalted.load(ordering: .acquiring) }

    /// Takes requests again after a halt; for the caller to say once it knows that it still owns what it sends.
    public func resume() {
        shared.isHalted.store(false, ordering: .releasing)
    }

    /// Counts how often the files of a route's credential changed and were taken.
    public func credentialVersion(route: Int) -> UInt64 {
        shared.routes[route].credentialVersion.load(ordering: .acquiring)
    }

    /// What the client has done since it began.
    public var counts: APNsCounts { shared.totalCounts }

    /// Takes no more requests, waits for answers up to `deadline`, says goodbye and ends the threads. Then what was not
    /// answered is `notSent` or `unknown`; the answers can still be drained. A second call does nothing.
    public func close(deadline: Duration) {
        let end = MonotonicTime.now() + deadline
        shared.closeAt.store(end.nanos, ordering: .releasing)
        shared.isClosing.store(true, ordering: .releasing)
        for inlet in inlets { inlet.wakeUp.signal() }
        for thread in threads { thread.join() }
        resolver.close()
    }
}
