/// The topics the planner reads.
public enum InputTopic: UInt8, Hashable, Sendable, CaseIterable {
    case intents
    case reads
    case devices
    case signals
    case fanout
}

/// Where a record stands in a planner input; the `cause` of a decision, an op and an outcome.
public struct Position: Hashable, Sendable {
    public var topic: InputTopic
    public var partition: Int32
    public var offset: Int64

    @inlinable
    public init(topic: InputTopic, partition: Int32, offset: Int64) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
    }
}

/// The version of a binding: the append time of the register that made it, then its place, compared part by part.
public struct BindingVersion: Hashable, Comparable, Sendable {
    public var at: Timestamp
    public var partition: Int32
    public var offset: Int64

    @inlinable
    public init(at: Timestamp, partition: Int32, offset: Int64) {
        self.at = at
        self.partition = partition
        self.offset = offset
    }

    @inlinable
    public static func < (left: BindingVersion, right: BindingVersion) -> Bool {
        (left.at.millis, left.partition, left.offset) < (right.at.millis, right.partition, right.offset)
    }
}

/// The name of an op: where its record stands in `hush.pushes`, and its index in it; written `3:1207:0`.
public struct OpID: Hashable, Comparable, Sendable {
    public var partition: Int32
    public var offset: Int64
    public var index: Int32

    @inlinable
    public init(partition: Int32, offset: Int64, index: Int32) {
        self.partition = partition
        self.offset = offset
        self.index = index
    }

    /// Reads the written form; nil where the text is not one.
    public init?(_ text: Bytes) {
        guard let op = text.raw.withUnsafeBytes({ OpID($0) }) else { return nil }
        self = op
    }

    /// Reads the written form; nil where the text is not one.
    public init?(_ text: UnsafeRawBufferPointer) {
        var rest = text[...]
        guard let partition = Self.number(&rest).flatMap({ Int32(exactly: $0) }), rest.popFirst() == UInt8(ascii: ":"),
            let offset = Self.number(&rest), rest.popFirst() == UInt8(ascii: ":"),
            let index = Self.number(&rest).flatMap({ Int32(exactly: $0) }), rest.isEmpty
        else { return nil }
        self.init(partition: partition, offset: offset, index: index)
    }

    /// Takes the digits that come first; nil where there are none, or too many.
    private static func number(_ text: inout Slice<UnsafeRawBufferPointer>) -> Int64? {
        let digits = text.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard (1...18).contains(digits.count) else { return nil }
        text = text.dropFirst(digits.count)
        return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }

    @inlinable
    public static func < (left: OpID, right: OpID) -> Bool {
        (left.partition, left.offset, left.index) < (right.partition, right.offset, right.index)
    }
}

extension OpID: CustomStringConvertible {
    public var description: String { "\(partition):\(offset):\(index)" }
}
