/// What the books can do wrong; the names are those of the report.
public enum ViolationCode: String, Hashable, Sendable, CaseIterable {
    case missingLines = "missing_lines"
    case doubledLine = "doubled_line"
    case reorderedLine = "reordered_line"
    case alteredLines = "altered_lines"
    case brokenChain = "broken_chain"
    case foreignRecord = "foreign_record"
    case misplacedLine = "misplaced_line"
    case openPart = "open_part"
    case cutEnd = "cut_end"
    case orderMismatch = "order_mismatch"
    case withoutPlanLine = "without_plan_line"
    case tooManyPlanLines = "too_many_plan_lines"
    case foreignID = "foreign_id"
    case lineWithoutInput = "line_without_input"
    case plannedTwice = "planned_twice"
    case finalTwice = "final_twice"
    case finalWithoutOp = "final_without_op"
    case opsNotPushed = "ops_not_pushed"
    case outcomeWithoutPush = "outcome_without_push"
    case sumsDiffer = "sums_differ"

    /// What it means, as the documentation has it.
    public var meaning: String {
        switch self {
        case .missingLines: "a task's numbers have a gap: lines are missing from the ledger"
        case .doubledLine: "a line stands in the ledger twice"
        case .reorderedLine: "a line stands behind lines with higher numbers"
        case .alteredLines: "the digest of an order line does not fit the lines that it covers"
        case .brokenChain: "an order line does not name the digest of the order line before"
        case .foreignRecord: "a record of the ledger that is no line of it"
        case .misplacedLine: "a line stands in another partition than its task's, or its cause does"
        case .openPart: "a task's last lines are covered by no order line"
        case .cutEnd: "a group has committed records that no order line covers: the ledger's end is missing"
        case .orderMismatch: "an order line counts other records than its topic holds between its ends"
        case .withoutPlanLine: "an input, or an id that it names, has no plan line though its planner is past it"
        case .tooManyPlanLines: "an input has more plan lines than it names ids"
        case .foreignID: "a plan line names an id that its input does not"
        case .lineWithoutInput: "the cause of a plan line is no record of its topic"
        case .plannedTwice: "an op was planned twice"
        case .finalTwice: "an op has two final outcomes"
        case .finalWithoutOp: "a final outcome of an op that no plan line tells of"
        case .opsNotPushed: "the ops that plan lines tell of an input are not those in hush.pushes"
        case .outcomeWithoutPush: "an outcome names an op that is not in hush.pushes"
        case .sumsDiffer: "the sums of an hour do not add up"
        }
    }
}

/// One thing that is wrong, with its place: a record of the ledger, of an input, or of `hush.pushes`.
public struct Violation: Hashable, Sendable {
    public var code: ViolationCode
    public var topic: String
    public var partition: Int32
    public var offset: Int64
    public var detail: String

    public init(_ code: ViolationCode, _ topic: String, _ partition: Int32, _ offset: Int64, _ detail: String) {
        self.code = code
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.detail = detail
    }

    public var place: String { "\(topic)-\(partition)@\(offset)" }
}

/// What could not be proved; where any of it is there, the books are not called good.
public enum DoubtCode: String, Hashable, Sendable, CaseIterable {
    case unknownSchema = "unknown_schema"
    case withoutFinal = "without_final"
    case foreignPseudonyms = "foreign_pseudonyms"
    case inputsDeleted = "inputs_deleted"
    case ledgerDeleted = "ledger_deleted"
    case deletedWhileReading = "deleted_while_reading"
    case openTransaction = "open_transaction"
    case endUnknown = "end_unknown"
    case brokersSilent = "brokers_silent"
    case stopped

    public var meaning: String {
        switch self {
        case .unknownSchema: "lines of a version, decision or outcome that this build does not know"
        case .withoutFinal: "deliver lines that do not say whether they are final, of a build before 0.1"
        case .foreignPseudonyms:
            "names stand in the ledger as pseudonyms of a key that was not given (ledger.pseudonym.key.file)"
        case .inputsDeleted: "inputs of the range were deleted by retention"
        case .ledgerDeleted: "lines of the range were deleted from the ledger by retention"
        case .deletedWhileReading: "records were deleted by retention while the audit read"
        case .openTransaction: "a transaction is open: what stands behind it could not be read"
        case .endUnknown: "the offsets of a group of workers cannot be read: a cut end would not show"
        case .brokersSilent: "the brokers gave nothing for too long: the reading is not complete"
        case .stopped: "the audit was stopped before the end"
        }
    }
}

public struct Doubt: Hashable, Sendable {
    public var code: DoubtCode
    public var detail: String

    public init(_ code: DoubtCode, _ detail: String) {
        self.code = code
        self.detail = detail
    }
}

/// The violations that are told, and how many there are of each kind.
struct Violations {
    /// How many are kept with their places.
    static let keptMax = 1000

    private(set) var kept: [Violation] = []
    private(set) var counts: [ViolationCode: Int] = [:]

    var count: Int { counts.values.reduce(0, +) }

    mutating func add(
        _ code: ViolationCode, _ topic: String, _ partition: Int32, _ offset: Int64, _ detail: @autoclosure () -> String
    ) {
        counts[code, default: 0] += 1
        if kept.count < Self.keptMax { kept.append(Violation(code, topic, partition, offset, detail())) }
    }
}
