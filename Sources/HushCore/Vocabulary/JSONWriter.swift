/// Builds compact JSON by appending bytes; the caller keeps the grammar.
///
/// Strings leave in raw UTF-8 with the shortest escapes, so the bytes are the same on every machine. Make one, use it
/// for many records with `removeAll`, and no record allocates.
public struct JSONWriter: Sendable {
    public private(set) var bytes: [UInt8] = []

    @inlinable
    public init(reserving capacity: Int = 512) {
        reserve(capacity)
    }

    public mutating func reserve(_ capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Takes back what was written beyond `count` bytes.
    public mutating func truncate(to count: Int) {
        bytes.removeSubrange(count...)
    }

    /// Text that is JSON already, such as `{"v":1,"id":`.
    public mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Bytes that are JSON already.
    public mutating func raw(_ json: [UInt8]) {
        bytes.append(contentsOf: json)
    }

    public mutating func raw(_ json: ArraySlice<UInt8>) {
        bytes.append(contentsOf: json)
    }

    public mutating func byte(_ byte: UInt8) {
        bytes.append(byte)
    }

    /// A JSON string, quoted and escaped; the text must be valid UTF-8, which its reader has checked.
    public mutating func string(_ text: Bytes) {
        bytes.append(UInt8(ascii: "\""))
        if text.raw.contains(where: Self.needsEscape) {
            for byte in text.raw { escape(byte) }
        } else {
            bytes.append(contentsOf: text.raw)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// The same from memory that belongs to somebody else.
    public mutating func string(_ text: UnsafeRawBufferPointer) {
        bytes.append(UInt8(ascii: "\""))
        if text.contains(where: Self.needsEscape) {
            for byte in text { escape(byte) }
        } else {
            bytes.append(contentsOf: text)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    public mutating func integer(_ value: some BinaryInteger) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        var magnitude = UInt64(value.magnitude)
        let start = bytes.count
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude % 10))
            magnitude /= 10
        } while magnitude > 0
        bytes[start...].reverse()
    }

    public mutating func boolean(_ value: Bool) {
        raw(value ? "true" : "false")
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
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
            bytes.append(contentsOf: Hex.encode(CollectionOfOne(byte)))
        default: bytes.append(byte)
        }
    }
}
