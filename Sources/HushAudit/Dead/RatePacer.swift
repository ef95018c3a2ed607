public import HushBase

/// Spreads work evenly: at most so many a second, and no burst after a pause.
public struct RatePacer: Sendable {
    /// The lowest rate a second: one in a thousand seconds.
    public static let rateMin = 0.001

    private let interval: Duration
    private var next: MonotonicTime

    /// Nil: as fast as it goes; a rate below `rateMin` is taken for that.
    public init(perSecond rate: Double?, now: MonotonicTime) {
        interval = rate.map { .nanoseconds(Int64(1e9 / max($0, Self.rateMin))) } ?? .zero
        next = now
    }

    /// How long until one more may go; it is counted as gone at that time.
    public mutating func take(_ now: MonotonicTime) -> Duration {
        let due = max(next, now)
        next = due + interval
        return due - now
    }
}
