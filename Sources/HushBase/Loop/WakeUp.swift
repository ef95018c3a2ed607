private import CLinux
private import Glibc

/// Wakes a thread that waits for descriptors, from any thread: an `eventfd`. Signals before the thread looks are one.
public final class WakeUp: Sendable {
    private let owner: Descriptor

    public init() throws(SystemFault) {
        let raw = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard raw >= 0 else { throw .last("eventfd") }
        owner = Descriptor(owning: raw)
    }

    /// What the waiting thread registers for reading in its `Poller`.
    public var descriptor: Int32 { owner.raw }

    /// Makes the descriptor readable. Never blocks: a counter that is full is readable already.
    public func signal() {
        _ = eventfd_write(owner.raw, 1)
    }

    /// Forgets the signals so far. Call it before looking at what was signalled, or one is lost.
    public func clear() {
        var count: UInt64 = 0
        _ = eventfd_read(owner.raw, &count)
    }

    /// Waits for a signal without a `Poller`, and forgets it; false once the time is over.
    public func wait(atMost timeout: Duration) -> Bool {
        let deadline = MonotonicTime.now() + timeout
        while true {
            var entry = pollfd(fd: owner.raw, events: Int16(POLLIN), revents: 0)
            let ready = poll(&entry, 1, (deadline - MonotonicTime.now()).pollMillis)
            if ready > 0 {
                clear()
                return true
            }
            if ready == 0 || errno != EINTR { return false }
        }
    }
}

extension Duration {
    /// Milliseconds for `poll` and `epoll_wait`, rounded up so that a loop does not spin before its time.
    var pollMillis: Int32 {
        let (seconds, attoseconds) = components
        if seconds < 0 || attoseconds < 0 { return 0 }
        if seconds > 1_000_000 { return 1_000_000_000 }
        return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
