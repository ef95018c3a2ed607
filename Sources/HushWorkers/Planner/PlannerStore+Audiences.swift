import HushCore
import HushStream

/// What the planner keeps of audiences; its rows are `AudienceRows`.
extension PlannerStore {
    func audience(_ id: Bytes) throws(TaskFailure) -> AudienceMark? {
        try row(AudienceRows.audienceKey(id), AudienceRows.audience)
    }

    func setAudience(_ audience: AudienceMark, _ id: Bytes) {
        var writer = RowWriter()
        AudienceRows.write(audience, lifeMillis: markLifeMillis, &writer)
        context.put(Self.marksTable, AudienceRows.audienceKey(id), writer.bytes)
    }

    func job(of id: Bytes) throws(TaskFailure) -> AudienceJob? {
        try row(AudienceRows.jobKey(id), AudienceRows.job)
    }

    func setJob(_ job: AudienceJob?, of id: Bytes, at now: Timestamp) throws(TaskFailure) {
        var turns = try turns()
        turns.removeAll { $0.id == id }
        if let job {
            var writer = RowWriter()
            AudienceRows.write(job, dropping: now.adding(millis: markLifeMillis), &writer)
            context.put(Self.marksTable, AudienceRows.jobKey(id), writer.bytes)
            let turn = AudienceTurn(turn: job.turn, id: id, isAsking: job.evaluation != nil)
            turns.insert(turn, at: turns.firstIndex { turn < $0 } ?? turns.count)
        } else {
            context.delete(Self.marksTable, AudienceRows.jobKey(id))
        }
        knownTurns = turns
    }

    func turns() throws(TaskFailure) -> [AudienceTurn] {
        if let knownTurns { return knownTurns }
        var turns: [AudienceTurn] = []
        try withBytes(AudienceRows.jobPrefix) { prefix throws(TaskFailure) in
            try context.scan(Self.marksTable, prefix: prefix) { key, value throws(TaskFailure) in
                turns.append(
                    try AudienceRows.turn(id: UnsafeRawBufferPointer(rebasing: key[prefix.count...]), value))
                return true
            }
        }
        turns.sort()
        knownTurns = turns
        return turns
    }

    func isHolder(_ recipient: Bytes, of id: Bytes) throws(TaskFailure) -> Bool {
        try row(AudienceRows.holderPrefix(id) + recipient.raw) { _ in true } ?? false
    }

    func addHolder(_ recipient: Bytes, of id: Bytes, at now: Timestamp) {
        var writer = RowWriter(reserving: 16)
        AudienceRows.writeHolder(dropping: now.adding(millis: markLifeMillis).adding(millis: 1), &writer)
        context.put(Self.marksTable, AudienceRows.holderPrefix(id) + recipient.raw, writer.bytes)
    }

    func recipients(after: Bytes?, countMax: Int) throws(TaskFailure) -> [NamedRecipient] {
        var found: [NamedRecipient] = []
        try walk(Self.rowsTable, Self.recipientPrefix, after) { name, value throws(TaskFailure) in
            found.append(NamedRecipient(name: name, recipient: try PlannerRows.recipient(name, value)))
            return found.count < countMax
        }
        return found
    }

    func holders(of id: Bytes, after: Bytes?, countMax: Int) throws(TaskFailure) -> [Bytes] {
        var found: [Bytes] = []
        try walk(Self.marksTable, AudienceRows.holderPrefix(id), after) { name, _ throws(TaskFailure) in
            found.append(name)
            return found.count < countMax
        }
        return found
    }

    /// Shows names that stand behind a prefix, those behind `after`, until the body says false.
    private func walk(
        _ table: Int, _ prefix: [UInt8], _ after: Bytes?,
        _ body: (Bytes, UnsafeRawBufferPointer) throws(TaskFailure) -> Bool
    ) throws(TaskFailure) {
        let start = after.map { prefix + $0.raw }
        try withBytes(prefix) { prefix throws(TaskFailure) in
            func show(
                _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
            ) throws(TaskFailure) -> Bool {
                try body(Bytes(copying: UnsafeRawBufferPointer(rebasing: key[prefix.count...])), value)
            }
            guard let start else { return try context.walk(table, prefix: prefix, after: nil, show) }
            try withBytes(start) { start throws(TaskFailure) in
                try context.walk(table, prefix: prefix, after: start, show)
            }
        }
    }

    private func row<Value>(
        _ key: [UInt8], _ read: (UnsafeRawBufferPointer) throws(TaskFailure) -> Value
    ) throws(TaskFailure) -> Value? {
        try withBytes(key) { key throws(TaskFailure) in
            try context.withValue(Self.marksTable, key) { value throws(TaskFailure) in
                guard let value else { return nil }
                return try read(value)
            }
        }
    }

    private func withBytes<Result>(
        _ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(TaskFailure) -> Result
    ) throws(TaskFailure) -> Result {
        try bytes.withUnsafeBufferPointer { bytes throws(TaskFailure) in try body(UnsafeRawBufferPointer(bytes)) }
    }
}
