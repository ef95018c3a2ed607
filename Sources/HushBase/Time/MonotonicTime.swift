// Whichever of the two the compiler reads first owns `timespec`.
private import CLinux
private import Glibc

/// A moment of the clock that never steps back: for deadlines and latencies, meaningless outside this process.
public struct MonotonicTime: Hashable, Comparable, Sendable {
    /// Since some moment before the process began.
    public var nanos: Int64

    @inlinable
    public init(nanos: Int64) {
        self.nanos = nanos
    }

    /// Reads `CLOCK_MONOTONIC`, which goes on while the process is stopped by SIGSTOP.
    public static func now() -> MonotonicTime {
        MonotonicTime(nanos: clockNanos(CLOCK_MONOTONIC))
    }

    @inlinable
    public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanos < right.nanos }

    /// Saturates, so that `.seconds(Int64.max)` means "never".
    @inlinable
    public static func + (left: MonotonicTime, right: Duration) -> MonotonicTime {
        let (sum, overflow) = left.nanos.addingReportingOverflow(right.wholeNanos)
        return MonotonicTime(nanos: overflow ? (right.wholeNanos > 0 ? .max : .min) : sum)
    }

    /// The time from `right` to `left`.
    @inlinable
    public static func - (left: MonotonicTime, right: MonotonicTime) -> Duration {
        let (difference, overflow) = left.nanos.subtractingReportingOverflow(right.nanos)
        return .nanoseconds(overflow ? (left.nanos > right.nanos ? Int64.max : Int64.min) : difference)
    }
}

/// The clock on the wall, which an administrator or NTP may set.
public enum WallClock {
    /// Milliseconds since 1970, UTC.
    public static func nowMillis() -> Int64 {
        clockNanos(CLOCK_REALTIME) / 1_000_000
    }
}

/// The clock that goes on through SIGSTOP and through a machine's sleep.
public enum BootClock {
    /// Nanoseconds since the machine started.
    public static func nowNanos() -> Int64 {
        clockNanos(CLOCK_BOOTTIME)
    }
}

private func clockNanos(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    // Cannot fail: these clocks exist on every Linux and the pointer is ours.
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

extension Duration {
    /// Nanoseconds, rounded towards zero and saturating at 292 years.
    @inlinable public var wholeNanos: Int64 {
        let (seconds, attoseconds) = components
        let (nanos, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds > 0 ? .max : .min }
        let (sum, carried) = nanos.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carried ? (seconds > 0 ? .max : .min) : sum
    }

    /// Seconds as Prometheus counts them.
    @inlinable public var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
