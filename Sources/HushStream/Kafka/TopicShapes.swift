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
}
