private import CLinux
private import Glibc

/// What a descriptor is ready for, or is watched for.
public struct Readiness: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let read = Readiness(rawValue: 1)
    public static let write = Readiness(rawValue: 2)
    /// The peer closed, or an error waits to be read; reported without being asked for.
    public static let hangUp = Readiness(rawValue: 4)
}

/// Waits for many descriptors: `epoll`, level-triggered. Of one thread only.
///
/// A descriptor is known by the tag it was added with; whoever closes a descriptor removes it first.
public struct Poller: ~Copyable {
    private let owner: Descriptor
    private var ready: [epoll_event]

    /// One `wait` reports at most `batchMax` descriptors, others are left for the next.
    public init(batchMax: Int = 256) throws(SystemFault) {
        let raw = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard raw >= 0 else { throw .last("epoll_create1") }
        owner = Descriptor(owning: raw)
        ready = Array(repeating: epoll_event(), count: max(1, batchMax))
    }

    public func add(_ descriptor: Int32, for interest: Readiness, tag: UInt64) throws(SystemFault) {
        try control(EPOLL_CTL_ADD, descriptor, interest, tag)
    }

    public func modify(_ descriptor: Int32, for interest: Readiness, tag: UInt64) throws(SystemFault) {
        try control(EPOLL_CTL_MOD, descriptor, interest, tag)
    }

    public func remove(_ descriptor: Int32) throws(SystemFault) {
        try control(EPOLL_CTL_DEL, descriptor, [], 0)
    }

    /// Waits until something is ready or the time is over (nil: without end), then tells each; returns how many.
    ///
    /// A signal that interrupts the wait ends it with 0, so that the caller's loop can look at its flags.
    @discardableResult
    public mutating func wait(
        atMost timeout: Duration?, _ body: (_ tag: UInt64, _ readiness: Readiness) -> Void
    ) throws(SystemFault) -> Int {
        try wait(atMostMillis: timeout?.pollMillis ?? -1, body)
    }

    /// The same in milliseconds, -1 without end: for loops that turn so often that a division of 128 bits counts.
    @discardableResult
    public mutating func wait(
        atMostMillis timeout: Int32, _ body: (_ tag: UInt64, _ readiness: Readiness) -> Void
    ) throws(SystemFault) -> Int {
        let count = epoll_wait(owner.raw, &ready, Int32(ready.count), timeout)
        if count < 0 {
            if errno == EINTR { return 0 }
            throw .last("epoll_wait")
        }
        for index in 0..<Int(count) {
            let event = ready[index]
            body(event.data.u64, Self.readiness(event.events))
        }
        return Int(count)
    }

    private func control(
        _ operation: Int32, _ descriptor: Int32, _ interest: Readiness, _ tag: UInt64
    ) throws(SystemFault) {
        var event = epoll_event()
        if interest.contains(.read) { event.events |= EPOLLIN.rawValue | EPOLLRDHUP.rawValue }
        if interest.contains(.write) { event.events |= EPOLLOUT.rawValue }
        event.data.u64 = tag
        guard epoll_ctl(owner.raw, operation, descriptor, &event) == 0 else { throw .last("epoll_ctl") }
    }

    private static func readiness(_ events: UInt32) -> Readiness {
        var result: Readiness = []
        if events & EPOLLIN.rawValue != 0 { result.insert(.read) }
        if events & EPOLLOUT.rawValue != 0 { result.insert(.write) }
        if events & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 { result.insert(.hangUp) }
        return result
    }
}
