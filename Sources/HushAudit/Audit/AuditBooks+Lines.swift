import HushCore
public import HushStream
import HushWorkers

extension AuditBooks {
    /// Takes a record of the ledger in.
    public func takeLine(_ record: InputRecord) {
        counts.lines += 1
        let (partition, offset) = (record.partition, record.offset)
        let topic = surroundings.ledgerTopic
        guard let bytes = record.value, bytes.count > 0 else {
            return violations.add(.foreignRecord, topic, partition, offset, "it has no value")
        }
        let line: LedgerLine
        do throws(LineFault) {
            line = try ledger.read(bytes)
        } catch {
            switch error {
            case .foreign(let reason): violations.add(.foreignRecord, topic, partition, offset, reason)
            case .schema(let version): doubt(.unknownSchema, "\(topic)-\(partition)@\(offset) has version \(version)")
            }
            return
        }
        if case .unknown(let what) = line.kind {
            doubt(.unknownSchema, "\(topic)-\(partition)@\(offset) has \(what)")
        }
        let chain = chain(line, partition, offset)
        guard follow(line, chain, partition, offset) else { return }
        rows?.line(line, partition: partition, offset: offset)
        switch line.kind {
        case .order: end(bytes, line, chain, partition, offset)
        case .plan(let decision):
            chain.add(bytes, number: line.number, at: offset)
            counts.planLines += 1
            plan(line, decision, chain, partition, offset)
        case .redrive:
            chain.add(bytes, number: line.number, at: offset)
            counts.redriveLines += 1
        case .deliver(let outcome):
            chain.add(bytes, number: line.number, at: offset)
            counts.deliverLines += 1
            deliver(line, outcome, partition, offset)
        case .unknown: chain.skip()
        }
    }

    /// Whether what is not there may be called missing: lines that this build cannot read may tell of it.
    var maySayMissing: Bool { doubts[.unknownSchema] == nil }

    /// Checks a line's number and partition; false where it is one that was taken already.
    private func follow(_ line: LedgerLine, _ chain: TaskChain, _ partition: Int32, _ offset: Int64) -> Bool {
        let topic = surroundings.ledgerTopic
        if let home = chain.partition, home % surroundings.ledgerPartitions != partition {
            violations.add(.misplacedLine, topic, partition, offset, "\(chain.name) writes to another partition")
        }
        switch chain.take(line.number, at: offset) {
        case .next, .gap: return true
        case .late:
            violations.add(
                .reorderedLine, topic, partition, offset,
                "\(chain.name): line \(line.number) stands behind lines with higher numbers")
            return true
        case .again:
            violations.add(
                .doubledLine, topic, partition, offset, "\(chain.name): line \(line.number) was there already")
            return false
        }
    }

    private func end(_ bytes: Slice, _ line: LedgerLine, _ chain: TaskChain, _ partition: Int32, _ offset: Int64) {
        counts.orderLines += 1
        let topic = surroundings.ledgerTopic
        if let mark = names.take(line) {
            doubt(.foreignPseudonyms, "\(chain.name) writes under the key \(mark), \(names.given)")
        }
        switch chain.end(bytes, line, at: offset) {
        case .right, .unknown: break
        case .broken:
            violations.add(
                .brokenChain, topic, partition, offset,
                "\(chain.name): order line \(line.number) does not name the digest of the order line before it")
        case .altered(let from, let through, let firstOffset):
            violations.add(
                .alteredLines, topic, partition, firstOffset,
                "\(chain.name): of lines \(from) to \(through) (offsets \(firstOffset) to \(offset)) one or more "
                    + "are not what they were")
        }
        if let config = line.config, let build = line.build, builds.count < 100 {
            let stage = String(decoding: line.stage, as: UTF8.self)
            let words = { (value: JSONValue) in String(decoding: value.text, as: UTF8.self) }
            builds.insert("\(stage) build \(words(build)), config \(words(config))")
        }
        guard let home = chain.partition else { return }
        if chain.stage == .plan { checkOrder(line, chain, home, partition, offset) }
        if chain.stage == .deliver, let end = line.ends?[Self.pushesName]?.whole {
            delivered[home] = max(delivered[home] ?? 0, end)
        }
    }

    private static let pushesName: StaticString = "hush.pushes"

    /// Whether a part's order line counts the records that its inputs hold up to its ends; and notes how far the
    /// planner is.
    private func checkOrder(
        _ line: LedgerLine, _ chain: TaskChain, _ home: Int32, _ partition: Int32, _ offset: Int64
    ) {
        var taken: [InputTopic: Int] = [:]
        guard let order = line.order, let ends = line.ends else { return }
        for run in order.children {
            var parts = run.children
            guard let name = parts.next(), let input = InputTopic(named: name.text), let count = parts.next()?.whole
            else { continue }
            taken[input, default: 0] += Int(clamping: count)
        }
        for end in ends.children {
            guard let input = InputTopic(named: end.key), let to = end.whole else { continue }
            let spans = spans[Int(input.rawValue)]
            if Int(home) < spans.count, let span = spans[Int(home)] {
                span.planned = max(span.planned, to)
                // The first time from the very beginning, where that is in the range.
                let from = chain.ends[input] ?? (chain.isUnbroken && span.start == 0 ? 0 : nil)
                if let from, from >= span.start, to <= span.end, from <= to {
                    let there = span.count(from: from, to: to)
                    if there != taken[input] ?? 0 {
                        violations.add(
                            .orderMismatch, surroundings.ledgerTopic, partition, offset,
                            "\(chain.name): order line \(line.number) took \(taken[input] ?? 0) records of "
                                + "\(input.topic.name)-\(home) from offset \(from) to \(to), and there are \(there)")
                    }
                }
            }
            chain.ends[input] = to
        }
    }

    // MARK: plan lines

    private func plan(
        _ line: LedgerLine, _ decision: PlanDecision, _ chain: TaskChain, _ partition: Int32, _ offset: Int64
    ) {
        let topic = surroundings.ledgerTopic
        guard let cause = line.cause?.causeWord else {
            return violations.add(.foreignRecord, topic, partition, offset, "a plan line without a cause")
        }
        if let home = chain.partition, cause.partition != home {
            violations.add(
                .misplacedLine, topic, partition, offset,
                "\(chain.name) tells of \(cause.topic.topic.name)-\(cause.partition)@\(cause.offset)")
        }
        guard let span = span(cause) else {
            counts.outside += 1
            return
        }
        let hour = span.hour(of: cause.offset)
        hours.add(HourBook.decisionColumn(decision), hour)
        let place = Place(partition, offset)
        let sum = takeOps(line, cause, hour, place)
        let isCheckable = isPushChecked(line)
        switch decision {
        case .sliced:
            let what = whatHash(line.id, nil, cause)
            let count = Int(clamping: line.count ?? 0)
            planSliced(what, cause, count)
            let walk = walks[cause.raw] ?? (false, true)
            walks[cause.raw] = (walk.isOver || line.isLast, walk.isCheckable && isCheckable)
            hours.add(HourBook.planned, hour, count)
            hours.add(HourBook.extra, hour)
            span.tookExtraLine(cause.offset, ops: sum, isCheckable: isCheckable)
        case _ where isExtra(line, decision, cause):
            hours.add(HourBook.extra, hour)
            span.tookExtraLine(cause.offset, ops: sum, isCheckable: isCheckable)
        default:
            span.tookLine(
                cause.offset, id: idHash(line.id), isBurial: decision == .dead && line.id == nil, ops: sum,
                isCheckable: isCheckable)
        }
    }

    /// Whether a line answers no id of its input: of a notification that had to make room, or that a register behind
    /// an audience's walk brings. A register's own line names none.
    private func isExtra(_ line: LedgerLine, _ decision: PlanDecision, _ cause: CauseWord) -> Bool {
        decision == .evicted || cause.topic == .devices && line.id != nil
    }

    /// Opens the ops of a plan line, and returns what stands for them against `hush.pushes`.
    private func takeOps(_ line: LedgerLine, _ cause: CauseWord, _ hour: Int64, _ place: Place) -> UInt64 {
        guard let ops = line.ops else { return 0 }
        var sum: UInt64 = 0
        for op in ops.children {
            var parts = op.children
            guard let device = parts.next(), let kind = parts.next().flatMap({ OpKind(named: $0.text) }) else {
                violations.add(
                    .foreignRecord, surroundings.ledgerTopic, place.partition, place.offset,
                    "a plan line with an op that cannot be read")
                continue
            }
            let id = kind == .bind ? nil : parts.next() ?? line.id
            let what = whatHash(id, kind, cause)
            sum &+= what
            hours.add(HourBook.planned, hour)
            // Ops of an audience are counted, for its slices do not name them.
            if cause.topic == .fanout {
                planSliced(whatHash(id, nil, cause), cause, 1)
                continue
            }
            let key = OpenOps.Key(what: what, device: names.hash(device.text, hash))
            if case .repeated = open.take(key, place: place, cause: cause, isFinal: false) {
                violations.add(
                    .plannedTwice, surroundings.ledgerTopic, place.partition, place.offset,
                    "\(kind.name) of \(id.map { String(decoding: $0.text, as: UTF8.self) } ?? "a device") was planned "
                        + "before by the same input for the same device")
            }
        }
        return sum
    }

    private func planSliced(_ what: UInt64, _ cause: CauseWord, _ count: Int) {
        sliced[what, default: Sliced(cause: cause)].open += count
        sliced[what, default: Sliced(cause: cause)].unpushed += count
    }

    /// Stands for an op but for its device; without a kind for a slice.
    func whatHash(_ id: JSONValue?, _ kind: OpKind?, _ cause: CauseWord) -> UInt64 {
        let seed = hash.mix(cause.raw, UInt64(kind?.rawValue ?? 9) + 11)
        guard let id, id.isString else { return seed }
        return hash.hash(id.text, seed)
    }

    /// Whether the pushes of a line must still be there.
    private func isPushChecked(_ line: LedgerLine) -> Bool {
        if surroundings.pushesFirst.isEmpty { return false }
        if surroundings.pushesFrom == .distantPast { return true }
        guard let at = Timestamp(rfc3339: line.at) else { return false }
        return at > surroundings.pushesFrom
    }

    // MARK: deliver lines

    private func deliver(_ line: LedgerLine, _ outcome: DeliveryOutcome, _ partition: Int32, _ offset: Int64) {
        guard let isFinal = line.isFinal else {
            return doubt(.withoutFinal, "\(surroundings.ledgerTopic)-\(partition)@\(offset)")
        }
        guard isFinal, let ops = line.ops else { return }
        let device = line.device.map { names.hash($0.text, hash) }
        let place = Place(partition, offset)
        for op in ops.children {
            guard let part = part(op) else {
                violations.add(
                    .foreignRecord, surroundings.ledgerTopic, partition, offset,
                    "a deliver line with an op that cannot be read")
                continue
            }
            guard let span = span(part.cause) else {
                counts.outside += 1
                continue
            }
            settle(part, span, outcome, device, place)
        }
    }

    private struct Part {
        var op: OpID
        var kind: OpKind
        var id: JSONValue?
        var cause: CauseWord
    }

    private func settle(
        _ part: Part, _ span: InputSpan, _ outcome: DeliveryOutcome, _ device: UInt64?, _ place: Place
    ) {
        let (topic, partition, offset) = (surroundings.ledgerTopic, place.partition, place.offset)
        guard finals.insert(part.op.partition, part.op.offset, part.op.index) else {
            return violations.add(
                .finalTwice, topic, partition, offset,
                "op \(part.op) of \(part.cause.topic.topic.name)-\(part.cause.partition)@\(part.cause.offset) has a "
                    + "final outcome already")
        }
        hours.add(HourBook.outcomeColumn(outcome), span.hour(of: part.cause.offset))
        if part.cause.topic == .fanout {
            let what = whatHash(part.id, nil, part.cause)
            sliced[what, default: Sliced(cause: part.cause)].open -= 1
            return
        }
        let what = whatHash(part.id, part.kind, part.cause)
        guard let device else { return nameless.append((what, part.cause, place)) }
        let key = OpenOps.Key(what: what, device: device)
        if case .repeated = open.take(key, place: place, cause: part.cause, isFinal: true) {
            violations.add(
                .finalTwice, topic, partition, offset,
                "op \(part.op): another op of the same input, device, id and kind "
                    + "has a final outcome already")
        }
    }

    private func part(_ value: JSONValue) -> Part? {
        var (op, kind, id, cause): (OpID?, OpKind?, JSONValue?, CauseWord?)
        for member in value.children {
            switch member.key.count {
            case 2:
                if member.isNamed("op") {
                    op = OpID(member.text)
                } else if member.isNamed("id") {
                    id = member
                }
            case 4: if member.isNamed("kind") { kind = OpKind(named: member.text) }
            case 5: if member.isNamed("cause") { cause = member.causeWord }
            default: continue
            }
        }
        guard let op, let kind, let cause else { return nil }
        return Part(op: op, kind: kind, id: kind == .bind ? nil : id, cause: cause)
    }
}
