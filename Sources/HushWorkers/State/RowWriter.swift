import HushCore

/// Builds the bytes of a state row: numbers as varints (LEB128; signed ones zigzag), text with its length before it.
///
/// Make one, and use it for many rows with `begin`.
struct RowWriter {
    private(set) var bytes: [UInt8] = []

    init(reserving capacity: Int = 1024) {
        bytes.reserveCapacity(capacity)
    }

    /// Starts a row with the version of its format.
    mutating func begin(format: UInt8) {
        bytes.removeAll(keepingCapacity: true)
        bytes.append(format)
    }

    /// Starts a row of an expiring table: the drop time, big-endian, comes before the format.
    mutating func begin(format: UInt8, dropping drop: Timestamp) {
        bytes.removeAll(keepingCapacity: true)
        let millis = UInt64(bitPattern: drop.millis)
        for shift in stride(from: UInt64(56), through: 0, by: -8) { bytes.append(UInt8(millis >> shift & 0xff)) }
        bytes.append(format)
    }

    mutating func byte(_ value: UInt8) {
        bytes.append(value)
    }

    mutating func natural(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func integer(_ value: Int64) {
        natural(UInt64(bitPattern: value << 1 ^ value >> 63))
    }

    mutating func count(_ value: Int) {
        natural(UInt64(value))
    }

    mutating func text(_ value: Bytes) {
        count(value.count)
        bytes.append(contentsOf: value.raw)
    }

    mutating func raw(_ value: [UInt8]) {
        bytes.append(contentsOf: value)
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
