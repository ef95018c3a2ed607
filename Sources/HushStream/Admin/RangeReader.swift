import CRdKafka

/// A part of one partition: the offsets from `start` up to, and without, `end`.
public struct RecordRange: Hashable, Sendable {
    public var topic: String
    public var partition: Int32
    public var start: Int64
    public var end: Int64

    public init(topic: String, partition: Int32, start: Int64, end: Int64) {
        self.topic = topic
        self.partition = partition
        self.start = start
        self.end = end
    }

    public var isEmpty: Bool { start >= end }
}

/// Why ranges were not read to their ends.
public enum RangeFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The records at this place are gone, deleted by retention while they were asked for.
    case deleted(topic: String, partition: Int32)
    /// No broker gave anything for so long; what was read so far is not whole.
    case silent(String)
    /// Somebody asked to stop.
    case stopped
    case stream(StreamFault)

    public var description: String {
        switch self {
        case .deleted(let topic, let partition):
            "\(topic)-\(partition): records that were asked for are gone, deleted by retention"
        case .silent(let what): what
        case .stopped: "stopped before the end"
        case .stream(let fault): "\(fault)"
        }
    }
}

/// Reads ranges of topics without a copy, committed records only, without a group and without any right to write.
///
/// Many records at once are taken from librdkafka's queue, which costs less than one call each. Brokers may go and come
/// back: the reader goes on where it was. Of one thread at a time.
public final class RangeReader {
    /// Keys and values that may wait in the client's queue; it takes up to four times as much memory for them.
    public static let queuedBytesMax = 32 << 20
    private static let batchMax = 1000

    private let consumer: Consumer
    private let queue: OpaquePointer
    private let patience: Duration

    /// `patience` is how long the brokers may give nothing at all.
    public init(
        _ kafka: KafkaConfiguration, name: String, patience: Duration, log: StreamLog = .silent
    ) throws(StreamFault) {
        let events = ClientEvents(name: name, log: log)
        consumer = try Consumer(kafka, name: name, events: events) { (configuration) throws(StreamFault) in
            // Named because librdkafka wants one; nothing is ever committed under it.
            try configuration.set("group.id", name)
            try configuration.set("queued.min.messages", "10000000")
            try configuration.set("queued.max.messages.kbytes", "\(Self.queuedBytesMax >> 10)")
        }
        queue = rd_kafka_queue_get_consumer(consumer.raw)
        self.patience = patience
    }

    deinit {
        rd_kafka_queue_destroy(queue)
    }

    /// The first offset and the end of each partition of a topic; the end is where the first open transaction begins.
    public func bounds(of topic: String) throws(StreamFault) -> [(first: Int64, end: Int64)] {
        try TopicShapes.bounds(of: topic, client: consumer.raw, within: patience)
    }

    /// Partition by partition, the first offset whose record is not older than a time; nil where there is none.
    public func offsets(of topic: String, partitions: Int, atMillis millis: Int64) throws(StreamFault) -> [Int64?] {
        try retrying(for: patience) { () throws(StreamFault) in
            let list = TopicPartitionList(capacity: partitions)
            for partition in 0..<partitions { list.add(topic, Int32(partition), offset: millis) }
            let code = rd_kafka_offsets_for_times(consumer.raw, list.raw, min(patience, .seconds(30)).wholeMilliseconds)
            if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw StreamFault("offsets of \(topic) by time", code) }
            if let fault = list.firstFailure("offsets by time") { throw fault }
            return (0..<list.count).map { list[$0].offset >= 0 ? list[$0].offset : nil }
        }
    }

    /// Shows every record of the ranges, in each partition's order; `record.input` is the index of its range. Where
    /// `body` returns false the range is done. One partition may stand in one range only. `isStopped` is asked between
    /// batches.
    ///
    /// - Returns: range by range, the offset up to which it was read: less than its end where a transaction is open.
    /// - Throws: `RangeFault`; what was shown before is not whole then.
    public func read(
        _ ranges: [RecordRange], isStopped: () -> Bool = { false }, _ body: (InputRecord) -> Bool
    ) throws(RangeFault) -> [Int64] {
        var reading = Reading(ranges)
        let list = TopicPartitionList(capacity: ranges.count)
        for range in ranges where !range.isEmpty { list.add(range.topic, range.partition, offset: range.start) }
        guard list.count > 0 else { return reading.progress.reached }
        try streaming { () throws(StreamFault) in try consumer.assign(list) }
        defer { rd_kafka_assign(consumer.raw, nil) }
        var deadline = ContinuousClock.now + patience
        var messages = [UnsafeMutablePointer<rd_kafka_message_t>?](repeating: nil, count: Self.batchMax)
        while reading.progress.openCount > 0 {
            if isStopped() { throw .stopped }
            let count = rd_kafka_consume_batch_queue(queue, 200, &messages, messages.count)
            var fault: RangeFault?
            for case let message? in messages[..<max(0, count)] {
                if fault == nil { fault = reading.take(message, body) }
                rd_kafka_message_destroy(message)
            }
            if let fault { throw fault }
            if reading.progress.takeMoved() {
                deadline = ContinuousClock.now + patience
            } else if ContinuousClock.now >= deadline {
                throw .silent(
                    "the brokers gave nothing for \(patience), \(reading.progress.openCount) partitions remain")
            }
        }
        return reading.progress.reached
    }

    private func streaming(_ body: () throws(StreamFault) -> Void) throws(RangeFault) {
        do throws(StreamFault) {
            try body()
        } catch {
            throw .stream(error)
        }
    }

    /// What comes of the ranges, message by message.
    private struct Reading {
        var progress: RangeProgress
        /// A topic's handle, and its range of each partition.
        private var topics: [(handle: OpaquePointer, ranges: [Int])] = []

        init(_ ranges: [RecordRange]) {
            progress = RangeProgress(ranges)
        }

        mutating func take(
            _ message: UnsafeMutablePointer<rd_kafka_message_t>, _ body: (InputRecord) -> Bool
        ) -> RangeFault? {
            let code = message.pointee.err
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR__PARTITION_EOF else {
                return judge(message)
            }
            let offset = message.pointee.offset
            let isEnd = code == RD_KAFKA_RESP_ERR__PARTITION_EOF
            guard let topic = message.pointee.rkt, let index = range(of: topic, Int(message.pointee.partition)),
                progress.admit(index, offset, isEnd: isEnd)
            else { return nil }
            let record = InputRecord(
                input: index, partition: message.pointee.partition, offset: offset,
                appendTimeMillis: rd_kafka_message_timestamp(message, nil),
                key: message.pointee.key.map { UnsafeRawBufferPointer(start: $0, count: message.pointee.key_len) },
                value: message.pointee.payload.map { UnsafeRawBufferPointer(start: $0, count: message.pointee.len) },
                headers: InputHeaders(message))
            progress.took(index, offset, goesOn: body(record))
            return nil
        }

        private mutating func range(of handle: OpaquePointer, _ partition: Int) -> Int? {
            if let known = topics.first(where: { $0.handle == handle }) {
                return partition < known.ranges.count && known.ranges[partition] >= 0 ? known.ranges[partition] : nil
            }
            let name = String(cString: rd_kafka_topic_name(handle))
            var places: [Int] = []
            for (index, range) in progress.ranges.enumerated() where range.topic == name {
                while places.count <= Int(range.partition) { places.append(-1) }
                places[Int(range.partition)] = index
            }
            topics.append((handle, places))
            return range(of: handle, partition)
        }

        /// What passes by itself is waited out; the deadline bounds it.
        private func judge(_ message: UnsafeMutablePointer<rd_kafka_message_t>) -> RangeFault? {
            let name = message.pointee.rkt.map { String(cString: rd_kafka_topic_name($0)) } ?? ""
            let code = message.pointee.err
            if code == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET || code == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE {
                return .deleted(topic: name, partition: message.pointee.partition)
            }
            let words = rd_kafka_message_errstr(message).map { String(cString: $0) }
            let fault = StreamFault("read \(name)", code, words)
            if case .retriable = fault { return nil }
            return .stream(fault)
        }
    }
}
