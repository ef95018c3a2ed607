/// What the JSON body of an APNs answer says: `{"reason": "…", "timestamp": milliseconds}`.
///
/// Tolerant: what is not understood is left out, for the status alone decides where there is no reason.
struct ResponseBody: Hashable {
    /// More of a body than this is not kept.
    static let byteCountMax = 4096
    /// A reason is a word of ASCII letters; anything longer or else is not one.
    static let reasonBytesMax = 64
    var reason: [UInt8] = []
    var timestampMillis: Int64?

    init(parsing bytes: [UInt8]) {
        let object = FlatObject(parsing: bytes)
        if let text = object.strings[Array("reason".utf8)], Self.isReason(text) { reason = text }
        timestampMillis = object.integers[Array("timestamp".utf8)]
    }

    private static func isReason(_ text: [UInt8]) -> Bool {
        guard !text.isEmpty && text.count <= reasonBytesMax else { return false }
        return text.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}
