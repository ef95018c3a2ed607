import CRdKafka

/// What the cluster says of topics.
enum TopicShapes {
    /// Brokers leave out what a client may not describe: to it the topic looks like one that does not exist.
    static func missing(_ topic: String) -> String {
        "topic \(topic) does not exist, or this process may not describe it"
    }

    /// The partition counts of topics; a topic that does not exist is left out.
    static func partitionCounts(
        of topics: [String], client: OpaquePointer, timeoutMillis: Int32
    ) throws(StreamFault) -> [String: Int32] {
        var metadata: UnsafePointer<rd_kafka_metadata>?
        // All topics in one question: asking for one by name could create it where brokers do that.
        let code = rd_kafka_metadata(client, 1, nil, &metadata, timeoutMillis)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata else { throw StreamFault("metadata", code) }
        defer { rd_kafka_metadata_destroy(metadata) }
        let wanted = Set(topics)
        var counts: [String: Int32] = [:]
        for index in 0..<Int(metadata.pointee.topic_cnt) {
            let topic = metadata.pointee.topics[index]
            guard let name = topic.topic.map({ String(cString: $0) }), wanted.contains(name) else { continue }
            if topic.err == RD_KAFKA_RESP_ERR_NO_ERROR { counts[name] = topic.partition_cnt }
        }
        return counts
    }

    /// The first offset of a partition and its end: the last stable offset, for our clients read committed records only.
    static func watermarks(
        _ topic: String, _ partition: Int32, client: OpaquePointer, timeoutMillis: Int32
    ) throws(StreamFault) -> (first: Int64, end: Int64) {
        var (first, end): (Int64, Int64) = (0, 0)
        let operation = "offsets of \(topic)-\(partition)"
        switch rd_kafka_query_watermark_offsets(client, topic, partition, &first, &end, timeoutMillis) {
        case RD_KAFKA_RESP_ERR_NO_ERROR: return (first, end)
        // A broker that has not heard of a new partition yet.
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
            throw .retriable(KafkaCause(operation, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART))
        case let code: throw StreamFault(operation, code)
        }
    }

    /// The watermarks of each partition of a topic; a leader that moves is waited for within the limit.
    static func bounds(
        of topic: String, client: OpaquePointer, within limit: Duration
    ) throws(StreamFault) -> [(first: Int64, end: Int64)] {
        let millis = min(limit, .seconds(30)).wholeMilliseconds
        let counts = try retrying(for: limit) { () throws(StreamFault) in
            try partitionCounts(of: [topic], client: client, timeoutMillis: millis)
        }
        guard let count = counts[topic] else { throw .refused(missing(topic)) }
        var bounds: [(first: Int64, end: Int64)] = []
        for partition in 0..<count {
            let marks = try retrying(for: limit) { () throws(StreamFault) in
                try watermarks(topic, partition, client: client, timeoutMillis: millis)
            }
            bounds.append(marks)
        }
        return bounds
    }
}
