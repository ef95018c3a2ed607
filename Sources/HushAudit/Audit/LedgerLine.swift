import HushCore
import HushWorkers

/// Text as it lies in the parser's memory.
typealias Slice = UnsafeRawBufferPointer

/// A line of the ledger as it was parsed; valid until its document parses the next one.
struct LedgerLine {
    /// Which of the kinds of lines.
    enum Kind: Hashable {
        case plan(PlanDecision)
        case deliver(DeliveryOutcome)
        case order
        /// A dead letter that was sent again.
        case redrive
        /// Of a version, decision, outcome or action that this build does not know; but for its task and number,
        /// nothing of it can be relied on.
        case unknown(String)
    }

    var kind = Kind.order
    var task = Slice(start: nil, count: 0)
    var number: Int64 = 0
    var at = Slice(start: nil, count: 0)
    var stage = Slice(start: nil, count: 0)
    var id: JSONValue?
    var recipient: JSONValue?
    var device: JSONValue?
    var ops: JSONValue?
    var cause: JSONValue?
    var isFinal: Bool?
    /// Of a redrive line.
    var action: JSONValue?
    /// Ops of a slice, and whether it was its walk's last.
    var count: Int64?
    var isLast: Bool { root[Self.lastName].map { if case .boolean(true) = $0.kind { true } else { false } } ?? false }
    private static let lastName: StaticString = "last"
    var order: JSONValue?
    var ends: JSONValue?
    var previous: JSONValue?
    var digest: JSONValue?
    var config: JSONValue?
    var build: JSONValue?
    /// Revision, attempt, status and the like, for those who tell a story.
    var root: JSONValue
}

/// Why a record is no line that can be read.
enum LineFault: Error, Hashable {
    /// Not of the ledger's form at all.
    case foreign(String)
    /// A version of the form that this build does not know, without a task and a number that it can read.
    case schema(Int64)
}

/// Reads lines of the ledger with simdjson; the parts that every line needs are slices, not copies.
final class LineReader {
    /// The versions of the form that this build reads.
    static let version: Int64 = 1

    private let document = JSONDocument()
    private static let decisions = PlanDecision.allCases.map { (name: $0.name, value: $0) }
    private static let outcomes = DeliveryOutcome.allCases.map { (name: $0.name, value: $0) }

    func read(_ bytes: Slice) throws(LineFault) -> LedgerLine {
        let root: JSONValue
        do throws(JSONFault) {
            root = try document.parse(bytes)
        } catch {
            throw .foreign("it is no JSON object")
        }
        var line = LedgerLine(root: root)
        var (version, number): (Int64?, Int64?)
        var (decision, outcome): (Slice?, Slice?)
        for value in root.children {
            let key = value.key
            switch key.count {
            case 1:
                if value.isNamed("v") { version = value.whole } else if value.isNamed("n") { number = value.whole }
            case 2: if value.isNamed("at") { line.at = value.text } else if value.isNamed("id") { line.id = value }
            case 3: if value.isNamed("ops") { line.ops = value }
            case 4:
                if value.isNamed("task") { line.task = value.text } else if value.isNamed("ends") { line.ends = value }
            case 5: Self.take5(value, &line)
            case 6: Self.take6(value, &line)
            case 7: if value.isNamed("outcome") { outcome = value.text }
            case 8:
                if value.isNamed("decision") {
                    decision = value.text
                } else if value.isNamed("previous") {
                    line.previous = value
                }
            case 9: if value.isNamed("recipient") { line.recipient = value }
            default: continue
            }
        }
        guard let version else { throw .foreign("it has no version") }
        let isKnown = version == Self.version
        guard let number, number >= 0, line.task.count > 0 else {
            throw isKnown ? .foreign("it has no task and number") : .schema(version)
        }
        line.number = number
        line.kind = isKnown ? try Self.kind(line, decision, outcome) : .unknown("version \(version)")
        return line
    }

    @inline(__always)
    private static func take5(_ value: JSONValue, _ line: inout LedgerLine) {
        if value.isNamed("stage") {
            line.stage = value.text
        } else if value.isNamed("cause") {
            line.cause = value
        } else if value.isNamed("final") {
            if case .boolean(let truth) = value.kind { line.isFinal = truth }
        } else if value.isNamed("order") {
            line.order = value
        } else if value.isNamed("count") {
            line.count = value.whole
        } else if value.isNamed("build") {
            line.build = value
        }
    }

    @inline(__always)
    private static func take6(_ value: JSONValue, _ line: inout LedgerLine) {
        if value.isNamed("device") {
            line.device = value
        } else if value.isNamed("digest") {
            line.digest = value
        } else if value.isNamed("config") {
            line.config = value
        } else if value.isNamed("action") {
            line.action = value
        }
    }

    private static func kind(
        _ line: LedgerLine, _ decision: Slice?, _ outcome: Slice?
    ) throws(LineFault) -> LedgerLine.Kind {
        if let decision {
            for known in decisions where known.name.isEqual(to: decision) { return .plan(known.value) }
            return .unknown("decision \(String(decoding: decision, as: UTF8.self))")
        }
        if let outcome {
            for known in outcomes where known.name.isEqual(to: outcome) { return .deliver(known.value) }
            return .unknown("outcome \(String(decoding: outcome, as: UTF8.self))")
        }
        if let action = line.action {
            if action.text.elementsEqual("redriven".utf8) { return .redrive }
            return .unknown("action \(String(decoding: action.text, as: UTF8.self))")
        }
        guard line.order != nil else { throw .foreign("it is no plan, deliver, redrive or order line") }
        return .order
    }
}

extension JSONValue {
    /// A whole number of 64 bits, or nil.
    var whole: Int64? {
        if case .integer(let number) = kind { return number }
        return nil
    }

    var isString: Bool {
        if case .string = kind { return true }
        return false
    }

    /// The position that a `cause` names; nil where it names none.
    var causeWord: CauseWord? {
        var (topic, partition, offset): (InputTopic?, Int64?, Int64?)
        for value in children {
            if value.isNamed("topic") {
                topic = InputTopic(named: value.text)
            } else if value.isNamed("offset") {
                offset = value.whole
            } else if value.isNamed("partition") {
                partition = value.whole
            }
        }
        guard let topic, let partition, let offset, (0...Int64(CauseWord.partitionMax)).contains(partition),
            (0...Place.offsetMax).contains(offset)
        else { return nil }
        return CauseWord(topic, Int32(partition), offset)
    }
}

extension InputTopic {
    private static let names = allCases.map { Bytes($0.topic.name) }

    /// The topic of that name; nil where it is no input.
    init?(named name: Slice) {
        for (index, known) in Self.names.enumerated() where known.isEqual(to: name) {
            self = Self.allCases[index]
            return
        }
        return nil
    }
}

extension OpKind {
    /// The kind as the ledger spells it.
    init?(named name: Slice) {
        for kind in Self.allCases where kind.name.isEqual(to: name) {
            self = kind
            return
        }
        return nil
    }
}
