import HushCore
import HushWorkers

/// How recipients and devices stand in a ledger, as its order lines tell: in clear, or as pseudonyms of a key.
struct LedgerNames {
    private let pseudonyms: Pseudonyms?
    /// Marks of keys that lines were written under; nil stands for names in clear.
    private var marks: Set<Bytes?> = []

    init(_ key: PseudonymKey?) {
        pseudonyms = key.map(Pseudonyms.init)
    }

    /// Notes what an order line says of its part; the mark of a key that was not given.
    mutating func take(_ line: LedgerLine) -> Bytes? {
        let mark = Self.mark(line)
        marks.insert(mark)
        return mark == pseudonyms?.mark ? nil : mark
    }

    /// The mark of the key that the part of an order line was written under; nil: names stand in clear.
    static func mark(_ line: LedgerLine) -> Bytes? {
        line.root[markName].map { Bytes(copying: $0.text) }
    }

    private static let markName: StaticString = "pseudonyms"

    /// Whether one name stands in one way in all lines, as far as the key tells: else what belongs together may not
    /// meet.
    var areComparable: Bool {
        let known: Set<Bytes?> = pseudonyms.map { [nil, $0.mark] } ?? []
        return marks.count <= 1 || marks.isSubset(of: known)
    }

    /// A device of a line, hashed; with the key the same whether it stands in clear or as a pseudonym, so that ops planned
    /// before the key was set meet their outcomes.
    func hash(_ device: Slice, _ hash: KeyedHash) -> UInt64 {
        guard let pseudonyms, !Pseudonyms.isOne(device) else { return hash.hash(device, 2) }
        return pseudonyms.pseudonym(of: Bytes(copying: device)).raw.withUnsafeBytes { hash.hash($0, 2) }
    }

    /// What was given in its place, in words.
    var given: String { Self.given(pseudonyms?.mark) }

    static func given(_ key: PseudonymKey?) -> String { given(key?.mark) }

    private static func given(_ mark: Bytes?) -> String {
        mark.map { "and the one given is \($0)" } ?? "and none was given"
    }
}
