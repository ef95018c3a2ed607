public import HushCore
public import HushKit

/// A push that the simulated APNs took.
public struct AcceptedPush: Sendable {
    /// Counts from 1, in the order of acceptance.
    public var number: Int
    public var at: Timestamp
    public var apnsID: Bytes
    public var token: Bytes
    public var headers: [SimulatedRequest.Header]
    public var body: [UInt8]
    public var payload: PayloadValue
    /// False where the sender was left without an answer.
    public var isAnswered: Bool
    /// How long after `at` the answer leaves.
    public var answerAfter = Duration.zero

    /// As the phone gets it.
    public var delivered: DeliveredPush {
        let request = SimulatedRequest(headers: headers, body: body, payload: payload)
        return DeliveredPush(
            token: token, isAlert: request["apns-push-type"] == APNsRules.alert,
            collapseID: request["apns-collapse-id"],
            expires: request["apns-expiration"].flatMap { Int64($0.text) }.map(Timestamp.init(seconds:)),
            payload: payload)
    }
}

/// What the simulated APNs does about a request.
public enum APNsReply: Sendable {
    /// `reason` is nil with a 200.
    case answer(reason: APNsReason?, apnsID: Bytes, timestampMillis: Int64?, retryAfterSeconds: Int64?, after: Duration)
    case reset
    case silence
}

/// The simulated APNs without its sockets: rules, known tokens, faults and counts.
public struct APNsService: Sendable {
    /// How many requests got which answer.
    public struct Counts: Hashable, Sendable {
        public var accepted = 0
        /// By reason; the faults of the plan among them.
        public var rejected: [Bytes: Int] = [:]
        /// Left without an answer.
        public var unanswered = 0
    }

    private let rules: APNsRules
    private let faults: APNsFaults
    private var random: SplitMix64
    /// Tokens that are dead, and since when.
    private var dead: [Bytes: Timestamp] = [:]
    /// What pushes to a token are answered, whatever the rules say.
    private var scripted: [Bytes: APNsReason] = [:]
    public private(set) var counts = Counts()
    /// The first request.
    private var began: Timestamp?

    public init(rules: APNsRules, faults: APNsFaults = APNsFaults(), seed: UInt64 = 1) {
        self.rules = rules
        self.faults = faults
        random = SplitMix64(seed: seed)
    }

    /// What it draws next depends on this alone.
    mutating func reseed(_ seed: UInt64) {
        random = SplitMix64(seed: seed)
    }

    /// From now on pushes to this token are answered 410 with this time.
    public mutating func bury(_ token: Bytes, at: Timestamp) {
        dead[token] = at
    }

    /// From now on pushes to this token are answered with this reason, nil: with what the rules say.
    public mutating func answer(_ token: Bytes, with reason: APNsReason?) {
        scripted[token] = reason
    }

    /// Takes a request; the push where it is delivered, whether its sender learns of it or not. Its answer takes
    /// `latencyMin` at least.
    public mutating func receive(
        _ request: SimulatedRequest, now: Timestamp, latencyMin: Duration = .zero
    ) -> (APNsReply, AcceptedPush?) {
        var latency = max(faults.drawLatency(&random), latencyMin)
        if let stall = faults.stall {
            let first = began ?? now
            began = first
            latency = max(latency, stall.wait(after: now - first))
        }
        let apnsID = request["apns-id"] ?? uuid()
        if let reason = request.token.flatMap({ scripted[$0] }) {
            return (refuse(reason, apnsID, timestamp: reason.status == 410 ? now : nil, after: latency), nil)
        }
        if let reason = rules.check(request, now: now) {
            return (refuse(reason, apnsID, after: latency), nil)
        }
        let token = request.token ?? ""
        if let since = dead[token] {
            return (refuse(APNsRules.reason("Unregistered"), apnsID, timestamp: since, after: latency), nil)
        }
        switch faults.draw(&random) {
        case .accept:
            var push = accept(request, token, apnsID, isAnswered: true, now: now)
            push.answerAfter = latency
            return (
                .answer(reason: nil, apnsID: apnsID, timestampMillis: nil, retryAfterSeconds: nil, after: latency),
                push
            )
        case .tooManyRequests: return (refuse(APNsRules.reason("TooManyRequests"), apnsID, after: latency), nil)
        case .internalError: return (refuse(APNsRules.reason("InternalServerError"), apnsID, after: latency), nil)
        case .unavailable:
            let reason = APNsRules.reason("ServiceUnavailable")
            return (refuse(reason, apnsID, retryAfterSeconds: faults.retryAfterSeconds, after: latency), nil)
        case .reset(let isTaken):
            counts.unanswered += 1
            return (.reset, isTaken ? accept(request, token, apnsID, isAnswered: false, now: now) : nil)
        case .silence(let isTaken):
            counts.unanswered += 1
            return (.silence, isTaken ? accept(request, token, apnsID, isAnswered: false, now: now) : nil)
        }
    }

    private mutating func accept(
        _ request: SimulatedRequest, _ token: Bytes, _ apnsID: Bytes, isAnswered: Bool, now: Timestamp
    ) -> AcceptedPush {
        counts.accepted += 1
        return AcceptedPush(
            number: counts.accepted, at: now, apnsID: apnsID, token: token, headers: request.headers,
            body: request.body, payload: request.payload ?? .null, isAnswered: isAnswered)
    }

    private mutating func refuse(
        _ reason: APNsReason, _ apnsID: Bytes, timestamp: Timestamp? = nil, retryAfterSeconds: Int64? = nil,
        after latency: Duration
    ) -> APNsReply {
        counts.rejected[reason.name, default: 0] += 1
        return .answer(
            reason: reason, apnsID: apnsID, timestampMillis: timestamp?.millis, retryAfterSeconds: retryAfterSeconds,
            after: latency)
    }

    /// A version 4 UUID, for requests that bring no id.
    private mutating func uuid() -> Bytes {
        let high = random.next() & ~0xf000 | 0x4000
        let low = random.next() & ~(3 << 62) | 2 << 62
        let digits = Hex.encode(high) + Hex.encode(low)
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { digits[$0] }
        return Bytes(Array(groups.joined(separator: [UInt8(ascii: "-")])))
    }
}

extension APNsReply {
    /// The body of an answer that is no 200: `{"reason":"…"}`, with a `timestamp` in milliseconds after a 410.
    static func body(_ reason: APNsReason, timestampMillis: Int64?) -> [UInt8] {
        var json = JSONWriter(reserving: 64)
        json.raw("{\"reason\":")
        json.string(reason.name)
        if let timestampMillis {
            json.raw(",\"timestamp\":")
            json.integer(timestampMillis)
        }
        json.byte(UInt8(ascii: "}"))
        return json.bytes
    }
}
