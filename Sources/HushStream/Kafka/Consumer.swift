import CRdKafka

/// The owner of a consumer client. It is used on one thread; closing it there comes before destroying it.
struct Consumer: ~Copyable {
    let raw: OpaquePointer
    // Kept alive as the callbacks' opaque until the client is destroyed.
    private let events: ClientEvents

    /// Settings that every consumer of ours has; `configure` adds the group and what differs.
    init(
        _ kafka: KafkaConfiguration, name: String, events: ClientEvents,
        configure: (borrowing ClientConfiguration) throws(StreamFault) -> Void
    ) throws(StreamFault) {
        let configuration = try ClientConfiguration(kafka, clientID: name)
        try configuration.set("enable.auto.commit", "false")
        try configuration.set("enable.auto.offset.store", "false")
        try configuration.set("isolation.level", "read_committed")
        try configuration.set("auto.offset.reset", "error")
        try configuration.set("enable.partition.eof", "true")
        try configuration.set("check.crcs", "true")
        try configure(configuration)
        raw = try configuration.makeClient(RD_KAFKA_CONSUMER, events: events)
        self.events = events
        // Errors and rebalances come with the records, so that one poll serves all.
        rd_kafka_poll_set_consumer(raw)
    }

    deinit {
        rd_kafka_destroy(raw)
    }

    func subscribe(_ topics: [String]) throws(StreamFault) {
        let list = TopicPartitionList(capacity: topics.count)
        for topic in topics { list.add(topic, -1) }
        let code = rd_kafka_subscribe(raw, list.raw)
        if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw StreamFault("subscribe", code) }
    }

    func assign(_ list: borrowing TopicPartitionList) throws(StreamFault) {
        let code = rd_kafka_assign(raw, list.raw)
        if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw StreamFault("assign", code) }
    }

    func unassign() throws(StreamFault) {
        let code = rd_kafka_assign(raw, nil)
        if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw StreamFault("unassign", code) }
    }

    func pause(_ list: borrowing TopicPartitionList) throws(StreamFault) {
        let code = rd_kafka_pause_partitions(raw, list.raw)
        if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw StreamFault("pause", code) }
        if let fault = list.firstFailure("pause") { throw fault }
    }

    func resume(_ list: borrowing TopicPartitionList) throws(StreamFault) {
        let code = rd_kafka_resume_partitions(raw, list.raw)
        if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw StreamFault("resume", code) }
        if let fault = list.firstFailure("resume") { throw fault }
    }

    func seek(_ list: borrowing TopicPartitionList, timeoutMillis: Int32) throws(StreamFault) {
        if let error = rd_kafka_seek_partitions(raw, list.raw, timeoutMillis) {
            throw StreamFault("seek", consuming: error)
        }
        if let fault = list.firstFailure("seek") { throw fault }
    }

    /// Fills in the group's committed offsets; waits while a transaction that holds some is being ended.
    func committed(_ list: borrowing TopicPartitionList, timeoutMillis: Int32) throws(StreamFault) {
        let code = rd_kafka_committed(raw, list.raw, timeoutMillis)
        if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw StreamFault("committed offsets", code) }
        if let fault = list.firstFailure("committed offsets") { throw fault }
    }

    func watermarks(
        _ topic: String, _ partition: Int32, timeoutMillis: Int32
    ) throws(StreamFault) -> (first: Int64, end: Int64) {
        try TopicShapes.watermarks(topic, partition, client: raw, timeoutMillis: timeoutMillis)
    }

    /// Fills in the ends of partitions: the last stable offsets, for a client that reads uncommitted records the high
    /// watermarks.
    func ends(_ list: borrowing TopicPartitionList, timeoutMillis: Int32) throws(StreamFault) {
        try lookUpEnds(list, timeoutMillis: timeoutMillis)
        if let fault = list.firstFailure("ends of partitions") { throw fault }
    }

    /// The same, with what single partitions failed of left in the list.
    func lookUpEnds(_ list: borrowing TopicPartitionList, timeoutMillis: Int32) throws(StreamFault) {
        // What stands for the end where a time is asked for (ListOffsets, KIP-79).
        for index in 0..<list.count { list.raw.pointee.elems[index].offset = -1 }
        let code = rd_kafka_offsets_for_times(raw, list.raw, timeoutMillis)
        if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw StreamFault("ends of partitions", code) }
    }

    /// The high watermark the last fetch reported, open transactions included; nil before the first fetch.
    func cachedHighWatermark(_ topic: String, _ partition: Int32) -> Int64? {
        var low: Int64 = 0
        var high: Int64 = 0
        let code = rd_kafka_get_watermark_offsets(raw, topic, partition, &low, &high)
        return code == RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0 ? high : nil
    }

    /// Whether the assignment is gone for good: others may already work on it.
    var isAssignmentLost: Bool { rd_kafka_assignment_lost(raw) != 0 }

    /// Whether the group knows this client by a name, as far as the client knows.
    var hasMemberID: Bool {
        guard let id = rd_kafka_memberid(raw) else { return false }
        defer { rd_kafka_mem_free(raw, id) }
        return id.pointee != 0
    }

    /// Takes what waits for a client that reads nothing, errors of connections above all, which would pile up.
    func serve() {
        while let message = rd_kafka_consumer_poll(raw, 0) { rd_kafka_message_destroy(message) }
    }

    /// Lets `descriptor` (an eventfd) become readable when something waits to be polled.
    func signal(_ descriptor: Int32) {
        let queue = rd_kafka_queue_get_consumer(raw)
        var one: UInt64 = 1
        rd_kafka_queue_io_event_enable(queue, descriptor, &one, 8)
        rd_kafka_queue_destroy(queue)
    }

    /// Leaves the group; a revocation is called back from within.
    func close() throws(StreamFault) {
        let code = rd_kafka_consumer_close(raw)
        if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw StreamFault("close", code) }
    }
}
