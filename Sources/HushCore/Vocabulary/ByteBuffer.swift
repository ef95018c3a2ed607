/// A growable run of bytes that is filled again and again.
///
/// It owns its memory, so an append is one comparison and a copy: an array's asks each time whether it is shared, which
/// costs several times that, and a record takes a hundred appends.
public struct ByteBuffer: ~Copyable {
    @usableFromInline var room: UnsafeMutableRawBufferPointer
    /// How many bytes were written.
    public internal(set) var count = 0

    public init(reserving capacity: Int) {
        room = .allocate(byteCount: capacity, alignment: 1)
    }

    deinit {
        room.deallocate()
    }

    /// What was written, copied.
    public var bytes: [UInt8] { withUnsafeBytes { [UInt8]($0) } }

    public mutating func removeAll() {
        count = 0
    }

    /// Takes back what was written beyond `end` bytes.
    public mutating func truncate(to end: Int) {
        precondition(end >= 0 && end <= count, "only what was written can be taken back")
        count = end
    }

    public mutating func append(_ byte: UInt8) {
        if count == room.count { grow(to: count + 1) }
        room[count] = byte
        count += 1
    }

    public mutating func append(_ source: UnsafeRawBufferPointer) {
        let end = count + source.count
        if end > room.count { grow(to: end) }
        UnsafeMutableRawBufferPointer(rebasing: room[count..<end]).copyMemory(from: source)
        count = end
    }

    public mutating func append(_ source: [UInt8]) {
        source.withUnsafeBytes { append($0) }
    }

    private mutating func grow(to capacity: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(capacity, 2 * room.count), alignment: 1)
        withUnsafeBytes { larger.copyMemory(from: $0) }
        room.deallocate()
        room = larger
    }

    /// Shows what was written, without a copy.
    @inlinable
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: room[..<count]))
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
