import CRdKafka
import HushBase

extension SlotRunner {
    /// Called back from within polling or closing. Whatever happens, it has assigned or unassigned when it returns.
    func rebalanced(
        _ change: GroupEvents.Change, _ list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
    ) {
        forgetTopicHandles()
        update { $0.rebalances += 1 }
        do throws(StreamFault) {
            switch change {
            case .assigned:
                try assigned(list)
            case .revoked:
                try revoked(isLost: consumer.isAssignmentLost)
            case .failed(let code):
                letGo()
                try consumer.unassign()
                throw StreamFault("rebalance", code)
            }
        } catch {
            if callbackFault == nil { callbackFault = error }
            rd_kafka_assign(consumer.raw, nil)
        }
    }

    private func assigned(
        _ list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
    ) throws(StreamFault) {
        watchdog.begin("taking partitions over", atMost: configuration.pollInterval)
        let offsets = TopicPartitionList()
        var partitions: [Int32: Int] = [:]
        if let list {
            for index in 0..<Int(list.pointee.cnt) {
                let element = list.pointee.elems[index]
                offsets.add(String(cString: element.topic), element.partition)
                partitions[element.partition, default: 0] += 1
            }
        }
        for (partition, count) in partitions where count != configuration.inputs.count {
            throw .refused(
                "group \(configuration.groupID): partition \(partition) of the inputs is split over members: all members "
                    + "must subscribe to the same topics")
        }
        // The group's answer waits for transactions that hold offsets, so what the last owner began is over by then.
        if offsets.count > 0 { try committedOffsets(offsets) }
        try consumer.assign(offsets)
        if offsets.count > 0 { try consumer.pause(offsets) }
        isPaused = false
        update { $0.isWaiting = false }
        for partition in partitions.keys.sorted() {
            var positions = Array(repeating: Int64(-1), count: configuration.inputs.count)
            for index in 0..<offsets.count where offsets[index].partition == partition {
                guard let input = configuration.inputs.firstIndex(of: offsets[index].topic) else { continue }
                positions[input] = offsets[index].offset
            }
            try open(partition, positions)
        }
        // What came back is open again; the rest is for others.
        let gone = warmNames.filter { name in !partitions.keys.contains { storeName($0) == name } }
        warmNames = []
        try home.closeWarm(gone)
        let count = partitions.count
        log.info("slot \(configuration.slotName) has \(count) partitions: \(partitions.keys.sorted())")
        publishPartitions()
    }

    private func committedOffsets(_ offsets: borrowing TopicPartitionList) throws(StreamFault) {
        let deadline = MonotonicTime.now() + configuration.callLimit
        while true {
            do throws(StreamFault) {
                try consumer.committed(offsets, timeoutMillis: 5000)
                break
            } catch {
                guard case .retriable(let cause) = error else { throw error }
                guard MonotonicTime.now() < deadline else { throw try heldOffsets(cause) }
                rest(.milliseconds(50))
            }
        }
        for index in 0..<offsets.count where offsets[index].offset < 0 {
            throw .refused(
                "group \(configuration.groupID) has no offset for \(offsets[index].topic)-\(offsets[index].partition): a "
                    + "new group gets its first offsets from hush topics create; one that had offsets has lost them")
        }
    }

    /// Why the group does not tell its offsets: where the brokers answer else, a transaction holds them.
    private func heldOffsets(_ cause: KafkaCause) throws(StreamFault) -> StreamFault {
        _ = try TopicShapes.partitionCounts(of: configuration.inputs, client: consumer.raw, timeoutMillis: 5000)
        let inputs = configuration.inputs.joined(separator: ", ")
        return .fatal(
            KafkaCause(
                operation: cause.operation, code: cause.code, name: cause.name,
                message:
                    "group \(configuration.groupID) does not tell its offsets of \(inputs), and the brokers are there: "
                    + "most likely a transaction that never ended holds them. "
                    + HangingTransaction.remedy(topic: "__consumer_offsets")))
    }

    func storeName(_ partition: Int32) -> String { configuration.storeName(partition) }

    private func open(_ partition: Int32, _ positions: [Int64]) throws(StreamFault) {
        let (store, checkpoint) = try openStore(partition)
        let state = TaskState(tables: configuration.tables, base: .store(store), nowMillis: checkpoint.nowMillis)
        let context = TaskContext(
            partition: partition, state: state, outlet: outlet, inputCount: configuration.inputs.count)
        let member = Member(
            partition: partition, task: application.makeTask(partition: partition), context: context, store: store,
            positions: positions, checkpoint: checkpoint)
        members[Int(partition)] = member
        restorer.add(partition, store: store, checkpoint: checkpoint)
    }

    /// Opens the local state; one that is foreign or too old is deleted first, and comes back from the changelogs.
    private func openStore(_ partition: Int32) throws(StreamFault) -> (StateStore, Checkpoint) {
        let name = storeName(partition)
        let store = try home.acquire(name, tables: configuration.tables)
        let found = try store.checkpoint()
        let reason = found.flatMap { configuration.reasonToRebuild($0, nowMillis: WallClock.nowMillis()) }
        if let found, reason == nil {
            store.setTime(found.nowMillis)
            return (store, found)
        }
        let fresh = Checkpoint(
            identity: configuration.identity,
            changelogOffsets: Array(repeating: Restorer.beginning, count: configuration.tables.count), nowMillis: 0,
            writtenMillis: WallClock.nowMillis(), transactions: 0)
        guard let reason else { return (store, fresh) }
        log.warning("slot \(configuration.slotName): the local state of partition \(partition) is rebuilt: \(reason)")
        try store.deleteAll()
        return (store, fresh)
    }

    /// Polls the changelogs; tasks whose state is complete begin to read. True while something came.
    func restore() throws(StreamFault) -> Bool {
        guard restorer.isActive else { return false }
        let (isBusy, done) = try restorer.turn()
        for (partition, offsets) in done {
            guard let member = members[Int(partition)] else { continue }
            member.changelogOffsets = offsets
            member.isRestored = true
            tasks[partition] = (member.task, member.context)
            member.context.isHeld = isHeld
            home.settled(member.store)
            try guarded { () throws(TaskFailure) in try member.task.restored(member.context) }
            if isPaused { continue }
            let list = TopicPartitionList()
            for topic in configuration.inputs { list.add(topic, partition) }
            try consumer.resume(list)
        }
        if !done.isEmpty { publishPartitions() }
        return isBusy
    }

    private func revoked(isLost: Bool) throws(StreamFault) {
        isRevoking = true
        defer { isRevoking = false }
        if isLost || callbackFault != nil {
            log.warning("slot \(configuration.slotName): the partitions are lost, the transaction is dropped")
            abortLost()
        } else {
            do throws(StreamFault) {
                try drain()
                try commit()
            } catch {
                letGo()
                throw error
            }
        }
        letGo()
        try consumer.unassign()
    }

    /// Lets side effects end, for a bounded time; writes of their ends join the last transaction.
    private func drain() throws(StreamFault) {
        watchdog.begin("draining", atMost: configuration.callLimit)
        let deadline = MonotonicTime.now() + configuration.drainLimit
        while true {
            application.turn(tasks)
            try wakeTasks()
            var isDone = true
            for case let member? in members where member.isRestored {
                var isDrained = false
                try guarded { () throws(TaskFailure) in isDrained = try member.task.drain(member.context) }
                isDone = isDone && isDrained
            }
            let now = MonotonicTime.now()
            if isDone || now >= deadline { return }
            try wait(atMost: min(deadline - now, .milliseconds(20)))
        }
    }

    /// Closes all tasks; their stores stay open until it is known where the partitions go.
    func letGo() {
        if isBegun || members.contains(where: { $0?.context.isTouched == true }) { rollBack() }
        tasks = [:]
        for case let member? in members {
            if member.isRestored { member.task.closed() }
            restorer.remove(member.partition)
            warmNames.append(storeName(member.partition))
            home.keepWarm(member.store)
            members[Int(member.partition)] = nil
        }
        application.letGo()
        // A slot without tasks has nothing left to hold back.
        isHeld = false
        publishPartitions()
    }

    private func publishPartitions() {
        let mine = members.compactMap { $0?.partition }
        let restoring = members.count { $0?.isRestored == false }
        update { status in
            status.partitions = mine
            status.restoring = restoring
            if mine.isEmpty { status.positions = [] }
            if status.phase != .stopping { status.phase = mine.isEmpty ? .idle : restoring > 0 ? .restoring : .running }
        }
    }
}

extension StreamConfiguration {
    /// Why a local state cannot be used; nil where it can.
    func reasonToRebuild(_ checkpoint: Checkpoint, nowMillis: Int64) -> String? {
        if checkpoint.identity != identity { return "it belongs to \(checkpoint.identity), not to \(identity)" }
        if checkpoint.changelogOffsets.count != tables.count { return "it has another number of tables" }
        let ageMillis = nowMillis - checkpoint.writtenMillis
        for table in tables where ageMillis > Int64(table.deleteRetention.wholeMilliseconds) / 2 {
            return "it is \(ageMillis / 1000) s old, and deletions in \(table.changelog) may be gone since"
        }
        return nil
    }
}
