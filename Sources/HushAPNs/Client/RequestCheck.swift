/// What the client refuses by itself, in Apple's words and status, for APNs would: the bytes go into header fields.
enum RequestCheck {
    static let payloadBytesMax = 4096
    /// Apple fixes no length for tokens; this is what a header block of ours has room for.
    static let tokenBytesMax = 1024
    static let topicBytesMax = 255
    static let collapseIDBytesMax = 64

    /// The answer without asking, or nil for a request that may go.
    static func refusal(of request: UnsafePointer<PushRequest>) -> PushAnswer.Outcome? {
        if request.pointee.token.isEmpty { return refused(400, "MissingDeviceToken") }
        if request.pointee.token.count > tokenBytesMax || !all(request.pointee.token, .lowerHex) {
            return refused(400, "BadDeviceToken")
        }
        if request.pointee.topic.isEmpty { return refused(400, "MissingTopic") }
        if request.pointee.topic.count > topicBytesMax || !all(request.pointee.topic, .visible) {
            return refused(400, "BadTopic")
        }
        if request.pointee.apnsID.count != 36 || !all(request.pointee.apnsID, .uuid) {
            return refused(400, "BadMessageId")
        }
        if let collapseID = request.pointee.collapseID {
            if collapseID.isEmpty || collapseID.count > collapseIDBytesMax || !all(collapseID, .fieldValue) {
                return refused(400, "BadCollapseId")
            }
        }
        if request.pointee.priority != 10 && request.pointee.priority != 5 && request.pointee.priority != 1 {
            return refused(400, "BadPriority")
        }
        if let expiration = request.pointee.expiration, expiration < 0 { return refused(400, "BadExpirationDate") }
        if request.pointee.payload.isEmpty { return refused(400, "PayloadEmpty") }
        if request.pointee.payload.count > payloadBytesMax { return refused(413, "PayloadTooLarge") }
        return nil
    }

    private static func refused(_ status: UInt16, _ reason: String) -> PushAnswer.Outcome {
        .answered(status: status, reason: Array(reason.utf8), retryAfterSeconds: nil, timestampMillis: nil)
    }

    /// What a byte may be part of.
    private struct Uses: OptionSet {
        let rawValue: UInt8

        static let lowerHex = Uses(rawValue: 1)
        static let uuid = Uses(rawValue: 2)
        static let visible = Uses(rawValue: 4)
        /// A field value may hold spaces inside and bytes above ASCII (RFC 9110 §5.5), but no control characters.
        static let fieldValue = Uses(rawValue: 8)

        /// By byte.
        static let all: [Uses] = (0...UInt8.max).map { byte in
            var uses: Uses = []
            if byte >= 0x30 && byte <= 0x39 || byte >= 0x61 && byte <= 0x66 { uses.formUnion([.lowerHex, .uuid]) }
            if byte == UInt8(ascii: "-") { uses.insert(.uuid) }
            if byte > 0x20 && byte < 0x7f { uses.insert(.visible) }
            if byte >= 0x20 && byte != 0x7f { uses.insert(.fieldValue) }
            return uses
        }
    }

    private static func all(_ bytes: [UInt8], _ use: Uses) -> Bool {
        Uses.all.withUnsafeBufferPointer { uses in
            bytes.withUnsafeBufferPointer { bytes in
                var common = use.rawValue
                for byte in bytes { common &= uses[Int(byte)].rawValue }
                return common == use.rawValue
            }
        }
    }
}
