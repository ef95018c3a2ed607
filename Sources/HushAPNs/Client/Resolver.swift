import HushBase
import Synchronization

/// Asks the system's resolver on a thread of its own, for it blocks; every question anew, as Apple wants DNS uncached.
final class Resolver: Sendable {
    struct Question: Sendable {
        let loop: Int
        let route: Int
        let endpoint: APNsConfiguration.Endpoint
    }

    struct Reply: Sendable {
        let route: Int
        let addresses: Result<[SocketAddress], SocketAddress.ResolveFault>
    }

    private let wakeUp: WakeUp
    private let questions: Mailbox<Question>
    private let stopped = Atomic(false)
    private let thread = Mutex<NamedThread?>(nil)

    /// Each loop asks at most one question a route at a time, which bounds the queue.
    init(capacity: Int) throws(SystemFault) {
        wakeUp = try WakeUp()
        questions = Mailbox(capacity: capacity, wakeUp: wakeUp)
    }

    func start(replies: [Mailbox<Reply>]) throws(SystemFault) {
        let started = try NamedThread.start(name: "apns-dns") { [self] in
            var batch: [Question] = []
            while !stopped.load(ordering: .acquiring) {
                _ = wakeUp.wait(atMost: .seconds(1))
                questions.takeAll(into: &batch)
                for question in batch where !stopped.load(ordering: .acquiring) {
                    let addresses = SocketAddress.resolve(
                        host: question.endpoint.host, port: question.endpoint.port)
                    _ = replies[question.loop].offer(Reply(route: question.route, addresses: addresses))
                }
            }
        }
        thread.withLock { $0 = started }
    }

    /// False where too many questions wait already.
    func ask(_ question: Question) -> Bool {
        questions.offer(question)
    }

    /// Waits for the resolver's current answer, which may take its time.
    func close() {
        stopped.store(true, ordering: .releasing)
        wakeUp.signal()
        thread.withLock { $0 }?.join()
    }
}
