import HushCore

/// Builds the bytes of a state row: numbers as varints (LEB128; signed ones zigzag), text with its length before it.
///
/// Make one, and use it for many rows with `begin`.
struct RowWriter: ~Copyable {
    private var buffer: ByteBuffer

    init(reserving capacity: Int = 1024) {
        buffer = ByteBuffer(reserving: capacity)
    }

    /// The row, copied.
    var bytes: [UInt8] { buffer.bytes }

    /// Shows the row, without a copy.
    func withUnsafeBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
        buffer.withUnsafeBytes(body)
    }

    /// Starts a row with the version of its format.
    mutating func begin(format: UInt8) {
        buffer.removeAll()
        buffer.append(format)
    }

    /// Starts a row of an expiring table: the drop time, big-endian, comes before the format.
    mutating func begin(format: UInt8, dropping drop: Timestamp) {
        buffer.removeAll()
        Swift.withUnsafeBytes(of: drop.millis.bigEndian) { buffer.append($0) }
        buffer.append(format)
    }

    mutating func byte(_ value: UInt8) {
        buffer.append(value)
    }

    mutating func natural(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            buffer.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        buffer.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func integer(_ value: Int64) {
        natural(UInt64(bitPattern: value << 1 ^ value >> 63))
    }

    mutating func count(_ value: Int) {
        natural(UInt64(value))
    }

    mutating func text(_ value: Bytes) {
        count(value.count)
        buffer.append(value.raw)
    }

    mutating func raw(_ value: [UInt8]) {
        buffer.append(value)
    }

    mutating func optional(_ value: Bytes?) {
        byte(value == nil ? 0 : 1)
        if let value { text(value) }
    }

    mutating func optional(_ value: Timestamp?) {
        byte(value == nil ? 0 : 1)
        if let value { integer(value.millis) }
    }

    mutating func version(_ value: BindingVersion) {
        integer(value.at.millis)
        integer(Int64(value.partition))
        integer(value.offset)
    }
}
