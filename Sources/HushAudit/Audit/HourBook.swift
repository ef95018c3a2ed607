import HushCore

/// Counts by the hour in which an input was appended: what its records called for, and what came of them.
struct HourBook {
    static let inputs = 0
    static let wanted = inputs + InputTopic.allCases.count
    static let decisions = wanted + 1
    static let planned = decisions + PlanDecision.allCases.count
    static let outcomes = planned + 1
    static let waiting = outcomes + DeliveryOutcome.allCases.count
    static let pending = waiting + 1
    static let extra = pending + 1
    static let columns = extra + 1

    private(set) var rows: [Int64: [Int]] = [:]
    // One hour serves many lines.
    private var lastHour = Int64.min
    private var last: [Int] = []

    mutating func add(_ column: Int, _ hour: Int64, _ count: Int = 1) {
        if hour != lastHour {
            settle()
            last = rows[hour] ?? Array(repeating: 0, count: Self.columns)
            lastHour = hour
        }
        last[column] += count
    }

    /// Writes back the hour in hand.
    mutating func settle() {
        if lastHour != .min { rows[lastHour] = last }
    }

    static func inputColumn(_ topic: InputTopic) -> Int { inputs + Int(topic.rawValue) }
    static func decisionColumn(_ decision: PlanDecision) -> Int { decisions + Int(decision.rawValue) }
    static func outcomeColumn(_ outcome: DeliveryOutcome) -> Int { outcomes + Int(outcome.rawValue) }
}

/// The sums of one hour, or of all.
public struct HourCounts: Hashable, Sendable {
    /// Hours since 1970; nil for the sum of all.
    public var hour: Int64?
    /// Records by input topic.
    public var inputs: [Int]
    /// Plan lines that the records call for: one a record or hello and id.
    public var wanted: Int
    /// Plan lines by decision.
    public var decisions: [Int]
    /// Ops that plan lines tell of.
    public var ops: Int
    /// Final outcomes of ops.
    public var outcomes: [Int]
    /// Lines that the planner has not come to yet.
    public var waiting: Int
    /// Ops without a final outcome.
    public var pending: Int
    /// Plan lines that answer no record and id: what made room for another, slices, and what a register behind an
    /// audience's walk brings.
    public var extra: Int

    init(hour: Int64?, row: [Int]) {
        self.hour = hour
        inputs = Array(row[HourBook.inputs..<HourBook.wanted])
        wanted = row[HourBook.wanted]
        decisions = Array(row[HourBook.decisions..<HourBook.planned])
        ops = row[HourBook.planned]
        outcomes = Array(row[HourBook.outcomes..<HourBook.waiting])
        waiting = row[HourBook.waiting]
        pending = row[HourBook.pending]
        extra = row[HourBook.extra]
    }

    /// Decisions that answer a record and id.
    public var answered: Int { decisions.reduce(0, +) - extra }

    /// wanted = answered + waiting.
    public var areInputsBalanced: Bool { wanted == answered + waiting }
    /// ops = final outcomes + pending.
    public var areOpsBalanced: Bool { ops == outcomes.reduce(0, +) + pending }

    mutating func add(_ other: HourCounts) {
        for index in inputs.indices { inputs[index] += other.inputs[index] }
        for index in decisions.indices { decisions[index] += other.decisions[index] }
        for index in outcomes.indices { outcomes[index] += other.outcomes[index] }
        wanted += other.wanted
        ops += other.ops
        waiting += other.waiting
        pending += other.pending
        extra += other.extra
    }
}
