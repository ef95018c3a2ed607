/// One APNs request, as bytes; see Apple's "Sending notification requests to APNs".
public struct PushRequest: Sendable {
    public enum Kind: UInt8, Sendable {
        case alert
        case background
    }

    /// The caller's tag, which comes back in the answer.
    public var tag: UInt64
    /// The index of its route in `APNsConfiguration.routes`: an endpoint and the credential to use there.
    public var route: Int
    /// Lower-case hex.
    public var token: [UInt8]
    /// `apns-topic`.
    public var topic: [UInt8]
    public var kind: Kind
    public var priority: UInt8
    /// `apns-expiration` in seconds since 1970; 0 is a value (one try), nil leaves the header out.
    public var expiration: Int64?
    /// At most 64 bytes.
    public var collapseID: [UInt8]?
    /// A lower-case UUID of 36 characters.
    public var apnsID: [UInt8]
    public var payload: [UInt8]

    public init(
        tag: UInt64, route: Int, token: [UInt8], topic: [UInt8], kind: Kind, priority: UInt8, expiration: Int64?,
        collapseID: [UInt8]?, apnsID: [UInt8], payload: [UInt8]
    ) {
        self.tag = tag
        self.route = route
        self.token = token
        self.topic = topic
        self.kind = kind
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.apnsID = apnsID
        self.payload = payload
    }
}

/// What became of a request.
public struct PushAnswer: Sendable {
    public enum Outcome: Sendable, Hashable {
        /// APNs answered. `reason` is empty with a 200; `timestampMillis` is that of a 410.
        case answered(status: UInt16, reason: [UInt8], retryAfterSeconds: Int64?, timestampMillis: Int64?)
        /// It certainly did not reach APNs: the deadline passed before it was written, or the sender was stopped.
        case notSent
        /// It was written and no answer came: APNs may have it.
        case unknown
    }

    public var tag: UInt64
    public var outcome: Outcome

    public init(tag: UInt64, outcome: Outcome) {
        self.tag = tag
        self.outcome = outcome
    }
}
