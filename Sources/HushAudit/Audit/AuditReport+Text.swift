import HushCore

extension AuditReport {
    /// For people: the sums by hour, what is wrong with its places, and the verdict last.
    public var text: String {
        var lines = scope.map { "\($0)" }
        lines.append(
            "\(counts.inputs) inputs, \(counts.lines) ledger lines of \(tasks) tasks (\(counts.planLines) plan, "
                + "\(counts.deliverLines) deliver, \(counts.orderLines) order, \(counts.redriveLines) redrive), \(counts.pushes) pushes"
        )
        if counts.outside > 0 {
            lines.append("\(counts.outside) lines and outcomes belong to inputs outside of the range")
        }
        if counts.unchecked > 0 {
            lines.append("\(counts.unchecked) lines stand before the first order line that could be checked")
        }
        lines += builds.map { "decided by \($0)" }
        // The table ends with a line feed of its own.
        lines += ["", TextTable.text(table)]
        for (code, count) in violationCounts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            lines.append("\(count) \(code.rawValue): \(code.meaning)")
        }
        for violation in violations.prefix(Self.toldMax) {
            lines.append("  \(violation.code.rawValue) \(violation.place): \(violation.detail)")
        }
        let untold = violationCounts.values.reduce(0, +) - min(violations.count, Self.toldMax)
        if untold > 0 { lines.append("  and \(untold) more (--json, --sqlite)") }
        for doubt in doubts {
            lines.append("not proved: \(doubt.code.rawValue): \(doubt.code.meaning): \(doubt.detail)")
        }
        lines.append(verdictText)
        return lines.joined(separator: "\n")
    }

    /// Violations that are told one by one to people.
    static let toldMax = 50

    var verdictText: String {
        switch verdict {
        case .proved: "the books are right"
        case .violated: "the books are WRONG: \(violationCounts.values.reduce(0, +)) violations"
        case .unproved: "the books are NOT PROVED: nothing wrong was found, and not all could be read"
        }
    }

    /// Rows of cells: hours, and their sum.
    private var table: [[String]] {
        let rows = hours.suffix(Self.hoursMax) + [total]
        let decisions = PlanDecision.allCases.filter { total.decisions[Int($0.rawValue)] > 0 }
        let outcomes = DeliveryOutcome.allCases.filter { total.outcomes[Int($0.rawValue)] > 0 }
        var cells = [["hour (UTC)"] + rows.map { Self.hourText($0.hour) }]
        func add(_ name: String, _ number: (HourCounts) -> Int) { cells.append([name] + rows.map { "\(number($0))" }) }
        add("lines called for") { $0.wanted }
        for decision in decisions { add("  \(decision.name)") { $0.decisions[Int(decision.rawValue)] } }
        add("  wait for the planner") { $0.waiting }
        add("ops") { $0.ops }
        for outcome in outcomes { add("  \(outcome.name)") { $0.outcomes[Int(outcome.rawValue)] } }
        add("  pending") { $0.pending }
        return cells
    }

    /// Hours that people are shown; `--json` has all.
    private static let hoursMax = 6
}
