import HushAPNs
import HushCore
import HushStream

/// Audience intents: copied to every partition, and worked off there in slices between the records.
extension PlannerTask {
    /// Copies an audience intent to all partitions of `hush.fanout`, with the place it came from.
    func fanOut(
        _ addressed: AudienceIntent, _ record: InputRecord, _ position: Position, isMoved: Bool,
        _ context: TaskContext
    ) {
        let id = addressed.intent.id
        let headers = isMoved ? record.headers.copied() : RecordOrigin.headers(of: record)
        let size = headers.reduce(id.count + (record.value?.count ?? 0)) {
            $0 + $1.name.utf8.count + $1.value.count
        }
        guard size <= Self.movedBytesMax else {
            let reason = DeadReason(.tooLarge, "the record is too large to be copied to all partitions")
            return bury(record, position.topic, reason, ids: [id], context)
        }
        let output = Output.fanout.rawValue
        id.raw.withUnsafeBytes { key in
            for partition in 0..<context.partitionCount(output) {
                context.send(output, partition: partition, key: key, value: record.value, headers: headers)
            }
        }
        write(
            PlanLine(
                decision: .fanout, recipient: Bytes([]), id: id, revision: addressed.intent.revision, cause: position),
            context)
    }

    /// Whether the copy that came would have this partition ask for the tags of one audience too many.
    func lacksRoom(for addressed: AudienceIntent) throws(TaskFailure) -> Bool {
        guard var store else { return false }
        return try !planner.hasRoom(for: addressed, now: now, &store)
    }

    /// Takes the next slice where it is time for one, and asks to be woken for the one after it.
    func takeSlice(_ context: TaskContext) throws(TaskFailure) {
        guard let store, try !store.turns().isEmpty else { return }
        guard slices.take(partition) else { return slices.begin(partition, context) }
        var effects = PlanEffects()
        let slice = try store.passingBy { () throws(TaskFailure) in
            var state = store
            return try planner.slice(now: now, &state, &effects)
        }
        // Who is passed without a push, as in a walk that only leaves marks, costs this stage as much.
        let pushes = effects.pushes.count
        let cost = max(pushes, slice?.recipients ?? 0)
        if let slice {
            book.tookSlice()
            send(&effects, context)
            write(slice, effects.lines, context)
            if book.isOrderDue { writeOrder(context) }
        }
        slices.rest(partition, cost: cost, pushes: pushes, context)
        if try !store.turns().isEmpty { slices.begin(partition, context) }
    }

    /// One line for all that a slice planned of its audience; whom that evicts has one each, for another id.
    private func write(_ slice: AudienceSlice, _ lines: [PlanLine], _ context: TaskContext) {
        let digest = SHA256Digest()
        var json = JSONWriter(reserving: 256)
        var count = 0
        for line in lines {
            guard line.id == slice.id, line.decision != .evicted else {
                write(line, context)
                continue
            }
            for op in line.ops {
                json.removeAll()
                json.array(
                    [book.shown(recipient: line.recipient), book.shown(device: op.device), op.kind.name]
                ) { $0.string($1) }
                json.raw("\n")
                json.withUnsafeBytes { digest.update($0) }
                count += 1
            }
        }
        tally.count(.sliced)
        book.write(slice, count: count, digest: Bytes(Hex.encode(digest.finish())), at: now) { value in
            slice.id.raw.withUnsafeBytes { key in
                context.send(Output.ledger.rawValue, partition: partition, key: key, value: value)
            }
        }
    }
}
