public import HushBase

/// Spreads work evenly: at most so many a second, and no burst after a pause.
public struct RatePacer: Sendable {
    private let interval: Duration
    private var next: MonotonicTime

    /// Nil: as fast as it goes.
    public init(perSecond rate: Double?, now: MonotonicTime) {
        interval = rate.map { .nanoseconds(Int64(1e9 / $0)) } ?? .zero
        next = now
    }

    /// How long until one more may go; it is counted as gone at that time.
    public mutating func take(_ now: MonotonicTime) -> Duration {
        let due = max(next, now)
        next = due + interval
        return due - now
    }
}
