import HushCore
import HushStream

/// Reads the bytes of a state row, in the order in which `RowWriter` wrote them.
///
/// A format that is newer than this build knows, or bytes that are no row of it, fail the task: a row is never guessed.
struct RowReader {
    private let bytes: UnsafeRawBufferPointer
    private var position: Int
    private let row: StaticString
    /// The version of the format, at most what the caller knows.
    let format: UInt8

    /// Begins behind the bytes to skip, such as a drop time; `row` is what a failure calls the row.
    /// - Throws: where there is no format, or one above `newest`.
    init(
        _ row: StaticString, _ bytes: UnsafeRawBufferPointer, newest: UInt8, skipping: Int = 0
    ) throws(TaskFailure) {
        guard bytes.count > skipping else { throw TaskFailure("a \(row) row is empty") }
        self.row = row
        self.bytes = bytes
        format = bytes[skipping]
        position = skipping + 1
        guard format >= 1, format <= newest else {
            throw TaskFailure(
                "a \(row) row has format \(format), and this build knows up to \(newest): run the newer build")
        }
    }

    mutating func byte() throws(TaskFailure) -> UInt8 {
        guard position < bytes.count else { throw broken("ends early") }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func natural() throws(TaskFailure) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let next = try byte()
            value |= UInt64(next & 0x7f) << shift
            if next < 0x80 { return value }
        }
        throw broken("holds a number beyond 64 bits")
    }

    mutating func integer() throws(TaskFailure) -> Int64 {
        let value = try natural()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    mutating func count() throws(TaskFailure) -> Int {
        let value = try natural()
        guard value <= UInt64(bytes.count) else { throw broken("counts more than it holds") }
        return Int(value)
    }

    mutating func raw(_ count: Int) throws(TaskFailure) -> UnsafeRawBufferPointer {
        guard count >= 0, bytes.count - position >= count else { throw broken("ends early") }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
    }

    mutating func text() throws(TaskFailure) -> Bytes {
        Bytes(copying: try raw(try count()))
    }

    mutating func optionalText() throws(TaskFailure) -> Bytes? {
        try byte() == 0 ? nil : try text()
    }

    mutating func optionalTime() throws(TaskFailure) -> Timestamp? {
        try byte() == 0 ? nil : Timestamp(millis: try integer())
    }

    mutating func time() throws(TaskFailure) -> Timestamp {
        Timestamp(millis: try integer())
    }

    mutating func version() throws(TaskFailure) -> BindingVersion {
        let at = try time()
        let partition = try integer()
        guard let partition = Int32(exactly: partition) else { throw broken("has a partition beyond 32 bits") }
        return BindingVersion(at: at, partition: partition, offset: try integer())
    }

    /// A value of an enumeration by its raw byte.
    mutating func choice<Choice: RawRepresentable>(
        _ type: Choice.Type = Choice.self
    ) throws(TaskFailure) -> Choice where Choice.RawValue == UInt8 {
        guard let value = Choice(rawValue: try byte()) else { throw broken("has a value out of range") }
        return value
    }

    /// Checks that all of the row was read.
    func end() throws(TaskFailure) {
        guard position == bytes.count else { throw broken("is longer than it should be") }
    }

    private func broken(_ what: String) -> TaskFailure {
        TaskFailure("a \(row) row \(what)")
    }
}
