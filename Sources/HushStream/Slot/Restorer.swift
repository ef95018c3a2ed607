import CRdKafka
import HushBase

/// Brings the stores of new tasks up to the end of their changelogs, with a consumer of its own that is in no group.
///
/// A changelog is complete where reading has come to its high watermark, open transactions included: the last owner's
/// commit may still be on its way to this topic although the group has its offsets already.
final class Restorer {
    static let beginning = Int64(RD_KAFKA_OFFSET_BEGINNING)
    private static let batchBytes = 1 << 20

    private final class Job {
        let partition: Int32
        let store: StateStore
        var checkpoint: Checkpoint
        var isComplete: [Bool]
        /// Since when a table's changelog is read up to an open transaction; nil where none is in the way.
        var blockedSince: [MonotonicTime?]
        var batch: StateStore.Batch

        init(_ partition: Int32, _ store: StateStore, _ checkpoint: Checkpoint) {
            self.partition = partition
            self.store = store
            self.checkpoint = checkpoint
            isComplete = checkpoint.changelogOffsets.map { _ in false }
            blockedSince = checkpoint.changelogOffsets.map { _ in nil }
            batch = store.makeBatch()
        }
    }

    private let configuration: StreamConfiguration
    private let kafka: KafkaConfiguration
    private let log: StreamLog
    private let wakeUp: WakeUp
    private var consumer: OpenConsumer?
    private var jobs: [Int32: Job] = [:]
    private var isAssignmentStale = false

    init(
        _ configuration: StreamConfiguration, kafka: KafkaConfiguration, log: StreamLog, wakeUp: WakeUp
    ) throws(StreamFault) {
        self.configuration = configuration
        self.kafka = kafka
        self.log = log
        self.wakeUp = wakeUp
    }

    var isActive: Bool { !jobs.isEmpty }

    func add(_ partition: Int32, store: StateStore, checkpoint: Checkpoint) {
        jobs[partition] = Job(partition, store, checkpoint)
        isAssignmentStale = true
    }

    func remove(_ partition: Int32) {
        if jobs.removeValue(forKey: partition) != nil { isAssignmentStale = true }
    }

    func close() {
        jobs = [:]
        consumer = nil
    }

    /// Polls for a bounded number of records.
    /// - Returns: whether there may be more at once, and the partitions that are complete with their offsets.
    func turn() throws(StreamFault) -> (isBusy: Bool, done: [(partition: Int32, offsets: [Int64])]) {
        let open = try opened()
        if isAssignmentStale { try assign(open) }
        var isBusy = false
        for _ in 0..<2000 {
            guard let message = rd_kafka_consumer_poll(open.consumer.raw, 0) else { break }
            defer { rd_kafka_message_destroy(message) }
            isBusy = true
            try take(UnsafePointer(message), open)
        }
        for job in jobs.values { warnOfBlocks(job) }
        var done: [(Int32, [Int64])] = []
        for job in jobs.values where job.isComplete.allSatisfy({ $0 }) {
            try job.store.apply(&job.batch, checkpoint: job.checkpoint)
            done.append((job.partition, job.checkpoint.changelogOffsets))
        }
        for (partition, _) in done { remove(partition) }
        return (isBusy, done.sorted { $0.0 < $1.0 })
    }

    private func opened() throws(StreamFault) -> OpenConsumer {
        if let consumer { return consumer }
        let name = "\(configuration.slotName)-restore"
        let made = OpenConsumer(
            try Consumer(kafka, name: name, events: ClientEvents(name: name, log: log)) {
                (settings) throws(StreamFault) in
                // A consumer must name a group; this one never joins it nor commits.
                try settings.set("group.id", "\(configuration.groupID)-restore")
                try settings.set("queued.max.messages.kbytes", "\(configuration.fetchQueueBytes >> 10)")
                try settings.limitFetches(configuration, kafka)
                if kafka.properties["fetch.wait.max.ms"] == nil { try settings.set("fetch.wait.max.ms", "50") }
            })
        made.consumer.signal(wakeUp.descriptor)
        consumer = made
        return made
    }

    private func assign(_ open: OpenConsumer) throws(StreamFault) {
        let list = TopicPartitionList()
        for job in jobs.values {
            for (table, shape) in configuration.tables.enumerated() where !job.isComplete[table] {
                list.add(shape.changelog, job.partition, offset: job.checkpoint.changelogOffsets[table])
            }
        }
        try open.consumer.assign(list)
        isAssignmentStale = false
    }

    private func take(_ message: UnsafePointer<rd_kafka_message_t>, _ open: OpenConsumer) throws(StreamFault) {
        guard let topic = message.pointee.rkt.map({ String(cString: rd_kafka_topic_name($0)) }) else {
            let words = rd_kafka_message_errstr(message).map { String(cString: $0) } ?? ""
            log.warning("slot \(configuration.slotName), restoring: \(words)")
            return
        }
        let partition = message.pointee.partition
        // What an assignment that is gone still shows is nobody's.
        guard let job = jobs[partition], let table = configuration.tables.firstIndex(where: { $0.changelog == topic })
        else { return }
        let offset = message.pointee.offset
        switch message.pointee.err {
        case RD_KAFKA_RESP_ERR_NO_ERROR:
            guard offset >= job.checkpoint.changelogOffsets[table], let key = message.pointee.key else { return }
            job.batch.add(
                UInt8(table), UnsafeRawBufferPointer(start: key, count: message.pointee.key_len),
                message.pointee.payload.map { UnsafeRawBufferPointer(start: $0, count: message.pointee.len) })
            job.checkpoint.changelogOffsets[table] = offset + 1
            if job.batch.bytes > Self.batchBytes { try job.store.apply(&job.batch, checkpoint: job.checkpoint) }
        case RD_KAFKA_RESP_ERR__PARTITION_EOF:
            job.checkpoint.changelogOffsets[table] = max(job.checkpoint.changelogOffsets[table], offset)
            let end = open.consumer.cachedHighWatermark(topic, partition) ?? offset
            if offset >= end { job.isComplete[table] = true }
            job.blockedSince[table] = offset >= end ? nil : MonotonicTime.now()
        case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
            try beyondRange(job, table, topic, open)
        default:
            let words = rd_kafka_message_errstr(message).map { String(cString: $0) } ?? ""
            if let fault = PollErrors.judge(
                message.pointee.err, place: "\(topic)-\(partition)", words: words, group: configuration.groupID)
            {
                throw fault
            }
            log.warning("slot \(configuration.slotName), restoring \(topic)-\(partition): \(words)")
        }
    }

    /// A transaction ends within its timeout and the broker's sweep: one that does not is told, again and again.
    private func warnOfBlocks(_ job: Job) {
        let now = MonotonicTime.now()
        for (table, since) in job.blockedSince.enumerated() {
            guard let since, now - since > configuration.transactionTimeout + HangingTransaction.sweepMax else {
                continue
            }
            job.blockedSince[table] = now
            let topic = configuration.tables[table].changelog
            log.warning(
                "slot \(configuration.slotName): the state of partition \(job.partition) is not complete: a transaction in "
                    + "\(topic)-\(job.partition), open at offset \(job.checkpoint.changelogOffsets[table]), does not end. "
                    + HangingTransaction.remedy(topic: topic, partition: job.partition))
        }
    }

    /// The checkpoint's offset is not in the changelog: below it the topic was trimmed, above it it is another topic.
    private func beyondRange(_ job: Job, _ table: Int, _ topic: String, _ open: OpenConsumer) throws(StreamFault) {
        let marks = try open.consumer.watermarks(topic, job.partition, timeoutMillis: 5000)
        let offset = job.checkpoint.changelogOffsets[table]
        if offset > marks.end {
            throw .refused(
                "\(topic)-\(job.partition) ends at \(marks.end), before offset \(offset) that the local state has seen: "
                    + "the topic was made anew or lost records. Restore the topic, or delete the local state to go on "
                    + "with what the topic has")
        }
        log.warning(
            "slot \(configuration.slotName): \(topic)-\(job.partition) begins at \(marks.first), behind offset \(offset) of "
                + "the local state, which is rebuilt")
        try job.store.deleteAll()
        let fresh = Job(job.partition, job.store, job.checkpoint)
        fresh.checkpoint.changelogOffsets = configuration.tables.map { _ in Self.beginning }
        fresh.checkpoint.nowMillis = 0
        jobs[job.partition] = fresh
        isAssignmentStale = true
    }
}

/// A consumer that is made when it is first needed.
final class OpenConsumer {
    let consumer: Consumer

    init(_ consumer: consuming Consumer) {
        self.consumer = consumer
    }
}
