/// A moment in milliseconds since 1970 (UTC), as Kafka counts append times.
public struct Timestamp: Hashable, Comparable, Sendable {
    public var millis: Int64

    @inlinable
    public init(millis: Int64) {
        self.millis = millis
    }

    @inlinable
    public init(seconds: Int64) {
        millis = seconds.multipliedSaturating(by: 1000)
    }

    /// The whole seconds since 1970, rounded down: the unit of `apns-expiration`.
    @inlinable public var seconds: Int64 { millis >= 0 ? millis / 1000 : (millis - 999) / 1000 }

    public static let distantPast = Timestamp(millis: .min)
    public static let distantFuture = Timestamp(millis: .max)

    @inlinable
    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.millis < right.millis }

    /// Saturates at both ends, for a phone's clock may claim any year.
    @inlinable
    public func adding(millis more: Int64) -> Timestamp {
        let (sum, overflow) = millis.addingReportingOverflow(more)
        return Timestamp(millis: overflow ? (more > 0 ? .max : .min) : sum)
    }

    @inlinable
    public func subtracting(millis less: Int64) -> Timestamp {
        let (difference, overflow) = millis.subtractingReportingOverflow(less)
        return Timestamp(millis: overflow ? (less > 0 ? .min : .max) : difference)
    }

    @inlinable
    public static func + (left: Timestamp, right: Duration) -> Timestamp { left.adding(millis: right.wholeMillis) }

    @inlinable
    public static func - (left: Timestamp, right: Duration) -> Timestamp { left.subtracting(millis: right.wholeMillis) }

    /// The time from `right` to `left`.
    @inlinable
    public static func - (left: Timestamp, right: Timestamp) -> Duration {
        let (difference, overflow) = left.millis.subtractingReportingOverflow(right.millis)
        return .milliseconds(overflow ? (left.millis > right.millis ? Int64.max : Int64.min) : difference)
    }
}

extension Duration {
    /// Milliseconds, rounded towards zero and saturating.
    @inlinable public var wholeMillis: Int64 {
        let (seconds, attoseconds) = components
        let (sum, overflow) = seconds.multipliedSaturating(by: 1000)
            .addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return overflow ? (seconds > 0 ? .max : .min) : sum
    }
}

extension Int64 {
    @inlinable
    func multipliedSaturating(by factor: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: factor)
        return overflow ? ((self < 0) == (factor < 0) ? .max : .min) : product
    }
}
