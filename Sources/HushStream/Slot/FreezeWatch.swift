import HushBase

/// Finds out that the process was stopped, or its machine asleep, for so long that others may have its partitions.
struct FreezeWatch {
    private let limitNanos: Int64
    private var lastNanos: Int64
    /// How often it happened.
    private(set) var count = 0

    init(limit: Duration, nowNanos: Int64 = BootClock.nowNanos()) {
        limitNanos = limit.wholeNanos
        lastNanos = nowNanos
    }

    /// Tells that the slot is alive; true where the time since the last call is beyond the limit.
    mutating func tick(nowNanos: Int64 = BootClock.nowNanos()) -> Bool {
        let gap = nowNanos - lastNanos
        lastNanos = nowNanos
        if gap > limitNanos { count += 1 }
        return gap > limitNanos
    }
}
