/// A growable run of bytes that is filled again and again.
///
/// Its room is initialised throughout, so an append is a check and a copy; an array's own `append` costs several times
/// that, and a record takes dozens of them.
public struct ByteBuffer: Sendable {
    /// The first `count` bytes are the content, the rest is room.
    @usableFromInline var room: [UInt8]
    public internal(set) var count = 0

    public init(reserving capacity: Int) {
        room = Array(repeating: 0, count: capacity)
    }

    public var bytes: [UInt8] { Array(room[..<count]) }

    public mutating func removeAll() {
        count = 0
    }

    /// Takes back what was written beyond `end` bytes.
    public mutating func truncate(to end: Int) {
        precondition(end >= 0 && end <= count, "only what was written can be taken back")
        count = end
    }

    /// Makes room for so many bytes in all.
    public mutating func reserve(_ capacity: Int) {
        guard capacity > room.count else { return }
        room.append(contentsOf: repeatElement(0, count: max(capacity - room.count, room.count, 64)))
    }

    public mutating func append(_ byte: UInt8) {
        if count == room.count { reserve(count + 1) }
        room[count] = byte
        count += 1
    }

    public mutating func append(_ source: UnsafeRawBufferPointer) {
        let (start, end) = (count, count + source.count)
        if end > room.count { reserve(end) }
        room.withUnsafeMutableBytes { room in
            UnsafeMutableRawBufferPointer(rebasing: room[start..<end]).copyMemory(from: source)
        }
        count = end
    }

    public mutating func append(_ source: [UInt8]) {
        source.withUnsafeBytes { append($0) }
    }

    /// Shows what was written, without a copy.
    @inlinable
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try room.withUnsafeBufferPointer { room throws(Failure) in
            try body(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: room[..<count])))
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether two runs of bytes are the same; compares eight at a time.
    @inlinable
    public func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        var index = 0
        while index + 8 <= count {
            let left = loadUnaligned(fromByteOffset: index, as: UInt64.self)
            if left != other.loadUnaligned(fromByteOffset: index, as: UInt64.self) { return false }
            index += 8
        }
        while index < count {
            if self[index] != other[index] { return false }
            index += 1
        }
        return true
    }
}
