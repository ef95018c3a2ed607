import Glibc
import HushBase
import Synchronization

/// Ends the process when a step of a slot takes longer than it may: some calls of librdkafka 2.0.2 ignore their timeouts
/// (librdkafka #5456), and only a new process gets out of them.
final class Watchdog: Sendable {
    private struct Step {
        var name = StaticString("start")
        var deadlineNanos = Int64.max
    }

    static let exitCode: Int32 = 70
    private static let interval = Duration.milliseconds(250)

    private let step = Mutex(Step())
    private let isDone = Atomic<Bool>(false)
    private let wakeUp: WakeUp
    private let thread = Mutex<NamedThread?>(nil)

    init(
        slot: String, log: StreamLog, expire: @escaping @Sendable (_ reason: String) -> Void = { end($0) }
    ) throws(SystemFault) {
        wakeUp = try WakeUp()
        let started = try NamedThread.start(name: "watch-\(slot)") { [self] in
            watch(slot: slot, log: log, expire: expire)
        }
        thread.withLock { $0 = started }
    }

    /// The step that runs from now on, and how long it may take; it ends the one before.
    func begin(_ name: StaticString, atMost limit: Duration) {
        let deadline = (MonotonicTime.now() + limit).nanos
        step.withLock { $0 = Step(name: name, deadlineNanos: deadline) }
    }

    func stop() {
        isDone.store(true, ordering: .releasing)
        wakeUp.signal()
        let started = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        started?.join()
    }

    private func watch(slot: String, log: StreamLog, expire: @Sendable (String) -> Void) {
        var last = MonotonicTime.now()
        while !isDone.load(ordering: .acquiring) {
            _ = wakeUp.wait(atMost: Self.interval)
            let now = MonotonicTime.now()
            let gap = now - last
            last = now
            let late = step.withLock { step -> StaticString? in
                // A process that was stopped as a whole gets the time back: its slot was not at fault.
                if gap > Self.interval * 4, step.deadlineNanos != .max { step.deadlineNanos += gap.wholeNanos }
                return step.deadlineNanos < now.nanos ? step.name : nil
            }
            if let late {
                let reason = "slot \(slot): \(late) takes too long, the process ends itself (exit \(Self.exitCode))"
                log.error(reason)
                expire(reason)
                return
            }
        }
    }

    /// Says why once more, on standard error itself: a log that is silent, or that writes later, would keep it.
    private static func end(_ reason: String) {
        let line = Array("hush: \(reason)\n".utf8)
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
        _exit(exitCode)
    }
}
