import HushCore
import HushStream
import HushWorkers

extension AuditBooks {
    /// Closes the books: what is missing by now is missing. `pushesRead` says by partition how far `hush.pushes` was
    /// read.
    public func close(pushesRead: [Int64] = []) -> AuditReport {
        closeChains()
        closeInputs()
        closeOps()
        closeSlices()
        closePushes(pushesRead)
        let rows = hourRows()
        // Where something has a place and a name, the sums say nothing more.
        let mayConvict = violations.count == 0 && maySayMissing
        let unbalanced = mayConvict ? rows.filter { !$0.areInputsBalanced || !$0.areOpsBalanced } : []
        for row in unbalanced {
            violations.add(
                .sumsDiffer, surroundings.ledgerTopic, -1, -1,
                "hour \(AuditReport.hourText(row.hour)): \(row.wanted) lines called for, \(row.answered) there, "
                    + "\(row.waiting) wait; \(row.ops) ops, \(row.outcomes.reduce(0, +)) final, \(row.pending) pending")
        }
        return report(rows)
    }

    /// The report of an audit that could not read to the end: what is wrong already stays wrong, nothing is called
    /// missing.
    func abandon() -> AuditReport {
        let rows = hourRows()
        return report(rows)
    }

    private func report(_ rows: [HourCounts]) -> AuditReport {
        counts.unchecked = chains.reduce(0) { $0 + $1.unchecked }
        return AuditReport(
            counts: counts, tasks: chains.count, hours: rows, violations: violations.kept,
            violationCounts: violations.counts,
            doubts: doubts.sorted { $0.key.rawValue < $1.key.rawValue }.map { code, doubt in
                Doubt(code, doubt.count == 1 ? doubt.first : "\(doubt.count), first \(doubt.first)")
            }, builds: builds.sorted())
    }

    private func closeChains() {
        guard maySayMissing else { return }
        let topic = surroundings.ledgerTopic
        for chain in chains {
            let partition = chain.partition.map { $0 % surroundings.ledgerPartitions } ?? 0
            for (numbers, offset) in chain.missing {
                let what =
                    numbers.count == 1
                    ? "line \(numbers.lowerBound) is" : "lines \(numbers.lowerBound) to \(numbers.upperBound - 1) are"
                violations.add(
                    .missingLines, topic, partition, offset, "\(chain.name): \(what) missing before this offset")
            }
            if chain.isLeftOpen {
                violations.add(
                    .openPart, topic, partition, chain.lastOffset,
                    "\(chain.name): the lines up to this offset are covered by no order line: the end is missing")
            }
        }
    }

    private func closeInputs() {
        forEachSpan { span in
            let topic = span.topic.topic.name
            for offset in span.start..<span.end {
                switch span.state(offset) {
                case .right, .hole: break
                case .withoutLine where offset >= span.planned:
                    hours.add(HourBook.waiting, span.hour(of: offset), span.wanted(offset))
                case .withoutLine where maySayMissing:
                    violations.add(
                        .withoutPlanLine, topic, span.partition, offset,
                        "it has no plan line, and the planner has taken all up to offset \(span.planned)")
                case .tooFewLines(let lines, let wanted) where maySayMissing:
                    violations.add(
                        .withoutPlanLine, topic, span.partition, offset,
                        "\(lines) of its \(wanted) ids have a plan line")
                case .withoutLine, .tooFewLines: break
                case .tooManyLines(let lines, let wanted):
                    violations.add(
                        .tooManyPlanLines, topic, span.partition, offset,
                        "\(lines) plan lines, and it calls for \(wanted)")
                case .foreignID:
                    violations.add(
                        .foreignID, topic, span.partition, offset, "its plan lines name other ids than it does")
                case .lineWithoutRecord:
                    violations.add(
                        .lineWithoutInput, topic, span.partition, offset,
                        "plan lines name it as their cause, and there is no such record")
                }
            }
        }
    }

    /// Matches outcomes that name no device, then counts what is pending and names what is too much.
    private func closeOps() {
        matchNameless()
        var pending: [(cause: CauseWord, place: Place)] = []
        var early: [(cause: CauseWord, place: Place)] = []
        open.forEach { entry in
            if entry.isEarly {
                early.append((entry.cause, entry.place))
            } else {
                pending.append((entry.cause, entry.place))
            }
        }
        for (cause, _) in pending {
            guard let span = span(cause) else { continue }
            hours.add(HourBook.pending, span.hour(of: cause.offset))
        }
        early += nameless.map { ($0.cause, $0.place) }
        for (cause, place) in early.sorted(by: { $0.place.raw < $1.place.raw }) {
            guard let span = span(cause) else { continue }
            // Its plan line may lie behind the part of the ledger that was read, or be one that cannot be read.
            guard cause.offset < span.planned, maySayMissing, names.areComparable else {
                hours.add(HourBook.planned, span.hour(of: cause.offset))
                continue
            }
            violations.add(
                .finalWithoutOp, surroundings.ledgerTopic, place.partition, place.offset,
                "a final outcome of an op that no plan line of \(cause.topic.topic.name)-\(cause.partition)"
                    + "@\(cause.offset) tells of, or a second one")
        }
    }

    /// A line names no device where the address is bound to nobody: it stands for one that has no outcome of its own.
    private func matchNameless() {
        if nameless.isEmpty { return }
        var wanted: [UInt64: [Int]] = [:]
        // The earliest is taken first.
        for (index, final) in nameless.enumerated().reversed() { wanted[final.what, default: []].append(index) }
        var matched: [(key: OpenOps.Key, index: Int)] = []
        open.forEach { entry in
            guard !entry.isEarly, let index = wanted[entry.key.what]?.popLast() else { return }
            matched.append((entry.key, index))
        }
        for (key, index) in matched {
            _ = open.take(key, place: nameless[index].place, cause: nameless[index].cause, isFinal: true)
        }
        let gone = Set(matched.map(\.index))
        nameless = nameless.enumerated().filter { !gone.contains($0.offset) }.map(\.element)
    }

    private func closeSlices() {
        for op in sliced.values {
            let (count, cause) = (op.open, op.cause)
            guard let span = span(cause) else { continue }
            if count >= 0 {
                hours.add(HourBook.pending, span.hour(of: cause.offset), count)
            } else if cause.offset < span.planned, maySayMissing {
                violations.add(
                    .finalWithoutOp, cause.topic.topic.name, cause.partition, cause.offset,
                    "\(-count) more final outcomes than its slices planned ops")
            }
        }
    }

    private func hourRows() -> [HourCounts] {
        hours.settle()
        return hours.rows.sorted { $0.key < $1.key }.map { HourCounts(hour: $0.key, row: $0.value) }
    }
}
