import CRdKafka

/// The owner of a producer client and of the topics it writes to. It is used on one thread.
struct Producer: ~Copyable {
    let raw: OpaquePointer
    let deliveries: Deliveries
    private let names: [String]
    /// Opened at the first record: librdkafka's thread walks over the partitions of every topic that is open whenever it
    /// wakes, and most topics of a slot get a record once in a while at most.
    private let topics: UnsafeMutableBufferPointer<OpaquePointer?>

    /// What makes a producer one of a transaction.
    struct Transactional {
        var id: String
        var timeoutMillis: Int32
    }

    /// Makes an idempotent producer, a transactional one where `transactional` is given. Records name the topics by
    /// their index in `names`. A batch waits for `linger`, or for the next flush: each costs a request, its replication,
    /// and turns of a thread of librdkafka's, which spins through the last part of a millisecond.
    init(
        _ kafka: KafkaConfiguration, name: String, topics names: [String], transactional: Transactional?,
        deliveries: Deliveries, linger: Duration = .milliseconds(5),
        configure: (borrowing ClientConfiguration) throws(StreamFault) -> Void = { _ in }
    ) throws(StreamFault) {
        let configuration = try ClientConfiguration(kafka, clientID: name)
        try configuration.set("enable.idempotence", "true")
        try configuration.set("partitioner", "murmur2_random")
        if kafka.properties["compression.codec"] == nil, kafka.properties["compression.type"] == nil {
            try configuration.set("compression.codec", "lz4")
        }
        if kafka.properties["linger.ms"] == nil, kafka.properties["queue.buffering.max.ms"] == nil {
            try configuration.set("linger.ms", "\(linger.wholeMilliseconds)")
        }
        if let transactional {
            try configuration.set("transactional.id", transactional.id)
            try configuration.set("transaction.timeout.ms", "\(transactional.timeoutMillis)")
            try configuration.set("message.timeout.ms", "\(transactional.timeoutMillis)")
        }
        try configure(configuration)
        raw = try configuration.makeClient(RD_KAFKA_PRODUCER, events: deliveries)
        self.deliveries = deliveries
        self.names = names
        topics = .allocate(capacity: names.count)
        topics.initialize(repeating: nil)
    }

    deinit {
        for case let topic? in topics { rd_kafka_topic_destroy(topic) }
        topics.deallocate()
        rd_kafka_destroy(raw)
    }

    /// Nil where it cannot be opened; the reason is librdkafka's last error.
    private func topic(_ index: Int) -> OpaquePointer? {
        if topics[index] == nil { topics[index] = rd_kafka_topic_new(raw, names[index], nil) }
        return topics[index]
    }

    /// Queues a record; key and value are copied. A partition of -1 is murmur2 of the key, random where there is none.
    ///
    /// `_QUEUE_FULL` means that reports must be polled first; other codes will not get better.
    func produce(
        _ topic: Int, partition: Int32, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?, tag: Int
    ) -> rd_kafka_resp_err_t {
        guard let topic = self.topic(topic) else { return rd_kafka_last_error() }
        let result = rd_kafka_produce(
            topic, partition, Int32(RD_KAFKA_MSG_F_COPY), UnsafeMutableRawPointer(mutating: Self.start(value)),
            value?.count ?? 0, Self.start(key), key?.count ?? 0, UnsafeMutableRawPointer(bitPattern: tag))
        return result == 0 ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_last_error()
    }

    /// Queues a record that carries headers.
    func produce(
        _ topic: Int, partition: Int32, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
        headers: [RecordHeader], tag: Int
    ) -> rd_kafka_resp_err_t {
        if headers.isEmpty { return produce(topic, partition: partition, key: key, value: value, tag: tag) }
        guard let topic = self.topic(topic) else { return rd_kafka_last_error() }
        let list = rd_kafka_headers_new(headers.count)
        for header in headers {
            let code = header.value.withUnsafeBytes { bytes in
                rd_kafka_header_add(list, header.name, -1, bytes.baseAddress ?? Self.empty, bytes.count)
            }
            if code != RD_KAFKA_RESP_ERR_NO_ERROR {
                rd_kafka_headers_destroy(list)
                return code
            }
        }
        let code = withUnsafeTemporaryAllocation(of: rd_kafka_vu_t.self, capacity: 7) { units in
            units.initialize(repeating: rd_kafka_vu_t())
            units[0].vtype = RD_KAFKA_VTYPE_RKT
            units[0].u.rkt = topic
            units[1].vtype = RD_KAFKA_VTYPE_PARTITION
            units[1].u.i32 = partition
            units[2].vtype = RD_KAFKA_VTYPE_MSGFLAGS
            units[2].u.i = Int32(RD_KAFKA_MSG_F_COPY)
            units[3].vtype = RD_KAFKA_VTYPE_VALUE
            units[3].u.mem.ptr = UnsafeMutableRawPointer(mutating: Self.start(value))
            units[3].u.mem.size = value?.count ?? 0
            units[4].vtype = RD_KAFKA_VTYPE_KEY
            units[4].u.mem.ptr = UnsafeMutableRawPointer(mutating: Self.start(key))
            units[4].u.mem.size = key?.count ?? 0
            units[5].vtype = RD_KAFKA_VTYPE_OPAQUE
            units[5].u.ptr = UnsafeMutableRawPointer(bitPattern: tag)
            units[6].vtype = RD_KAFKA_VTYPE_HEADERS
            units[6].u.headers = list
            guard let error = rd_kafka_produceva(raw, units.baseAddress, units.count) else {
                return RD_KAFKA_RESP_ERR_NO_ERROR
            }
            defer { rd_kafka_error_destroy(error) }
            return rd_kafka_error_code(error)
        }
        // The list is librdkafka's only where the record was taken.
        if code != RD_KAFKA_RESP_ERR_NO_ERROR { rd_kafka_headers_destroy(list) }
        return code
    }

    // An empty key or value is not an absent one, and an empty Swift buffer may have no address. Never read from:
    // librdkafka is told a length of zero.
    private static var empty: UnsafeRawPointer { UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped }

    private static func start(_ bytes: UnsafeRawBufferPointer?) -> UnsafeRawPointer? {
        guard let bytes else { return nil }
        return bytes.baseAddress ?? empty
    }

    /// Serves delivery reports.
    func poll(timeoutMillis: Int32 = 0) {
        rd_kafka_poll(raw, timeoutMillis)
    }

    /// Waits until every record has its report.
    /// - Throws: `StreamFault.retriable` where some have none in time.
    func flush(timeoutMillis: Int32) throws(StreamFault) {
        let code = rd_kafka_flush(raw, timeoutMillis)
        if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw StreamFault("flush", code) }
    }

    func initTransactions(timeoutMillis: Int32) throws(StreamFault) {
        if let error = rd_kafka_init_transactions(raw, timeoutMillis) {
            throw StreamFault("init transactions", consuming: error)
        }
    }

    func begin() throws(StreamFault) {
        if let error = rd_kafka_begin_transaction(raw) { throw StreamFault("begin transaction", consuming: error) }
    }

    /// Adds offsets to the transaction under the consumer's present generation; `isMember` says that it joined its group.
    func sendOffsets(
        _ offsets: borrowing TopicPartitionList, of consumer: borrowing Consumer, isMember: Bool = true,
        timeoutMillis: Int32
    ) throws(StreamFault) {
        guard let group = rd_kafka_consumer_group_metadata(consumer.raw) else {
            throw .abortable(KafkaCause("group metadata", RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID))
        }
        defer { rd_kafka_consumer_group_metadata_destroy(group) }
        // A client that lost its partitions has forgotten its generation, its name or, in time, both; and what comes
        // without either the brokers take from anybody. While a revoke waits to be taken librdkafka does not tell of a
        // loss, so its name is asked for too: behind the metadata, for a name that is there now was there before.
        if isMember, consumer.isAssignmentLost || !consumer.hasMemberID {
            throw .abortable(
                KafkaCause(
                    "offsets of the transaction", RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, "the partitions are lost"))
        }
        if let error = rd_kafka_send_offsets_to_transaction(raw, offsets.raw, group, timeoutMillis) {
            throw StreamFault("offsets of the transaction", consuming: error)
        }
    }

    func commit(timeoutMillis: Int32) throws(StreamFault) {
        if let error = rd_kafka_commit_transaction(raw, timeoutMillis) {
            throw StreamFault("commit transaction", consuming: error)
        }
    }

    func abort(timeoutMillis: Int32) throws(StreamFault) {
        if let error = rd_kafka_abort_transaction(raw, timeoutMillis) {
            throw StreamFault("abort transaction", consuming: error)
        }
    }

    /// The error that ended this producer, if one did.
    var fatalFault: StreamFault? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { words in
            words[0] = 0
            let code = rd_kafka_fatal_error(raw, words.baseAddress, words.count)
            guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
            let cause = KafkaCause("producer", code, words.baseAddress.map { String(cString: $0) })
            return StreamFault.fencingCodes.contains(code.rawValue) ? .fenced(cause) : .fatal(cause)
        }
    }
}
