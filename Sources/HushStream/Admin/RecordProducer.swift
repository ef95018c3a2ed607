import CRdKafka

/// An idempotent producer outside of transactions, for tools, the demo and tests. Of one thread at a time.
///
/// Keys are placed by murmur2, as the Java client does. Records wait in a queue of librdkafka's; where it is full, `send`
/// waits for room within its deadline.
public final class RecordProducer {
    /// What became of one record.
    public struct Report: Sendable {
        /// The number that `send` was given.
        public var tag: Int
        public var partition: Int32
        public var offset: Int64
        /// Nil where the broker has it.
        public var fault: StreamFault?
    }

    /// When records leave.
    public enum Batching: Sendable {
        /// A few milliseconds after the first of them.
        case lingering
        /// At once; those that come while a broker has not answered go together after its answer. For a steady flow: where
        /// records linger, librdkafka 2.0.2 spins through the last part of each millisecond.
        case untilAnswered
    }

    private let producer: Producer
    private let topicIndex: [String: Int]
    private let deliveries: Deliveries

    /// - Throws: `StreamFault.refused` where a property is bad.
    public init(
        _ kafka: KafkaConfiguration, topics: [String], name: String = "hush-producer", queuedRecordsMax: Int = 100_000,
        deliveryTimeout: Duration = .seconds(30), batching: Batching = .lingering, log: StreamLog = .silent
    ) throws(StreamFault) {
        deliveries = Deliveries(name: name, log: log)
        topicIndex = Dictionary(uniqueKeysWithValues: topics.enumerated().map { ($1, $0) })
        let isLingering = batching == .lingering
        producer = try Producer(
            kafka, name: name, topics: topics, transactional: nil, deliveries: deliveries,
            linger: isLingering ? .milliseconds(5) : .zero
        ) { (configuration) throws(StreamFault) in
            if !isLingering { try configuration.set("max.in.flight.requests.per.connection", "1") }
            try configuration.set("queue.buffering.max.messages", "\(queuedRecordsMax)")
            try configuration.set("message.timeout.ms", "\(deliveryTimeout.wholeMilliseconds)")
        }
    }

    /// Hears the report of every record, from within `send`, `poll` and `flush`.
    public func onReport(_ body: @escaping (Report) -> Void) {
        deliveries.report = { tag, partition, offset, fault in
            body(Report(tag: tag, partition: partition, offset: offset, fault: fault))
        }
    }

    /// How many records the brokers have.
    public var acknowledged: Int { deliveries.acknowledged }
    /// How many records could not be delivered, and why the first of them.
    public var failed: Int { deliveries.failed }
    public var firstFault: StreamFault? { deliveries.firstFault }

    /// Queues a record, copied; a nil partition is murmur2 of the key, random without one. `tag` (0 or more) comes back in
    /// the report.
    /// - Throws: `StreamFault.retriable` where the queue stayed full until the deadline, others where it never will go.
    public func send(
        _ topic: String, partition: Int32? = nil, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
        headers: [RecordHeader] = [], tag: Int = 0, within limit: Duration = .seconds(30)
    ) throws(StreamFault) {
        guard let index = topicIndex[topic] else {
            throw .refused("topic \(topic) is none of those that this producer was made for")
        }
        let deadline = ContinuousClock.now + limit
        while true {
            let code = producer.produce(
                index, partition: partition ?? -1, key: key, value: value, headers: headers, tag: tag)
            if code == RD_KAFKA_RESP_ERR_NO_ERROR { break }
            guard code == RD_KAFKA_RESP_ERR__QUEUE_FULL else { throw StreamFault("record for \(topic)", code) }
            guard ContinuousClock.now < deadline else {
                throw .retriable(KafkaCause("record for \(topic)", RD_KAFKA_RESP_ERR__QUEUE_FULL))
            }
            producer.poll(timeoutMillis: 50)
        }
        producer.poll()
    }

    /// Queues a record of arrays.
    public func send(
        _ topic: String, partition: Int32? = nil, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader] = [],
        tag: Int = 0
    ) throws(StreamFault) {
        let result = Self.withMemory(key) { key in
            Self.withMemory(value) { value in
                Result { () throws(StreamFault) in
                    try send(topic, partition: partition, key: key, value: value, headers: headers, tag: tag)
                }
            }
        }
        try result.get()
    }

    /// Serves reports.
    public func poll(timeout: Duration = .zero) {
        producer.poll(timeoutMillis: timeout.wholeMilliseconds)
    }

    /// Waits until every record has its report.
    /// - Throws: `StreamFault.retriable` where some have none in time.
    public func flush(within limit: Duration = .seconds(30)) throws(StreamFault) {
        try producer.flush(timeoutMillis: limit.wholeMilliseconds)
    }

    /// Waits until every record has its report, and until what is sent next gets a later `LogAppendTime`, whose unit is
    /// the millisecond.
    /// - Throws: `StreamFault.retriable` where some have no report in time.
    public func settle(within limit: Duration = .seconds(30)) throws(StreamFault) {
        try flush(within: limit)
        rest(.milliseconds(2))
    }

    private static func withMemory<Answer>(
        _ bytes: [UInt8]?, _ body: (UnsafeRawBufferPointer?) -> Answer
    ) -> Answer {
        guard let bytes else { return body(nil) }
        return bytes.withUnsafeBytes { body($0) }
    }
}
