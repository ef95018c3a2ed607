import CRdKafka

/// A producer whose records join transactions, for tools that must write all or nothing. Of one thread at a time.
///
/// Its transactional id is its own: whoever starts one of the same id fences the one before, and its open transaction is
/// aborted before `start` returns.
public final class TransactionalProducer {
    /// Where a record of the open transaction lies.
    public struct Placed: Hashable, Sendable {
        public var partition: Int32
        public var offset: Int64
    }

    private let producer: Producer
    private let deliveries: Deliveries
    private let topicIndex: [String: Int]
    private let limit: Duration
    /// By tag, since `begin`.
    private var placed: [Int: Placed] = [:]

    /// `limit` is the transaction's timeout at the broker, and how long each call may take.
    /// - Throws: `StreamFault.refused` where a property is bad.
    public init(
        _ kafka: KafkaConfiguration, id: String, topics: [String], recordBytesMax: Int,
        limit: Duration = .seconds(15), log: StreamLog = .silent
    ) throws(StreamFault) {
        deliveries = Deliveries(name: id, log: log)
        topicIndex = Dictionary(uniqueKeysWithValues: topics.enumerated().map { ($1, $0) })
        self.limit = limit
        producer = try Producer(
            kafka, name: id, topics: topics,
            transactional: Producer.Transactional(id: id, timeoutMillis: limit.wholeMilliseconds),
            deliveries: deliveries
        ) { (settings) throws(StreamFault) in
            // What librdkafka adds to a record counts too.
            try settings.set("message.max.bytes", "\(recordBytesMax + 1024)")
        }
        deliveries.report = { [unowned self] tag, partition, offset, fault in
            if fault == nil, tag > 0, offset >= 0 { placed[tag] = Placed(partition: partition, offset: offset) }
        }
    }

    /// Takes the transactional id over from whoever had it.
    /// - Throws: `StreamFault.retriable` where brokers cannot be reached in time.
    public func start(within limit: Duration = .seconds(60)) throws(StreamFault) {
        try retrying(for: limit) { () throws(StreamFault) in
            try producer.initTransactions(timeoutMillis: self.limit.wholeMilliseconds)
        }
    }

    public func begin() throws(StreamFault) {
        deliveries.clear()
        placed.removeAll(keepingCapacity: true)
        try producer.begin()
    }

    /// Queues a record; a nil partition is murmur2 of the key. A tag above 0 finds its place after `flush`.
    public func send(
        _ topic: String, partition: Int32? = nil, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader] = [],
        tag: Int = 0
    ) throws(StreamFault) {
        guard let index = topicIndex[topic] else {
            throw .refused("topic \(topic) is none of those that this producer was made for")
        }
        let deadline = ContinuousClock.now + limit
        while true {
            let code = Self.withMemory(key) { key in
                Self.withMemory(value) { value in
                    producer.produce(
                        index, partition: partition ?? -1, key: key, value: value, headers: headers, tag: tag)
                }
            }
            if code == RD_KAFKA_RESP_ERR_NO_ERROR { return producer.poll() }
            guard code == RD_KAFKA_RESP_ERR__QUEUE_FULL, ContinuousClock.now < deadline else {
                throw producer.fatalFault ?? StreamFault("record for \(topic)", code)
            }
            producer.poll(timeoutMillis: 50)
        }
    }

    /// Waits until the brokers have every record of the transaction; where each that has a tag lies.
    public func flush() throws(StreamFault) -> [Int: Placed] {
        try producer.flush(timeoutMillis: limit.wholeMilliseconds)
        if let fault = producer.fatalFault ?? deliveries.firstFault { throw fault }
        return placed
    }

    /// Serves reports, and blocks for so long at most; for whoever waits between two transactions.
    public func poll(atMost limit: Duration) {
        // A millisecond more than none, or a rest of microseconds would spin.
        producer.poll(timeoutMillis: min(limit, .milliseconds(100)).wholeMilliseconds + 1)
    }

    /// Commits; a call that ends too early is repeated until the broker has answered.
    public func commit() throws(StreamFault) {
        try retrying(for: limit, every: .milliseconds(50)) { () throws(StreamFault) in
            try producer.commit(timeoutMillis: limit.wholeMilliseconds)
        }
    }

    public func abort() throws(StreamFault) {
        try retrying(for: limit, every: .milliseconds(50)) { () throws(StreamFault) in
            try producer.abort(timeoutMillis: limit.wholeMilliseconds)
        }
    }

    private static func withMemory<Answer>(
        _ bytes: [UInt8]?, _ body: (UnsafeRawBufferPointer?) -> Answer
    ) -> Answer {
        guard let bytes else { return body(nil) }
        return bytes.withUnsafeBytes { body($0) }
    }
}

extension StreamFault {
    /// Whether a broker refused a record for what it is: the same bytes would be refused again.
    public var isRefusalOfRecord: Bool { RecordHunt.codes.contains(kafkaCause.code) }
}
