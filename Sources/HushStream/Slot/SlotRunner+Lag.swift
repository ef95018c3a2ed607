import HushBase

extension SlotRunner {
    /// Publishes how far the inputs are read and how much more is there, and tells of transactions that keep it from
    /// being read.
    func publishPositions(_ now: MonotonicTime) {
        guard now - lastLag >= .milliseconds(200) else { return }
        lastLag = now
        let limit = configuration.transactionTimeout + HangingTransaction.sweepMax
        var lag: Int64 = 0
        var positions: [InputPosition] = []
        for case let member? in members where member.isRestored {
            for (input, topic) in configuration.inputs.enumerated() {
                let position = member.context.positions[input]
                positions.append(InputPosition(topic: topic, partition: member.partition, offset: position))
                guard let end = consumer.cachedHighWatermark(topic, member.partition) else { continue }
                lag += max(0, end - position)
                // While reading rests, what is there waits for us and for no transaction.
                let readEnd = isPaused ? position : end
                guard member.isBlocked(input, logEnd: readEnd, now: now, limit: limit) else { continue }
                log.warning(
                    "slot \(configuration.slotName): \(end - position) offsets of \(topic)-\(member.partition) wait: a "
                        + "transaction there, open at offset \(position), does not end, or the broker is away: this is "
                        + "as of the last fetch. "
                        + HangingTransaction.remedy(topic: topic, partition: member.partition))
            }
        }
        update { status in
            status.lag = lag
            status.positions = positions
        }
    }
}
