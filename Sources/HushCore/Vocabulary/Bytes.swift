/// Text as it came over the wire: UTF-8 bytes, compared, ordered and hashed byte by byte.
///
/// Ids, recipients and devices are of this type and never a `String`, whose `==` is canonical equivalence: "é" in its
/// composed and decomposed form are two ids, as they are for Kafka's partitioner.
public struct Bytes: Hashable, Sendable {
    public var raw: [UInt8]

    @inlinable
    public init(_ raw: [UInt8]) {
        self.raw = raw
    }

    @inlinable
    public init(_ slice: ArraySlice<UInt8>) {
        raw = Array(slice)
    }

    /// Copies memory that belongs to somebody else, such as a Kafka message.
    @inlinable
    public init(copying buffer: UnsafeRawBufferPointer) {
        raw = Array(buffer)
    }

    public init(_ text: String) {
        raw = Array(text.utf8)
    }

    @inlinable public var count: Int { raw.count }
    @inlinable public var isEmpty: Bool { raw.isEmpty }

    /// The text for people: malformed UTF-8 is replaced, so this never goes back into a key.
    public var text: String { String(decoding: raw, as: UTF8.self) }
}

extension Bytes {
    @inlinable
    public static func == (left: Bytes, right: Bytes) -> Bool {
        left.raw.withUnsafeBytes { left in right.raw.withUnsafeBytes { left.isEqual(to: $0) } }
    }

    /// Whether memory that belongs to somebody else holds the same bytes.
    @inlinable
    public func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
        raw.withUnsafeBytes { $0.isEqual(to: other) }
    }

    /// All bytes at once: an array would feed them to the hasher one by one.
    @inlinable
    public func hash(into hasher: inout Hasher) {
        hasher.combine(raw.count)
        raw.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

extension Bytes: Comparable {
    /// Orders as `memcmp` does, the shorter one first where one starts the other.
    @inlinable
    public static func < (left: Bytes, right: Bytes) -> Bool {
        left.raw.lexicographicallyPrecedes(right.raw)
    }
}

extension Bytes: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) {
        self.init(text)
    }
}

extension Bytes: CustomStringConvertible {
    public var description: String { text }
}
