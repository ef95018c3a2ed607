public import HushCore
public import HushStream
public import HushWorkers

/// The books of a range of inputs: takes in inputs, ledger lines and pushes, and says what does not add up.
///
/// Pure: it knows no Kafka, and what it is shown may come in any interleaving of partitions; each partition in its
/// order, and all inputs before the first line of the ledger.
public final class AuditBooks {
    /// What is audited of one input partition: the offsets from `start` up to `end`.
    public struct Span: Hashable, Sendable {
        public var topic: InputTopic
        public var partition: Int32
        public var start: Int64
        public var end: Int64

        public init(_ topic: InputTopic, _ partition: Int32, start: Int64, end: Int64) {
            self.topic = topic
            self.partition = partition
            self.start = start
            self.end = end
        }
    }

    /// What surrounds the records.
    public struct Surroundings: Sendable {
        /// The ledger's topic: of another name where a copy is read.
        public var ledgerTopic = Topic.ledger.name
        public var ledgerPartitions: Int32
        /// Ledger partitions whose first records are gone, or were not asked for: a task may begin there with any
        /// number.
        public var beginsLate: Set<Int32> = []
        /// Pushes of causes that were planned before this time may be gone.
        public var pushesFrom = Timestamp.distantPast
        /// By partition, the first offset of `hush.pushes` that is there; empty: they are not compared at all.
        public var pushesFirst: [Int64] = []
        /// What pseudonyms in the ledger are made with; nil where nobody gave a key.
        public var pseudonymKey: PseudonymKey?

        public init(ledgerPartitions: Int32) {
            self.ledgerPartitions = ledgerPartitions
        }
    }

    let surroundings: Surroundings
    var spans: [[InputSpan?]]
    var violations = Violations()
    var doubts: [DoubtCode: (count: Int, first: String)] = [:]
    var hours = HourBook()
    var chains: [TaskChain] = []
    var open = OpenOps()
    /// Final outcomes whose address was bound to nobody: they name no device.
    var nameless: [(what: UInt64, cause: CauseWord, place: Place)] = []
    /// Ops that came of copies of audiences' intents, by record and id: planned less final, and planned less pushed.
    struct Sliced {
        var cause: CauseWord
        var open = 0
        var unpushed = 0
    }
    var sliced: [UInt64: Sliced] = [:]
    /// By record, whether the last slice of its walk was met, and whether all its pushes must still be there.
    var walks: [UInt64: (isOver: Bool, isCheckable: Bool)] = [:]
    var finals = OffsetBits()
    var pushed = OffsetBits()
    /// By partition of `hush.pushes`: what the deliverers' group has committed, the last record below that, and up to
    /// where order lines tell of it.
    var deliveredOffsets: [Int64] = []
    var lastDelivered: [Int64] = []
    var delivered: [Int32: Int64] = [:]
    /// Whether the ledger was read to its end once.
    var isPassEnded = false
    var counts = AuditCounts()
    /// Names in the ledger, and the keys that order lines say they stand under.
    var names: LedgerNames
    /// Settings and builds that order lines name.
    var builds: Set<String> = []

    let hash: KeyedHash
    let ledger = LineReader()
    let pushDocument = JSONDocument()
    private let decoder = InputDecoder()
    private var chainOf: [Bytes: Int] = [:]
    /// By ledger partition, the chain of the line before.
    private var lastChain: [Int]
    /// Where rows for SQLite go.
    public var rows: AuditDatabase?

    /// - Throws: `AuditFault.tooLarge` where the range does not fit the memory.
    public init(
        spans: [Span], _ surroundings: Surroundings, random: inout some RandomNumberGenerator
    ) throws(AuditFault) {
        self.surroundings = surroundings
        hash = KeyedHash(&random)
        names = LedgerNames(surroundings.pseudonymKey)
        lastChain = Array(repeating: -1, count: Int(surroundings.ledgerPartitions))
        self.spans = InputTopic.allCases.map { _ in [] }
        for span in spans {
            guard span.partition >= 0, span.partition <= CauseWord.partitionMax, span.end <= Place.offsetMax,
                let made = InputSpan(span.topic, span.partition, start: span.start, end: span.end)
            else { throw .tooLarge("\(span.topic.topic.name)-\(span.partition)", span.end - span.start) }
            let topic = Int(span.topic.rawValue)
            while self.spans[topic].count <= Int(span.partition) { self.spans[topic].append(nil) }
            self.spans[topic][Int(span.partition)] = made
        }
    }

    func doubt(_ code: DoubtCode, _ detail: @autoclosure () -> String) {
        doubts[code] = doubts[code].map { ($0.count + 1, $0.first) } ?? (1, detail())
    }

    func span(_ cause: CauseWord) -> InputSpan? {
        let topic = spans[Int(cause.topic.rawValue)]
        guard Int(cause.partition) < topic.count, let span = topic[Int(cause.partition)], span.contains(cause.offset)
        else { return nil }
        return span
    }

    // MARK: inputs

    /// Takes a record of an input in.
    public func takeInput(_ topic: InputTopic, _ record: InputRecord) {
        guard let span = span(CauseWord(topic, record.partition, record.offset)) else { return }
        let hour = record.appendTimeMillis / 3_600_000
        var lines = 0
        var sum: UInt64 = 0
        for id in idsThatNeedLines(topic, record) {
            lines += 1
            sum &+= idHash(id)
        }
        span.took(record.offset, hour: hour, lines: lines, sum: sum)
        hours.add(HourBook.inputColumn(topic), hour)
        hours.add(HourBook.wanted, hour, lines)
        counts.inputs += 1
        rows?.input(topic, record, lines: lines)
    }

    /// The ids of a record that get a line each; nil stands for a line without one.
    private func idsThatNeedLines(_ topic: InputTopic, _ record: InputRecord) -> [Bytes?] {
        record.headers.withValue(of: "content-type") { type in
            record.headers.withValue(of: "ce_time") { time in
                let message = InputMessage(
                    topic: topic, key: record.key, value: record.value, contentType: type, eventTime: time)
                do throws(DeadReason) {
                    return try decoder.decode(message).event.lineIDs
                } catch {
                    return [nil]
                }
            }
        }
    }

    func idHash(_ id: Bytes?) -> UInt64 {
        guard let id else { return hash.mix(0, 3) }
        return id.raw.withUnsafeBytes { hash.hash($0, 1) }
    }

    func idHash(_ id: JSONValue?) -> UInt64 {
        guard let id, id.isString else { return hash.mix(0, 3) }
        return hash.hash(id.text, 1)
    }

    // MARK: the ledger

    /// The chain of a task, made at its first line.
    func chain(_ line: LedgerLine, _ partition: Int32, _ offset: Int64) -> TaskChain {
        let last = lastChain[Int(partition)]
        if last >= 0, chains[last].name.isEqual(to: line.task) { return chains[last] }
        let name = Bytes(copying: line.task)
        if let known = chainOf[name] {
            lastChain[Int(partition)] = known
            return chains[known]
        }
        let beginsLate = surroundings.beginsLate.contains(partition)
        if !beginsLate, line.number > 0, maySayMissing {
            violations.add(
                .missingLines, surroundings.ledgerTopic, partition, offset,
                "\(name): its first line has number \(line.number): lines 0 to \(line.number - 1) are missing")
        }
        let chain = TaskChain(name: name, firstNumber: line.number)
        if isPassEnded { chain.endPass() }
        chainOf[name] = chains.count
        lastChain[Int(partition)] = chains.count
        chains.append(chain)
        return chain
    }
}

/// How much was read.
public struct AuditCounts: Hashable, Sendable {
    public var inputs = 0
    public var lines = 0
    public var planLines = 0
    public var deliverLines = 0
    public var orderLines = 0
    public var redriveLines = 0
    /// Plan lines and final outcomes whose input lies outside of the range.
    public var outside = 0
    public var pushes = 0
    /// Lines that no order line could be checked with, for the one before them was not read.
    public var unchecked = 0

    public init() {}
}

/// Why an audit could not begin, or not write what it was asked for.
public enum AuditFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// A partition's range has more offsets than there is memory for.
    case tooLarge(String, Int64)
    /// The range holds no record.
    case empty(String)
    case database(String)

    public var description: String {
        switch self {
        case .tooLarge(let place, let count):
            "\(place): there is no memory for \(count) offsets: audit a shorter range (--from, --to)"
        case .empty(let what): what
        case .database(let what): what
        }
    }
}
