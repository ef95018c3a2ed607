import HushBase
import Synchronization

/// A thread that asks the brokers something on the side, again and again.
final class AskingThread: Sendable {
    /// How long the brokers may take for an answer.
    static let callLimit = Duration.seconds(5)
    /// How long `stop` waits for a question under way: librdkafka 2.0.2 may hang in one (librdkafka #5456).
    static let stopLimit = Duration.seconds(1)

    private let stopping = Atomic<Bool>(false)
    private let thread = Mutex<NamedThread?>(nil)
    private let wakeUp: WakeUp
    private let ended: WakeUp

    init() throws(SystemFault) {
        wakeUp = try WakeUp()
        ended = try WakeUp()
    }

    /// Starts the thread; once.
    func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(SystemFault) {
        let started = try NamedThread.start(name: name) { [self] in
            body()
            ended.signal()
        }
        thread.withLock { $0 = started }
    }

    /// Ends the thread; one that hangs in a question is left to the end of the process.
    func stop() {
        stopping.store(true, ordering: .releasing)
        wake()
        if let started = thread.withLock({ $0 }), ended.wait(atMost: Self.stopLimit) { started.join() }
    }

    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    /// Ends the thread's rest.
    func wake() { wakeUp.signal() }

    /// Of the thread: rests until it is woken, or asked to end.
    func rest(atMost limit: Duration) { _ = wakeUp.wait(atMost: limit) }
}
