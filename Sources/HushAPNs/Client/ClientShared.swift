import HushBase
import Synchronization

/// What the client and its loop threads say to each other.
final class ClientShared: Sendable {
    let configuration: APNsConfiguration
    let routes: [RouteContext]
    let answersReady: WakeUp
    let answers: Mailbox<PushAnswer>
    /// Requests taken whose answers are not drained yet.
    let held = Atomic(0)
    /// Counts the calls of `dropConnections`.
    let drops = Atomic(0)
    /// Set when a thread found that the process had been stopped; cleared by `resume`.
    let isHalted = Atomic(false)
    /// `MonotonicTime.nanos` until which a closing client waits for answers; `Int64.max` before `close`.
    let closeAt = Atomic(Int64.max)
    let isClosing = Atomic(false)
    private let counts: Mutex<[APNsCounts]>

    init(configuration: APNsConfiguration, routes: [RouteContext]) throws(SystemFault) {
        self.configuration = configuration
        self.routes = routes
        answersReady = try WakeUp()
        answers = Mailbox(capacity: configuration.queueCapacity, wakeUp: answersReady)
        counts = Mutex(Array(repeating: APNsCounts(), count: configuration.threads))
    }

    /// Reserves room for up to `wanted` requests; returns for how many.
    func reserve(_ wanted: Int) -> Int {
        var current = held.load(ordering: .relaxed)
        while true {
            let taken = min(wanted, configuration.queueCapacity - current)
            if taken <= 0 { return 0 }
            let (exchanged, original) = held.compareExchange(
                expected: current, desired: current + taken, ordering: .acquiringAndReleasing)
            if exchanged { return taken }
            current = original
        }
    }

    func publish(_ loopCounts: APNsCounts, of loop: Int) {
        counts.withLock { $0[loop] = loopCounts }
    }

    var totalCounts: APNsCounts {
        counts.withLock { $0.reduce(APNsCounts(), +) }
    }
}

/// The mailboxes of one loop thread, which share its wake-up.
struct LoopInlets: Sendable {
    let wakeUp: WakeUp
    let requests: Mailbox<PushRun>
    let resolved: Mailbox<Resolver.Reply>

    init(configuration: APNsConfiguration) throws(SystemFault) {
        wakeUp = try WakeUp()
        requests = Mailbox(capacity: configuration.queueCapacity, wakeUp: wakeUp)
        resolved = Mailbox(capacity: configuration.routes.count, wakeUp: wakeUp)
    }
}
