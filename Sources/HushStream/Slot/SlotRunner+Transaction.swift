import CRdKafka
import HushBase

extension SlotRunner {
    var isTransactionFull: Bool {
        recordsRead >= min(configuration.transactionRecordsMax, hunt.recordsMax)
            || bytesRead + outlet.bytes >= configuration.transactionBytesMax
    }

    /// Remembers since when there is something to commit.
    func noteDirt(_ now: MonotonicTime) {
        guard dirtySince == nil else { return }
        // A slot that was stopped proves with a commit that its partitions are still its own.
        let isDirty = isHeld || members.contains { $0?.context.isTouched == true }
        if isDirty { dirtySince = now }
    }

    func isCommitDue(_ now: MonotonicTime) -> Bool {
        guard let dirtySince else { return false }
        return isTransactionFull || now - dirtySince >= configuration.commitInterval
    }

    /// Begins a transaction, with a new producer where the old one's last end is in doubt.
    private func begin() throws(StreamFault) {
        if isBegun { return }
        if isProducerDoubtful {
            log.info("slot \(configuration.slotName): transactions of the producer are in doubt, it is replaced")
            try openProducer()
            update { $0.producersReplaced += 1 }
        }
        guard let producer else {
            throw .fatal(KafkaCause("begin transaction", RD_KAFKA_RESP_ERR__STATE, "there is no producer"))
        }
        watchdog.begin("beginning a transaction", atMost: configuration.callLimit)
        producer.producer.deliveries.clear()
        try producer.producer.begin()
        isBegun = true
    }

    func beginFromOutlet() {
        do throws(StreamFault) {
            try begin()
        } catch {
            outlet.fail(error)
        }
    }

    /// Commits what all tasks did since the last commit, or aborts it; either way the next transaction can begin.
    /// - Throws: what ends the slot.
    func commit() throws(StreamFault) {
        if !isHeld, !members.contains(where: { $0?.context.isTouched == true }) {
            dirtySince = nil
            return
        }
        let started = MonotonicTime.now()
        let freezes: Int
        do throws(StreamFault) {
            try prepare()
            noticeFreeze()
            freezes = freeze.count
            try conclude()
        } catch {
            guard case .abortable(let cause) = error else { throw error }
            try abort(because: cause)
            return
        }
        // Stopped between the proof of ownership and here: the partitions may be somebody else's by now.
        noticeFreeze()
        try settle(started, proves: freezes == freeze.count)
    }

    /// The last writes of the tasks, then their changelogs.
    private func prepare() throws(StreamFault) {
        watchdog.begin("preparing a commit", atMost: configuration.callLimit)
        for case let member? in members where member.context.isTouched && member.isRestored {
            try guarded { () throws(TaskFailure) in try member.task.prepareCommit(member.context) }
        }
        let tableCount = configuration.tables.count
        for case let member? in members where member.context.isTouched {
            if let fault = member.context.state.fault { throw fault }
            for entry in member.context.state.overlay.entries {
                let table = Int(entry.table)
                outlet.sendTagged(
                    topic: configuration.outputs.count + table, partition: member.partition, key: entry.key,
                    value: entry.value, tag: Int(member.partition) * tableCount + table + 1)
            }
        }
        if let fault = outlet.fault { throw fault }
        try begin()
    }

    /// Flushes, adds the offsets under the present generation, and ends the transaction.
    private func conclude() throws(StreamFault) {
        guard let producer else { return }
        try repeating("flushing") { () throws(StreamFault) in try producer.producer.flush(timeoutMillis: 5000) }
        if let lost = producer.producer.deliveries.firstFault {
            throw producer.producer.fatalFault ?? .abortable(lost.kafkaCause)
        }
        let offsets = TopicPartitionList(capacity: 16)
        for case let member? in members where member.isRestored {
            for (input, topic) in configuration.inputs.enumerated() where member.context.positions[input] >= 0 {
                let position = member.context.positions[input]
                guard position != member.committedPositions[input] || !member.hasCommittedHere else { continue }
                offsets.add(topic, member.partition, offset: position)
            }
        }
        if offsets.count == 0 { addAnyOffset(to: offsets) }
        // Without a real offset librdkafka answers "done" and asks nobody whether the generation still holds.
        if offsets.count > 0 {
            try repeating("adding offsets to a transaction") { () throws(StreamFault) in
                try producer.producer.sendOffsets(offsets, of: consumer, timeoutMillis: 5000)
            }
        }
        let ended = MonotonicTime.now()
        var tries = 0
        watchdog.begin("committing a transaction", atMost: configuration.callLimit)
        while true {
            do throws(StreamFault) {
                try producer.producer.commit(timeoutMillis: 5000)
                break
            } catch {
                // Once it has begun a commit cannot become an abort: the same call again, until the watchdog ends it.
                guard case .retriable(let cause) = error else { throw error }
                tries += 1
                log.warning("slot \(configuration.slotName): \(cause); trying on")
                rest(.milliseconds(50))
            }
        }
        if tries > 0 || MonotonicTime.now() - ended > .seconds(2) { isProducerDoubtful = true }
        isBegun = false
    }

    private func addAnyOffset(to offsets: borrowing TopicPartitionList) {
        for case let member? in members where member.isRestored {
            for (input, topic) in configuration.inputs.enumerated() where member.context.positions[input] >= 0 {
                offsets.add(topic, member.partition, offset: member.context.positions[input])
                return
            }
        }
    }

    /// Repeats a call that fails in passing; beyond the limit the transaction is aborted.
    private func repeating(
        _ step: StaticString, _ body: () throws(StreamFault) -> Void
    ) throws(StreamFault) {
        watchdog.begin(step, atMost: configuration.callLimit)
        let deadline = MonotonicTime.now() + configuration.callLimit / 2
        while true {
            do throws(StreamFault) {
                return try body()
            } catch {
                guard case .retriable(let cause) = error else { throw error }
                if MonotonicTime.now() >= deadline { throw .abortable(cause) }
                rest(.milliseconds(20))
            }
        }
    }

    /// After the commit: data and checkpoints to disk, then the tasks hear of it.
    private func settle(_ started: MonotonicTime, proves: Bool) throws(StreamFault) {
        guard let producer else { return }
        watchdog.begin("writing the state", atMost: configuration.pollInterval)
        let releases = isHeld && proves
        if releases {
            isHeld = false
            for case let member? in members { member.context.isHeld = false }
        }
        let tableCount = configuration.tables.count
        let wallMillis = WallClock.nowMillis()
        for case let member? in members where member.context.isTouched {
            for table in 0..<tableCount {
                let tag = Int(member.partition) * tableCount + table + 1
                if let last = producer.producer.deliveries.lastOffset(ofTag: tag) {
                    member.changelogOffsets[table] = last + 1
                }
            }
            member.transactions += 1
            let checkpoint = Checkpoint(
                identity: configuration.identity, changelogOffsets: member.changelogOffsets,
                nowMillis: member.context.state.nowMillis, writtenMillis: wallMillis,
                transactions: member.transactions)
            try member.context.state.apply(to: member.store, checkpoint: checkpoint)
            member.context.state.settle()
        }
        hunt.committed()
        abortsInRow = 0
        let (read, written) = (recordsRead, outlet.records)
        let duration = MonotonicTime.now() - started
        update { status in
            status.transactions += 1
            status.recordsIn += Int64(read)
            status.recordsOut += Int64(written)
            status.lastCommit = started
            status.lastCommitDuration = duration
        }
        clearTransaction()
        for case let member? in members where member.isRestored && (member.context.isTouched || releases) {
            member.committedPositions = member.context.positions
            member.hasCommittedHere = true
            member.context.isTouched = false
            member.task.committed(member.context)
        }
    }

    private func clearTransaction() {
        dirtySince = nil
        recordsRead = 0
        bytesRead = 0
        outlet.clear()
    }

    /// Drops everything since the last commit and reads it again.
    func abort(because cause: KafkaCause) throws(StreamFault) {
        log.warning("slot \(configuration.slotName): transaction aborted: \(cause)")
        update { $0.aborts += 1 }
        try huntDown(cause)
        try endByAbort()
        noteAbort(cause)
        rollBack()
        let list = TopicPartitionList()
        for case let member? in members where member.isRestored {
            for (input, topic) in configuration.inputs.enumerated() where member.committedPositions[input] >= 0 {
                list.add(topic, member.partition, offset: member.committedPositions[input])
            }
        }
        guard list.count > 0, !isRevoking else { return }
        watchdog.begin("seeking", atMost: configuration.callLimit)
        do throws(StreamFault) {
            try seek(list)
        } catch {
            // Partitions that are gone cannot be sought; the next poll tells that they are. Where they are not, a slot
            // that read on from here would skip records, so it begins anew.
            guard consumer.isAssignmentLost else { throw .fatal(error.kafkaCause) }
        }
    }

    /// Seeks, twice where the first time was not enough: a busy fetcher takes its time, and the same seek again is harmless.
    private func seek(_ list: borrowing TopicPartitionList) throws(StreamFault) {
        do throws(StreamFault) {
            try consumer.seek(list, timeoutMillis: 5000)
        } catch {
            guard error.kafkaCause.code == RD_KAFKA_RESP_ERR__TIMED_OUT.rawValue else { throw error }
            log.warning("slot \(configuration.slotName): \(error.kafkaCause); seeking again")
            try consumer.seek(list, timeoutMillis: 5000)
        }
    }

    /// What fails again and again may be the producer: the brokers forget a transactional id that was not used for days,
    /// librdkafka then fails each transaction anew, and only a new producer mends it.
    private func noteAbort(_ cause: KafkaCause) {
        if RecordHunt.codes.contains(cause.code) { return }
        abortsInRow += 1
        if abortsInRow > 1 { isProducerDoubtful = true }
    }

    /// Sees to it that writes that Kafka will never take do not abort every transaction there is.
    private func huntDown(_ cause: KafkaCause) throws(StreamFault) {
        guard RecordHunt.codes.contains(cause.code) else { return }
        switch hunt.refused(records: recordsRead, last: lastTaken, reason: "\(cause)") {
        case .halved:
            log.warning("slot \(configuration.slotName): the next transaction takes \(hunt.recordsMax) records at most")
        case .found:
            guard let place = hunt.found?.place else { return }
            log.error(
                "slot \(configuration.slotName): what comes of \(configuration.inputs[place.input])-\(place.partition) "
                    + "offset \(place.offset) cannot be written, the record is kept aside: \(cause)")
        case .hopeless:
            throw .refused("\(cause): the same would be written again; mend the topic that does not take it")
        }
    }

    private func endByAbort() throws(StreamFault) {
        guard isBegun, let producer else { return }
        watchdog.begin("aborting a transaction", atMost: configuration.callLimit)
        let started = MonotonicTime.now()
        var tries = 0
        while true {
            do throws(StreamFault) {
                try producer.producer.abort(timeoutMillis: 5000)
                break
            } catch {
                guard case .retriable = error else { throw error }
                tries += 1
                rest(.milliseconds(50))
            }
        }
        if tries > 0 || MonotonicTime.now() - started > .seconds(2) { isProducerDoubtful = true }
        isBegun = false
    }

    /// Takes tasks back to the last commit.
    func rollBack() {
        clearTransaction()
        for case let member? in members where member.isRestored {
            member.context.state.rollBack()
            member.context.positions = member.committedPositions
            member.context.isTouched = false
            member.task.aborted(member.context)
        }
    }

    /// Ends a transaction whose partitions are lost. A failure of the abort shows at the next use of the producer.
    func abortLost() {
        do throws(StreamFault) {
            try endByAbort()
        } catch {
            if callbackFault == nil { callbackFault = error }
        }
        rollBack()
    }
}
