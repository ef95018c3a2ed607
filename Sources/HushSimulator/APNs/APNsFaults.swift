import Glibc
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
    /// How long an answer takes: evenly between these.
    public var latency: ClosedRange<Duration> = .zero ... .zero
    /// In the place of `latency`: a log-normal distribution, as networks have it; `sigma` is that of the logarithm.
    public var logNormal: LogNormal?
    /// Once in each `every`, counted from the first request, no answer leaves for so long: what came in waits for its end.
    public var stall: Stall?
    /// Connections whose peer reads slowly; nil: none.
    public var slowReaders: SlowReaders?

    /// Peers that read slowly: they give room for further bodies at a rate, and answer late.
    public struct SlowReaders: Hashable, Sendable {
        /// The share of connections, from 0 to 1.
        public var share: Double
        /// What each reads; a window of 64 KB is filled at once.
        public var bytesPerSecond: Int
        /// How long each of their answers takes at least.
        public var latency: Duration

        public init(share: Double, bytesPerSecond: Int, latency: Duration) {
            self.share = share
            self.bytesPerSecond = bytesPerSecond
            self.latency = latency
        }

        /// Whether a connection is one of them: a function of its number and the seed.
        public func has(connection: UInt64, seed: UInt64) -> Bool {
            var random = SplitMix64(seed: seed &+ connection &* 0x9e37_79b9_7f4a_7c15)
            _ = random.next()
            return random.chance(share)
        }
    }

    public struct LogNormal: Hashable, Sendable {
        public var median: Duration
        public var sigma: Double

        public init(median: Duration, sigma: Double) {
            self.median = median
            self.sigma = sigma
        }
    }

    public struct Stall: Hashable, Sendable {
        public var every: Duration
        public var lasts: Duration

        public init(every: Duration, lasts: Duration) {
            self.every = every
            self.lasts = lasts
        }

        /// How long an answer has still to wait, so long after the first request; the stall ends each period.
        func wait(after elapsed: Duration) -> Duration {
            let period = max(1, every.wholeMillis)
            let rest = period - elapsed.wholeMillis % period
            return rest <= lasts.wholeMillis ? .milliseconds(rest) : .zero
        }
    }

    /// What a log-normal draw is cut to.
    static let latencyMax = Duration.seconds(60)

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
        if let logNormal {
            // Box and Muller's way from two even draws to a normal one.
            let (radius, angle) = (Double.random(in: 0..<1, using: &random), Double.random(in: 0..<1, using: &random))
            let normal = (-2 * log(1 - radius)).squareRoot() * cos(2 * .pi * angle)
            let nanos = Double(logNormal.median.wholeMillis) * 1e6 * exp(logNormal.sigma * normal)
            return .nanoseconds(Int64(min(nanos, Double(Self.latencyMax.wholeMillis) * 1e6)))
        }
        let (low, high) = (latency.lowerBound.wholeMillis, latency.upperBound.wholeMillis)
        return .milliseconds(low == high ? low : Int64.random(in: low...high, using: &random))
    }
}
