import CRdKafka

/// A record as it was read, copied.
public struct ReadRecord: Hashable, Sendable {
    public var topic: String
    public var partition: Int32
    public var offset: Int64
    /// Milliseconds since 1970: the broker's append time, or the producer's where the topic keeps that.
    public var timeMillis: Int64
    public var key: [UInt8]?
    public var value: [UInt8]?
    public var headers: [RecordHeader]

    public init(
        topic: String, partition: Int32, offset: Int64, timeMillis: Int64, key: [UInt8]?, value: [UInt8]?,
        headers: [RecordHeader]
    ) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.timeMillis = timeMillis
        self.key = key
        self.value = value
        self.headers = headers
    }
}

/// Reads whole topics or ranges of them, committed records only, without a group: for tools, the demo and tests.
///
/// Of one thread at a time.
public final class RecordReader {
    /// Where to begin: at the first record, behind the last one there is, or at offsets by partition.
    public enum Start: Sendable {
        case first
        case end
        case offsets([Int32: Int64])
    }

    private struct Place: Hashable {
        var topic: String
        var partition: Int32
    }

    private let consumer: Consumer
    private var isAtEnd: [Place: Bool] = [:]

    public init(
        _ kafka: KafkaConfiguration, topics: [String], from start: Start = .first, name: String = "hush-reader",
        timeout: Duration = .seconds(30), log: StreamLog = .silent
    ) throws(StreamFault) {
        let events = ClientEvents(name: name, log: log)
        consumer = try Consumer(kafka, name: name, events: events) { (configuration) throws(StreamFault) in
            // Named because librdkafka wants one; nothing is ever committed under it.
            try configuration.set("group.id", name)
        }
        let millis = timeout.wholeMilliseconds
        let counts = try TopicShapes.partitionCounts(of: topics, client: consumer.raw, timeoutMillis: millis)
        let list = TopicPartitionList()
        for topic in topics {
            guard let count = counts[topic] else { throw .refused(TopicShapes.missing(topic)) }
            for partition in 0..<count {
                switch start {
                case .first:
                    list.add(topic, partition, offset: Int64(RD_KAFKA_OFFSET_BEGINNING))
                case .end:
                    let marks = try retrying(for: timeout) { () throws(StreamFault) in
                        try consumer.watermarks(topic, partition, timeoutMillis: millis)
                    }
                    list.add(topic, partition, offset: marks.end)
                case .offsets(let offsets):
                    guard let offset = offsets[partition] else { continue }
                    list.add(topic, partition, offset: offset)
                }
                isAtEnd[Place(topic: topic, partition: partition)] = false
            }
        }
        try consumer.assign(list)
    }

    /// Whether every partition was read to its end when it was last looked at.
    public var isCaughtUp: Bool { isAtEnd.values.allSatisfy { $0 } }

    /// The next record of any partition, in each partition's order; nil where none came in time, or at once where all
    /// were read to their ends meanwhile.
    public func next(within limit: Duration = .seconds(1)) throws(StreamFault) -> ReadRecord? {
        let deadline = ContinuousClock.now + limit
        while true {
            let rest = ContinuousClock.now.duration(to: deadline)
            guard let message = rd_kafka_consumer_poll(consumer.raw, max(0, rest.wholeMilliseconds)) else {
                if ContinuousClock.now >= deadline { return nil }
                continue
            }
            defer { rd_kafka_message_destroy(message) }
            let topic = message.pointee.rkt.map { String(cString: rd_kafka_topic_name($0)) } ?? ""
            let place = Place(topic: topic, partition: message.pointee.partition)
            switch message.pointee.err {
            case RD_KAFKA_RESP_ERR_NO_ERROR:
                isAtEnd[place] = false
                return Self.copy(message, topic)
            case RD_KAFKA_RESP_ERR__PARTITION_EOF:
                isAtEnd[place] = true
                if isCaughtUp { return nil }
            case let code:
                let fault = StreamFault("read \(topic)", code)
                guard case .retriable = fault else { throw fault }
            }
        }
    }

    /// Every record up to the ends of all partitions.
    /// - Throws: `StreamFault.retriable` where the ends were not reached in time.
    public func readToEnd(within limit: Duration = .seconds(30)) throws(StreamFault) -> [ReadRecord] {
        var records: [ReadRecord] = []
        let deadline = ContinuousClock.now + limit
        while true {
            let rest = ContinuousClock.now.duration(to: deadline)
            if let record = try next(within: max(.zero, rest)) {
                records.append(record)
            } else if isCaughtUp {
                return records
            } else if ContinuousClock.now >= deadline {
                throw .retriable(KafkaCause("read to the end", RD_KAFKA_RESP_ERR__TIMED_OUT))
            }
        }
    }

    private static func copy(_ message: UnsafeMutablePointer<rd_kafka_message_t>, _ topic: String) -> ReadRecord {
        func bytes(_ start: UnsafeMutableRawPointer?, _ count: Int) -> [UInt8]? {
            start.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: count)) }
        }
        return ReadRecord(
            topic: topic, partition: message.pointee.partition, offset: message.pointee.offset,
            timeMillis: rd_kafka_message_timestamp(message, nil),
            key: bytes(message.pointee.key, message.pointee.key_len),
            value: bytes(message.pointee.payload, message.pointee.len), headers: InputHeaders(message).copied())
    }
}
