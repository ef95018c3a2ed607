/// A growable run of bytes that is filled again and again.
///
/// It owns its memory, so an append is one comparison and a copy: an array's asks each time whether it is shared, which
/// costs several times that, and a record takes a hundred appends.
public struct ByteBuffer: ~Copyable {
    /// Nil exactly while `capacity` is 0: an empty buffer that stands in for a lent one allocates nothing.
    @usableFromInline var start: UnsafeMutableRawPointer?
    @usableFromInline var capacity: Int
    @usableFromInline var written = 0

    /// How many bytes were written.
    @inlinable public var count: Int { written }

    public init(reserving capacity: Int) {
        start = capacity > 0 ? .allocate(byteCount: capacity, alignment: 1) : nil
        self.capacity = capacity
    }

    deinit {
        start?.deallocate()
    }

    /// What was written, copied.
    public var bytes: [UInt8] { withUnsafeBytes { [UInt8]($0) } }

    @inlinable
    public mutating func removeAll() {
        written = 0
    }

    /// Takes back what was written beyond `end` bytes.
    public mutating func truncate(to end: Int) {
        precondition(end >= 0 && end <= written, "only what was written can be taken back")
        written = end
    }

    // The appends are inlined where they are used: a piece of a known length is then written by a move or two.

    @inlinable
    public mutating func append(_ byte: UInt8) {
        reserve(1)
        start.unsafelyUnwrapped.storeBytes(of: byte, toByteOffset: written, as: UInt8.self)
        written += 1
    }

    @inlinable
    public mutating func append(_ source: UnsafeRawBufferPointer) {
        guard source.count > 0, let base = source.baseAddress else { return }
        reserve(source.count)
        (start.unsafelyUnwrapped + written).copyMemory(from: base, byteCount: source.count)
        written += source.count
    }

    @inlinable
    public mutating func append(_ source: [UInt8]) {
        source.withUnsafeBytes { append($0) }
    }

    @inlinable
    mutating func reserve(_ more: Int) {
        if more > capacity - written { grow(by: more) }
    }

    @usableFromInline
    mutating func grow(by more: Int) {
        let larger = max(written + more, 2 * capacity)
        let room = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 1)
        if let start {
            room.copyMemory(from: start, byteCount: written)
            start.deallocate()
        }
        start = room
        capacity = larger
    }

    /// Shows what was written, without a copy.
    @inlinable
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: start, count: written))
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
