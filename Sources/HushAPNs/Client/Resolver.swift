import HushBase
import Synchronization

/// What blocks, on a thread of its own: asks the system's resolver, every question anew, as Apple wants DNS uncached, and
/// looks after the files of credentials.
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
    private let lookUp: (@Sendable (APNsConfiguration.Endpoint) -> [APNsConfiguration.Endpoint])?
    private let credentialInterval: Duration
    private let onChange: @Sendable (CredentialWatch.Change, _ routes: [Int]) -> Void

    /// Each loop asks at most one question a route at a time, which bounds the queue. `onChange` is told what came of a
    /// credential's new files.
    init(
        _ configuration: APNsConfiguration,
        onChange: @escaping @Sendable (CredentialWatch.Change, _ routes: [Int]) -> Void
    ) throws(SystemFault) {
        wakeUp = try WakeUp()
        questions = Mailbox(capacity: configuration.threads * configuration.routes.count, wakeUp: wakeUp)
        lookUp = configuration.lookUp
        credentialInterval = configuration.credentialInterval
        self.onChange = onChange
    }

    func start(replies: [Mailbox<Reply>], routes: [RouteContext]) throws(SystemFault) {
        let watches = CredentialWatch.all(routes)
        let started = try NamedThread.start(name: "apns-dns") { [self] in
            var watches = watches
            var batch: [Question] = []
            var nextLook = MonotonicTime.now() + credentialInterval
            while !stopped.load(ordering: .acquiring) {
                _ = wakeUp.wait(atMost: max(.zero, min(.seconds(1), nextLook - MonotonicTime.now())))
                questions.takeAll(into: &batch)
                for question in batch where !stopped.load(ordering: .acquiring) {
                    let reply = Reply(route: question.route, addresses: answer(question.endpoint))
                    _ = replies[question.loop].offer(reply)
                }
                guard MonotonicTime.now() >= nextLook else { continue }
                for index in watches.indices {
                    let change = watches[index].look(atSeconds: WallClock.nowMillis() / 1000)
                    if let change { onChange(change, watches[index].routes) }
                }
                nextLook = MonotonicTime.now() + credentialInterval
            }
        }
        thread.withLock { $0 = started }
    }

    private func answer(
        _ endpoint: APNsConfiguration.Endpoint
    ) -> Result<[SocketAddress], SocketAddress.ResolveFault> {
        guard let lookUp else { return SocketAddress.resolve(host: endpoint.host, port: endpoint.port) }
        var addresses: [SocketAddress] = []
        for found in lookUp(endpoint) {
            switch SocketAddress.resolve(host: found.host, port: found.port) {
            case .success(let some): addresses += some
            case .failure(let fault): return .failure(fault)
            }
        }
        return .success(addresses)
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
