public import HushCore

/// How often the simulated APNs is in trouble, and how; drawn from a seed, request by request.
public struct APNsFaults: Hashable, Sendable {
    /// What becomes of a request that Apple would accept.
    public enum Fate: Hashable, Sendable {
        case accept
        /// 429 TooManyRequests.
        case tooManyRequests
        /// 500 InternalServerError.
        case internalError
        /// 503 ServiceUnavailable with a Retry-After.
        case unavailable
        /// The stream is reset without an answer; where `isTaken` the push is delivered all the same.
        case reset(isTaken: Bool)
        /// No answer ever comes; where `isTaken` the push is delivered all the same.
        case silence(isTaken: Bool)
    }

    /// Shares of all requests, each from 0 to 1.
    public var tooManyRequests = 0.0
    public var internalError = 0.0
    public var unavailable = 0.0
    public var reset = 0.0
    public var silence = 0.0
    /// What a 503 asks for.
    public var retryAfterSeconds: Int64 = 1
    /// A GOAWAY follows after so many streams of a connection; nil: never.
    public var goAwayEvery: Int?
    /// How long an answer takes.
    public var latency: ClosedRange<Duration> = .zero ... .zero

    public init() {}

    /// The fate of the next request.
    public func draw(_ random: inout SplitMix64) -> Fate {
        var point = Double.random(in: 0..<1, using: &random)
        func falls(in share: Double) -> Bool {
            point -= share
            return point < 0
        }
        if falls(in: tooManyRequests) { return .tooManyRequests }
        if falls(in: internalError) { return .internalError }
        if falls(in: unavailable) { return .unavailable }
        if falls(in: reset) { return .reset(isTaken: random.chance(0.5)) }
        if falls(in: silence) { return .silence(isTaken: random.chance(0.5)) }
        return .accept
    }

    /// How long the next answer takes.
    public func drawLatency(_ random: inout SplitMix64) -> Duration {
        let (low, high) = (latency.lowerBound.wholeMillis, latency.upperBound.wholeMillis)
        return .milliseconds(low == high ? low : Int64.random(in: low...high, using: &random))
    }
}
