import HushCore
import HushWorkers

/// A line as the ledger has it.
struct RecordedLine: Hashable {
    var offset: Int64
    var decision: PlanDecision
    var bytes: [UInt8]

    /// What a replay must write again: all behind the line's number, which shifts with every line more or less.
    var told: ArraySlice<UInt8> { Self.told(bytes) }

    static func told(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        for index in bytes.indices.prefix(headMax) where bytes[index...].starts(with: timeStart) {
            return bytes[index...]
        }
        return bytes[...]
    }

    private static let timeStart = Array(#","at":"#.utf8)
    /// Version, task and number take less.
    private static let headMax = 128
}

/// What one order line of a planner covers: how its inputs were interleaved, and the lines that came of them.
struct RecordedPart {
    struct Run: Hashable {
        /// Nil: slices of audiences.
        var topic: InputTopic?
        var count: Int
    }

    /// Of the order line: its number, its place and the broker's time.
    var number: Int64
    var offset: Int64
    var appended: Timestamp
    var config: Bytes
    var build: Bytes
    /// The mark of the key that names stand under; nil: in clear.
    var pseudonyms: Bytes?
    var runs: [Run] = []
    /// The offset behind the last record taken of each topic.
    var ends: [InputTopic: Int64] = [:]
    /// By the record that caused them, in their order.
    var lines: [CauseWord: [RecordedLine]] = [:]
    /// Of each slice: whom it evicted, and its own line.
    var slices: [[RecordedLine]] = []

    /// How many records of each topic it took.
    var counts: [InputTopic: Int] {
        runs.reduce(into: [:]) { counts, run in if let topic = run.topic { counts[topic, default: 0] += run.count } }
    }
}

/// Gathers the lines of one planner task into parts.
struct PartReader {
    private let task: Bytes
    private let reader = LineReader()
    /// Behind the first order line that was appended then or later nothing is taken.
    private let until: Timestamp
    private var isBeyond = false
    private var lines: [CauseWord: [RecordedLine]] = [:]
    private var slices: [[RecordedLine]] = []
    private var slice: [RecordedLine] = []
    /// Lines since the last order line.
    private(set) var openLines = 0
    /// The number of the first line that was read.
    private(set) var firstNumber: Int64?
    /// Records of the partition that could not be read, with the first of them in words.
    private(set) var unreadable = 0
    private(set) var firstUnreadable: String?

    init(partition: Int32, until: Timestamp? = nil) {
        task = Bytes("plan-\(partition)")
        self.until = until ?? .distantFuture
    }

    /// Takes a record of the ledger; gives the part that it ends, where it is an order line of the task.
    mutating func take(_ bytes: [UInt8], offset: Int64, appended: Timestamp) -> RecordedPart? {
        guard !isBeyond else { return nil }
        return bytes.withUnsafeBytes { memory in
            let line: LedgerLine
            do throws(LineFault) {
                line = try reader.read(memory)
            } catch {
                return unreadable(offset, "\(error)")
            }
            guard task.isEqual(to: line.task) else { return nil }
            if firstNumber == nil { firstNumber = line.number }
            switch line.kind {
            case .order: return end(line, offset, appended)
            case .plan(let decision):
                guard let cause = line.cause?.causeWord else { return unreadable(offset, "it has no cause") }
                add(RecordedLine(offset: offset, decision: decision, bytes: bytes), cause)
                return nil
            case .deliver, .redrive: return unreadable(offset, "it is no line of a planner")
            case .unknown(let what): return unreadable(offset, "it has \(what), which this build does not know")
            }
        }
    }

    private mutating func unreadable(_ offset: Int64, _ reason: String) -> RecordedPart? {
        unreadable += 1
        if firstUnreadable == nil { firstUnreadable = "offset \(offset): \(reason)" }
        return nil
    }

    private mutating func add(_ line: RecordedLine, _ cause: CauseWord) {
        openLines += 1
        // A copy of an audience's intent evicts nobody by itself: only its slices do, before their own line.
        if cause.topic == .fanout, line.decision == .evicted || line.decision == .sliced {
            slice.append(line)
            guard line.decision == .sliced else { return }
            slices.append(slice)
            slice = []
        } else {
            lines[cause, default: []].append(line)
        }
    }

    private mutating func end(_ line: LedgerLine, _ offset: Int64, _ appended: Timestamp) -> RecordedPart? {
        func text(_ value: JSONValue?) -> Bytes { value.map { Bytes(copying: $0.text) } ?? Bytes([]) }
        isBeyond = appended >= until
        var part = RecordedPart(
            number: line.number, offset: offset, appended: appended, config: text(line.config),
            build: text(line.build), pseudonyms: LedgerNames.mark(line))
        for run in line.order?.children.map({ $0 }) ?? [] {
            var parts = run.children
            guard let name = parts.next()?.text, let count = parts.next()?.whole, count > 0 else {
                return unreadable(offset, "its order cannot be read")
            }
            let topic = InputTopic(named: name)
            guard topic != nil || name.elementsEqual(LedgerBook.slicesRun.utf8) else {
                return unreadable(offset, "its order names a topic that is no input")
            }
            part.runs.append(.init(topic: topic, count: Int(clamping: count)))
        }
        for end in line.ends?.children.map({ $0 }) ?? [] {
            if let topic = InputTopic(named: end.key), let offset = end.whole { part.ends[topic] = offset }
        }
        // Evictions of a slice whose line is missing still are recorded lines.
        if !slice.isEmpty { slices.append(slice) }
        part.lines = lines
        part.slices = slices
        lines = [:]
        slices = []
        slice = []
        openLines = 0
        return part
    }
}
