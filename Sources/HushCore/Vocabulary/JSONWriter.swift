/// Builds compact JSON by appending bytes; the caller keeps the grammar.
///
/// Strings leave in raw UTF-8 with the shortest escapes, so the bytes are the same on every machine. Make one, use it
/// for many records with `removeAll`, and no record allocates.
public struct JSONWriter: ~Copyable {
    @usableFromInline var buffer: ByteBuffer

    public init(reserving capacity: Int = 512) {
        buffer = ByteBuffer(reserving: capacity)
    }

    /// What was written, copied.
    public var bytes: [UInt8] { buffer.bytes }
    /// How many bytes were written.
    @inlinable public var count: Int { buffer.count }

    /// Shows what was written, without a copy.
    @inlinable
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        buffer.withUnsafeBytes(body)
    }

    @inlinable
    public mutating func removeAll() {
        buffer.removeAll()
    }

    /// Takes back what was written beyond `count` bytes.
    public mutating func truncate(to count: Int) {
        buffer.truncate(to: count)
    }

    /// Text that is JSON already, such as `{"v":1,"id":`.
    @inlinable
    public mutating func raw(_ text: StaticString) {
        buffer.append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Bytes that are JSON already.
    @inlinable
    public mutating func raw(_ json: [UInt8]) {
        buffer.append(json)
    }

    public mutating func raw(_ json: ArraySlice<UInt8>) {
        json.withUnsafeBytes { buffer.append($0) }
    }

    @inlinable
    public mutating func raw(_ json: UnsafeRawBufferPointer) {
        buffer.append(json)
    }

    @inlinable
    public mutating func byte(_ byte: UInt8) {
        buffer.append(byte)
    }

    /// A JSON string, quoted and escaped; the text must be valid UTF-8, which its reader has checked.
    public mutating func string(_ text: Bytes) {
        text.raw.withUnsafeBytes { string($0) }
    }

    /// The same from memory that belongs to somebody else.
    public mutating func string(_ text: UnsafeRawBufferPointer) {
        buffer.append(UInt8(ascii: "\""))
        if Self.hasEscape(text) {
            for byte in text { escape(byte) }
        } else {
            buffer.append(text)
        }
        buffer.append(UInt8(ascii: "\""))
    }

    @inlinable
    public mutating func integer(_ value: some BinaryInteger) {
        digits(isNegative: value < 0, UInt64(value.magnitude))
    }

    @usableFromInline
    mutating func digits(isNegative: Bool, _ magnitude: UInt64) {
        // The longest number, 2^64 - 1, has 20 digits.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 21) { digits in
            var rest = magnitude
            var start = digits.count
            repeat {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            if isNegative {
                start -= 1
                digits[start] = UInt8(ascii: "-")
            }
            buffer.append(UnsafeRawBufferPointer(UnsafeMutableBufferPointer(rebasing: digits[start...])))
        }
    }

    public mutating func boolean(_ value: Bool) {
        raw(value ? "true" : "false")
    }

    /// Whether a byte of the text is a control character, a quote or a backslash; looks at eight at a time.
    private static func hasEscape(_ text: UnsafeRawBufferPointer) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs = ones << 7
        var index = 0
        while index + 8 <= text.count {
            let word = text.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let quote = word ^ ones &* UInt64(UInt8(ascii: "\""))
            let backslash = word ^ ones &* UInt64(UInt8(ascii: "\\"))
            // A byte below n sets its high bit in `(x - n) & ~x`; a byte that equals n is zero after the xor.
            let found = (word &- ones &* 0x20) & ~word | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
            if found & highs != 0 { return true }
            index += 8
        }
        while index < text.count {
            let byte = text[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return true }
            index += 1
        }
        return false
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): raw("\\\"")
        case UInt8(ascii: "\\"): raw("\\\\")
        case 0x08: raw("\\b")
        case 0x09: raw("\\t")
        case 0x0a: raw("\\n")
        case 0x0c: raw("\\f")
        case 0x0d: raw("\\r")
        case 0..<0x20:
            raw("\\u00")
            buffer.append(Hex.encode(CollectionOfOne(byte)))
        default: buffer.append(byte)
        }
    }
}
