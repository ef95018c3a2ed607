/// The trace that a record belongs to: the `trace-id` of W3C Trace Context, 16 bytes that are not all zero.
public struct TraceID: Hashable, Sendable {
    public let high: UInt64
    public let low: UInt64

    /// Nil for zero, which names no trace.
    public init?(high: UInt64, low: UInt64) {
        if high == 0, low == 0 { return nil }
        self.high = high
        self.low = low
    }

    /// Reads the value of a `traceparent` header: version, trace, parent and flags in lower-case hex. A later version
    /// may say more behind a hyphen.
    ///
    /// Nil where it has not that form, for then the header is to be taken as absent (W3C Trace Context, 3.2.2).
    public init?(traceparent text: UnsafeRawBufferPointer) {
        guard text.count >= Self.bytes, text[2] == Self.hyphen, text[35] == Self.hyphen, text[52] == Self.hyphen,
            let version = Self.number(text, 0..<2), version != 0xff,
            let high = Self.number(text, 3..<19), let low = Self.number(text, 19..<35),
            let parent = Self.number(text, 36..<52), parent != 0, Self.number(text, 53..<55) != nil
        else { return nil }
        if text.count > Self.bytes, version == 0 || text[Self.bytes] != Self.hyphen { return nil }
        self.init(high: high, low: low)
    }

    /// What a header of version 00 takes.
    private static let bytes = 55
    private static let hyphen = UInt8(ascii: "-")

    /// At most 16 digits; nil where one is none, or of upper case.
    private static func number(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> UInt64? {
        var number: UInt64 = 0
        for index in range {
            switch text[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(text[index] - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"):
                number = number << 4 | UInt64(text[index] - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }
}
