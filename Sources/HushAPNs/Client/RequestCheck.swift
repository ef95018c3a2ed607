/// What the client refuses by itself, in Apple's words and status, for APNs would: the bytes go into header fields.
enum RequestCheck {
    static let payloadBytesMax = 4096
    /// Apple fixes no length for tokens; this is what a header block of ours has room for.
    static let tokenBytesMax = 1024
    static let topicBytesMax = 255
    static let collapseIDBytesMax = 64

    /// The answer without asking, or nil for a request that may go.
    static func refusal(of request: PushRequest) -> PushAnswer.Outcome? {
        if request.token.isEmpty { return refused(400, "MissingDeviceToken") }
        if request.token.count > tokenBytesMax || !request.token.allSatisfy(isLowerHex) {
            return refused(400, "BadDeviceToken")
        }
        if request.topic.isEmpty { return refused(400, "MissingTopic") }
        if request.topic.count > topicBytesMax || !request.topic.allSatisfy(isVisible) {
            return refused(400, "BadTopic")
        }
        if request.apnsID.count != 36 || !request.apnsID.allSatisfy({ isLowerHex($0) || $0 == UInt8(ascii: "-") }) {
            return refused(400, "BadMessageId")
        }
        if let collapseID = request.collapseID {
            if collapseID.isEmpty || collapseID.count > collapseIDBytesMax || !collapseID.allSatisfy(isHeaderByte) {
                return refused(400, "BadCollapseId")
            }
        }
        if request.priority != 10 && request.priority != 5 && request.priority != 1 {
            return refused(400, "BadPriority")
        }
        if let expiration = request.expiration, expiration < 0 { return refused(400, "BadExpirationDate") }
        if request.payload.isEmpty { return refused(400, "PayloadEmpty") }
        if request.payload.count > payloadBytesMax { return refused(413, "PayloadTooLarge") }
        return nil
    }

    private static func refused(_ status: UInt16, _ reason: String) -> PushAnswer.Outcome {
        .answered(status: status, reason: Array(reason.utf8), retryAfterSeconds: nil, timestampMillis: nil)
    }

    private static func isLowerHex(_ byte: UInt8) -> Bool {
        byte >= 0x30 && byte <= 0x39 || byte >= 0x61 && byte <= 0x66
    }

    private static func isVisible(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7f }

    /// A field value may hold spaces inside and bytes above ASCII (RFC 9110 §5.5), but no control characters.
    private static func isHeaderByte(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7f }
}
