/// What a sender has to do about an answer of APNs.
public enum AnswerClass: UInt8, Hashable, Sendable, CaseIterable {
    /// APNs took the push; not more.
    case delivered
    /// What was sent is wrong and will be wrong again: its ops are rejected.
    case rejectOps
    /// The token does not fit here: its ops are rejected, and the address rests before the next try. Never a reason to
    /// delete a device, for the environment or the topic may be what is wrong.
    case restAddress
    /// The token is dead.
    case dropDevice
    /// Too large: send the ops in smaller parts.
    case split
    /// Only this token is to be slower.
    case delayToken
    /// APNs is in trouble: again later.
    case retry
    /// The connection is of no more use: again on another one.
    case reconnect
    /// A new provider token and a new connection, then again.
    case renewToken
    /// Provider tokens were minted too often: keep the one there is, and again later.
    case keepToken
    /// The credential is refused: nothing more goes out with it until it is mended.
    case pauseCredential
}

/// One reason that APNs gives, with its status and what to do about it.
///
/// From Apple's "Handling notification responses from APNs"; what Apple leaves open is settled in docs/reference/apns.
public struct APNsReason: Hashable, Sendable {
    public var name: Bytes
    public var status: UInt16
    public var answer: AnswerClass

    /// Every reason there is: what parses answers, the simulator, the docs and the tests read this table.
    public static let all: [APNsReason] = [
        reason("BadCollapseId", 400, .rejectOps),
        reason("BadDeviceToken", 400, .restAddress),
        reason("BadExpirationDate", 400, .rejectOps),
        reason("BadMessageId", 400, .rejectOps),
        reason("BadPriority", 400, .rejectOps),
        reason("BadTopic", 400, .rejectOps),
        reason("DeviceTokenNotForTopic", 400, .restAddress),
        reason("DuplicateHeaders", 400, .rejectOps),
        reason("IdleTimeout", 400, .reconnect),
        reason("InvalidPushType", 400, .rejectOps),
        reason("MissingDeviceToken", 400, .rejectOps),
        reason("MissingTopic", 400, .rejectOps),
        reason("PayloadEmpty", 400, .rejectOps),
        reason("TopicDisallowed", 400, .rejectOps),
        reason("BadCertificate", 403, .pauseCredential),
        reason("BadCertificateEnvironment", 403, .pauseCredential),
        reason("BadEnvironmentKeyIdInToken", 403, .pauseCredential),
        reason("ExpiredProviderToken", 403, .renewToken),
        reason("Forbidden", 403, .rejectOps),
        reason("InvalidProviderToken", 403, .pauseCredential),
        reason("MissingProviderToken", 403, .pauseCredential),
        reason("UnrelatedKeyIdInToken", 403, .reconnect),
        reason("BadPath", 404, .rejectOps),
        reason("MethodNotAllowed", 405, .rejectOps),
        reason("ExpiredToken", 410, .dropDevice),
        reason("Unregistered", 410, .dropDevice),
        reason("PayloadTooLarge", 413, .split),
        reason("TooManyProviderTokenUpdates", 429, .keepToken),
        reason("TooManyRequests", 429, .delayToken),
        reason("InternalServerError", 500, .retry),
        reason("ServiceUnavailable", 503, .retry),
        reason("Shutdown", 503, .reconnect),
    ]

    /// What to do about an answer. An unknown reason, which Apple may add any day, goes by its status.
    public static func classify(status: UInt16, reason: some Collection<UInt8>) -> AnswerClass {
        if status == 200 { return .delivered }
        let known = all.first { $0.status == status && $0.name.raw.elementsEqual(reason) }
        return known?.answer ?? classify(status: status)
    }

    private static func classify(status: UInt16) -> AnswerClass {
        switch status {
        case 403: .pauseCredential
        case 410: .dropDevice
        case 413: .split
        case 429: .delayToken
        case 400..<500: .rejectOps
        default: .retry
        }
    }

    private static func reason(_ name: Bytes, _ status: UInt16, _ answer: AnswerClass) -> APNsReason {
        APNsReason(name: name, status: status, answer: answer)
    }
}
