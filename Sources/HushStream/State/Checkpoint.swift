/// How far a task's local state is: written in the same batch as the data it speaks of.
struct Checkpoint: Equatable {
    /// Behind every table of a task.
    static let table: UInt8 = 255
    static let version: UInt8 = 1

    /// What the state belongs to: the application, its tables in order, the partition count. Other state is not taken.
    var identity: String
    /// The next offset of each table's changelog.
    var changelogOffsets: [Int64]
    /// The task's time: the highest append time seen.
    var nowMillis: Int64
    /// When it was written, by the wall clock.
    var writtenMillis: Int64
    var transactions: Int64

    func encoded() -> [UInt8] {
        var bytes: [UInt8] = [Self.version]
        let name = Array(identity.utf8)
        for number in [Int64(name.count), nowMillis, writtenMillis, transactions, Int64(changelogOffsets.count)]
            + changelogOffsets
        {
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes + name
    }

    init(
        identity: String, changelogOffsets: [Int64], nowMillis: Int64, writtenMillis: Int64, transactions: Int64
    ) {
        self.identity = identity
        self.changelogOffsets = changelogOffsets
        self.nowMillis = nowMillis
        self.writtenMillis = writtenMillis
        self.transactions = transactions
    }

    /// Nil where the bytes are not of this format.
    init?(decoding bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 41, bytes[0] == Self.version else { return nil }
        func number(_ index: Int) -> Int64 {
            Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: 1 + 8 * index, as: Int64.self))
        }
        let count = number(4)
        guard count >= 0, count < 256, number(0) >= 0, number(0) < 65_536,
            bytes.count == 41 + Int(count) * 8 + Int(number(0))
        else { return nil }
        identity = String(decoding: bytes[(41 + Int(count) * 8)...], as: UTF8.self)
        nowMillis = number(1)
        writtenMillis = number(2)
        transactions = number(3)
        changelogOffsets = (0..<Int(count)).map { number(5 + $0) }
    }
}
