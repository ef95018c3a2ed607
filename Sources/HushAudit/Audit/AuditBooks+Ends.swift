import HushCore
import HushStream
import HushWorkers

/// Whether the ledger's end is there. Offsets, lines and order line of a part commit in one transaction, so what a group
/// has committed must be covered by order lines.
extension AuditBooks {
    /// What the deliverers' group had committed of `hush.pushes` before the ledger was read, by partition; before the
    /// first record of that topic. Where it cannot be asked, it is a doubt.
    func expectDelivered(_ asked: Result<[Int64], StreamFault>, prefix: String = "") {
        switch asked {
        case .success(let offsets):
            deliveredOffsets = offsets
            lastDelivered = offsets.map { _ in -1 }
        case .failure(let fault): doubt(.endUnknown, "group \(prefix)\(WorkerGroup.deliverer): \(fault)")
        }
    }

    /// Notes a record of `hush.pushes` that the deliverers are past.
    func noteDelivered(_ partition: Int32, _ offset: Int64) {
        let index = Int(partition)
        guard index < deliveredOffsets.count, offset < deliveredOffsets[index] else { return }
        lastDelivered[index] = max(lastDelivered[index], offset)
    }

    /// The ledger was read to its end for the first time. Parts that begin behind it may lack their end because nobody
    /// has read it yet; those that are open here must not stay so.
    func endLedgerPass() {
        isPassEnded = true
        for chain in chains { chain.endPass() }
    }

    /// Whether more of the ledger may show what still lacks: parts that were cut by the end of the reading, and what the
    /// groups have committed. A partition is read up to its first open transaction, and others lie across that.
    func lacksEnd(_ asked: Result<[String: [Int64]], StreamFault>, prefix: String = "") -> Bool {
        if chains.contains(where: \.isLeftOpen) { return true }
        for (index, end) in deliveredOffsets.enumerated() {
            if let covered = covered(Int32(index)), covered < end { return true }
        }
        guard case .success(let committed) = asked else { return false }
        var lacks = false
        forEachCut(committed, prefix) { _, _ in lacks = true }
        return lacks
    }

    /// Names what the groups had committed and the ledger does not tell of; `asked` is of the planner's, by input topic
    /// and partition. Where that cannot be asked, it is a doubt.
    func checkEnd(_ asked: Result<[String: [Int64]], StreamFault>, prefix: String = "") {
        switch asked {
        case .success(let committed):
            if maySayMissing {
                forEachCut(committed, prefix) { span, end in
                    violations.add(
                        .cutEnd, span.topic.topic.name, span.partition, span.planned,
                        "the planner has committed up to offset \(end), and the ledger tells of records up to "
                            + "\(span.planned)")
                }
            }
        case .failure(let fault): doubt(.endUnknown, "group \(prefix)\(WorkerGroup.planner): \(fault)")
        }
        guard maySayMissing else { return }
        for (index, last) in lastDelivered.enumerated() {
            guard let covered = covered(Int32(index)), last >= covered else { continue }
            violations.add(
                .cutEnd, Topic.pushes.name, Int32(index), covered,
                "the deliverer has committed up to offset \(deliveredOffsets[index]), and the ledger tells of records up "
                    + "to \(covered)")
        }
    }

    private func forEachCut(_ committed: [String: [Int64]], _ prefix: String, _ body: (InputSpan, Int64) -> Void) {
        forEachSpan { span in
            guard let offsets = committed[prefix + span.topic.topic.name], Int(span.partition) < offsets.count else {
                return
            }
            let end = min(offsets[Int(span.partition)], span.end)
            // Behind the last record there may be markers of transactions, which nobody takes.
            guard span.planned < end, span.count(from: span.planned, to: end) > 0 else { return }
            body(span, end)
        }
    }

    /// Up to which offset order lines cover a partition of `hush.pushes`; nil where that cannot be told, for the ledger
    /// was not read from its beginning.
    private func covered(_ partition: Int32) -> Int64? {
        let home = partition % surroundings.ledgerPartitions
        return delivered[partition] ?? (surroundings.beginsLate.contains(home) ? nil : 0)
    }
}
