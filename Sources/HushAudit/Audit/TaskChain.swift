import HushAPNs
import HushCore
import HushWorkers

/// One task's lines in their order: numbers without gaps, and digests that fit (docs/reference/ledger.md).
///
/// The chain is checked from the first line that is seen; where that is not the task's first, from its first order
/// line on.
final class TaskChain {
    let name: Bytes
    /// `plan` or `deliver`, and the partition behind it; nil where the name is of another form.
    let stage: Stage?
    let partition: Int32?

    private let digest = SHA256Digest()
    private var next: Int64?
    /// Numbers that did not come yet, below `next`, with the offset of the line that showed it.
    private(set) var missing: [(numbers: Range<Int64>, offset: Int64)] = []
    /// What the next order line must name as `previous`; empty where that is not known.
    private var previous: [[UInt8]]
    /// Whether the lines since the last order line are all there, so that the digest must fit.
    private var isWhole: Bool
    private var partFirst: (number: Int64, offset: Int64)?
    /// Lines whose digest could not be checked, for the order line before them was not read.
    private(set) var unchecked = 0
    private var openLines = 0
    /// The number behind the last line of the first reading; nil before its end.
    private var passEnd: Int64?
    private(set) var lastOffset: Int64 = 0
    /// Whether every line from the task's very first on was there, in order.
    private(set) var isUnbroken: Bool
    /// Topic by topic, what the last order line said; nil after a break.
    var ends: [InputTopic: Int64] = [:]

    init(name: Bytes, firstNumber: Int64) {
        self.name = name
        let parts = name.text.split(separator: "-")
        stage = parts.count == 2 ? Stage(rawValue: String(parts[0])) : nil
        partition = parts.count == 2 ? Int32(parts[1]) : nil
        isWhole = firstNumber == 0
        isUnbroken = firstNumber == 0
        previous = firstNumber == 0 ? [Array(repeating: UInt8(ascii: "0"), count: 64)] : []
    }

    /// What the numbers say of a line.
    enum Number {
        case next
        case gap
        case late
        case again
    }

    /// Takes in a line's number. A line that comes again is not to be taken for anything else.
    func take(_ number: Int64, at offset: Int64) -> Number {
        lastOffset = offset
        let expected = next ?? number
        if number == expected {
            next = number + 1
            return .next
        }
        if number > expected {
            breakOff()
            missing.append((expected..<number, offset))
            next = number + 1
            return .gap
        }
        guard let index = missing.firstIndex(where: { $0.numbers.contains(number) }) else { return .again }
        breakOff()
        let (numbers, seen) = missing.remove(at: index)
        if number + 1 < numbers.upperBound { missing.insert((number + 1..<numbers.upperBound, seen), at: index) }
        if numbers.lowerBound < number { missing.insert((numbers.lowerBound..<number, seen), at: index) }
        return .late
    }

    /// The lines of this part are not what they were: its digest cannot fit.
    private func breakOff() {
        isWhole = false
        isUnbroken = false
        ends.removeAll()
    }

    /// Takes a plan or deliver line into the digest.
    func add(_ bytes: Slice, number: Int64, at offset: Int64) {
        if partFirst == nil { partFirst = (number, offset) }
        openLines += 1
        digest.update(bytes)
        Self.lineFeed.withUTF8Buffer { digest.update(Slice($0)) }
    }

    /// Passes by a line whose form is not known: the digest of its part cannot be told.
    func skip() {
        breakOff()
        openLines += 1
    }

    private static let lineFeed: StaticString = "\n"
    /// `,"digest":"`, 64 hex digits, `"}`.
    private static let tailBytes = 11 + 64 + 2
    private static let tailStart = Array(#","digest":""#.utf8)

    /// What an order line says against the lines it covers.
    enum Verdict {
        case right
        /// It cannot be told: lines before it were not read, or are known to be wrong.
        case unknown
        case altered(from: Int64, through: Int64, firstOffset: Int64)
        case broken
    }

    /// Ends a part with its order line.
    func end(_ bytes: Slice, _ line: LedgerLine, at offset: Int64) -> Verdict {
        let covered = partFirst ?? (line.number, offset)
        let told = [UInt8](line.digest?.text ?? Slice(start: nil, count: 0))
        let isFormed =
            bytes.count > Self.tailBytes && told.count == 64
            && bytes[(bytes.count - Self.tailBytes)...].starts(with: Self.tailStart)
        if isFormed { digest.update(Slice(rebasing: bytes[..<(bytes.count - Self.tailBytes)])) }
        let computed = Hex.encode(digest.finish())
        defer {
            // Both are taken for what the next one may name, so that one alteration is told once.
            previous = computed == told ? [told] : [told, computed]
            isWhole = true
            partFirst = nil
            openLines = 0
        }
        guard isWhole else {
            unchecked += openLines
            return .unknown
        }
        if !previous.isEmpty, !previous.contains([UInt8](line.previous?.text ?? Slice(start: nil, count: 0))) {
            return .broken
        }
        guard isFormed, computed == told else {
            return .altered(from: covered.number, through: line.number, firstOffset: covered.offset)
        }
        return .right
    }

    /// The first reading ends here.
    func endPass() {
        if passEnd == nil { passEnd = next ?? 0 }
    }

    /// Whether lines behind the last order line lack theirs, of a part that the first reading met already.
    var isLeftOpen: Bool {
        guard openLines > 0 else { return false }
        guard let passEnd, let partFirst else { return true }
        return partFirst.number < passEnd
    }
}
