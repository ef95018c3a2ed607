/// What a client has done since it began; every number only grows.
public struct APNsCounts: Sendable, Hashable {
    /// Requests handed to a connection, resent ones counted again.
    public var requests: UInt64 = 0
    /// Answers of APNs with status 200, and with any other.
    public var accepted: UInt64 = 0
    public var refused: UInt64 = 0
    public var unknown: UInt64 = 0
    public var notSent: UInt64 = 0
    /// Requests that APNs certainly did not take (GOAWAY, REFUSED_STREAM, an expired token) and that were sent again.
    public var resent: UInt64 = 0
    /// Streams given up at their deadline.
    public var timeouts: UInt64 = 0
    public var connects: UInt64 = 0
    /// Connects that resumed a TLS session.
    public var resumptions: UInt64 = 0
    public var connectFailures: UInt64 = 0
    public var disconnects: UInt64 = 0
    public var goAways: UInt64 = 0
    /// RST_STREAM frames received.
    public var resets: UInt64 = 0
    public var pings: UInt64 = 0
    public var tokens: UInt64 = 0
    /// Bytes of HTTP/2, before TLS.
    public var bytesSent: UInt64 = 0
    public var bytesReceived: UInt64 = 0

    public init() {}

    static func + (left: APNsCounts, right: APNsCounts) -> APNsCounts {
        var sum = left
        sum.requests += right.requests
        sum.accepted += right.accepted
        sum.refused += right.refused
        sum.unknown += right.unknown
        sum.notSent += right.notSent
        sum.resent += right.resent
        sum.timeouts += right.timeouts
        sum.connects += right.connects
        sum.resumptions += right.resumptions
        sum.connectFailures += right.connectFailures
        sum.disconnects += right.disconnects
        sum.goAways += right.goAways
        sum.resets += right.resets
        sum.pings += right.pings
        sum.tokens += right.tokens
        sum.bytesSent += right.bytesSent
        sum.bytesReceived += right.bytesReceived
        return sum
    }
}
