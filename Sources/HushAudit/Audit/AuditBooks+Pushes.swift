import HushCore
public import HushStream
import HushWorkers

extension AuditBooks {
    /// Takes a record of `hush.pushes` in: the ops that it holds were planned by its cause.
    public func takePush(_ record: InputRecord) {
        counts.pushes += 1
        noteDelivered(record.partition, record.offset)
        // What is none of the planner's is the deliverer's dead letter, and no op.
        guard let value = record.value, let root = try? pushDocument.parse(value) else { return }
        var (kind, ops, cause): (Slice?, JSONValue?, CauseWord?)
        for member in root.children {
            if member.isNamed("kind") {
                kind = member.text
            } else if member.isNamed("ops") {
                ops = member
            } else if member.isNamed("cause") {
                cause = member.causeWord
            }
        }
        guard let kind, let cause else { return }
        // One that was redriven died as it was: its ops are those of the record that died, whether that is still there
        // or not, and their outcomes name the place where they stand now.
        let span = RedriveHistory.isCarried(by: record.headers) ? nil : span(cause)
        if kind.elementsEqual("bind".utf8) {
            note(record, 0, nil, .bind, cause, span)
        } else if let ops {
            for (index, op) in ops.children.enumerated() {
                guard let kind = op["op"].flatMap({ OpKind(named: $0.text) }) else { continue }
                note(record, Int32(truncatingIfNeeded: index), op["id"], kind, cause, span)
            }
        }
    }

    private func note(
        _ record: InputRecord, _ index: Int32, _ id: JSONValue?, _ kind: OpKind, _ cause: CauseWord, _ span: InputSpan?
    ) {
        _ = pushed.insert(record.partition, record.offset, index)
        guard let span else { return }
        if cause.topic == .fanout {
            sliced[whatHash(id, nil, cause), default: Sliced(cause: cause)].unpushed -= 1
        } else {
            span.tookPush(cause.offset, ops: whatHash(id, kind, cause))
        }
    }

    /// How many inputs have ops in the ledger that are not in `hush.pushes`, or the other way round.
    ///
    /// A transaction's markers reach its partitions one by one, so what lacks may come a moment later.
    public func unpushedInputs() -> Int {
        if surroundings.pushesFirst.isEmpty { return 0 }
        var count = 0
        forEachUnpushed { _, _ in count += 1 }
        forEachUnpushedWalk { _ in count += 1 }
        return count
    }

    /// Shows the inputs whose ops are not the same in both.
    ///
    /// What no order line covers yet may be planned, and pushed, after the ledger was read.
    private func forEachUnpushed(_ body: (InputSpan, Int64) -> Void) {
        guard maySayMissing else { return }
        forEachSpan { span in
            if span.topic == .fanout { return }
            for offset in span.start..<min(span.planned, span.end) where !span.areOpsRight(offset) {
                body(span, offset)
            }
        }
    }

    /// Shows ops of audiences that are not as many in both, once their walk is over: until then slices come. Their lines
    /// count them, and do not name them.
    private func forEachUnpushedWalk(_ body: (Sliced) -> Void) {
        guard maySayMissing else { return }
        for ops in sliced.values where ops.unpushed != 0 {
            guard let walk = walks[ops.cause.raw], walk.isOver, walk.isCheckable, let span = span(ops.cause),
                ops.cause.offset < span.planned
            else { continue }
            body(ops)
        }
    }

    func forEachSpan(_ body: (InputSpan) -> Void) {
        for spans in spans { for case let span? in spans { body(span) } }
    }

    /// Compares ledger and pushes; `ends` says by partition how far `hush.pushes` was read.
    func closePushes(_ ends: [Int64]) {
        if surroundings.pushesFirst.isEmpty { return }
        forEachUnpushed { span, offset in
            violations.add(
                .opsNotPushed, span.topic.topic.name, span.partition, offset,
                "the ops that its plan lines tell of are not those in \(Topic.pushes.name)")
        }
        var walks: [(CauseWord, Int)] = []
        forEachUnpushedWalk { walks.append(($0.cause, $0.unpushed)) }
        for (cause, count) in walks.sorted(by: { ($0.0.raw, $0.1) < ($1.0.raw, $1.1) }) {
            violations.add(
                .opsNotPushed, cause.topic.topic.name, cause.partition, cause.offset,
                count > 0
                    ? "\(count) ops that its slices planned are not in \(Topic.pushes.name)"
                    : "\(-count) ops in \(Topic.pushes.name) more than its slices planned")
        }
        finals.forEach { partition, offset, index in
            guard Int(partition) < ends.count, offset >= surroundings.pushesFirst[Int(partition)],
                offset < ends[Int(partition)], !pushed.contains(partition, offset, index)
            else { return }
            violations.add(
                .outcomeWithoutPush, Topic.pushes.name, partition, offset,
                "op \(partition):\(offset):\(index) has a final outcome in the ledger, and is not there")
        }
    }
}
