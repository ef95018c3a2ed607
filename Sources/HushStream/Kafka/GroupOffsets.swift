import CRdKafka

/// The committed offsets of a consumer group, for first starts and for tools; nobody of the group may be running.
public enum GroupOffsets {
    /// Commits the first offset of every partition of `topics` where the group has none yet.
    /// - Returns: how many partitions got one.
    /// - Throws: `StreamFault.refused` where a topic is missing.
    public static func commitStart(
        of topics: [String], group: String, kafka: KafkaConfiguration, timeout: Duration = .seconds(30),
        log: StreamLog = .silent
    ) throws(StreamFault) -> Int {
        let millis = timeout.wholeMilliseconds
        let events = ClientEvents(name: "\(group)-offsets", log: log)
        let consumer = try Consumer(kafka, name: "\(group)-offsets", events: events) {
            (configuration) throws(StreamFault) in
            try configuration.set("group.id", group)
        }
        var counts: [String: Int32] = [:]
        // A topic that was made a moment ago is not known to every broker at once.
        for _ in 0..<20 where counts.count < Set(topics).count {
            try retrying(for: timeout) { () throws(StreamFault) in
                counts = try TopicShapes.partitionCounts(of: topics, client: consumer.raw, timeoutMillis: millis)
            }
            if counts.count < Set(topics).count { rest(.milliseconds(100)) }
        }
        let known = TopicPartitionList()
        for topic in topics {
            guard let count = counts[topic] else { throw .refused(TopicShapes.missing(topic)) }
            for partition in 0..<count { known.add(topic, partition) }
        }
        try retrying(for: timeout) { () throws(StreamFault) in
            try consumer.committed(known, timeoutMillis: millis)
        }
        let first = TopicPartitionList()
        for index in 0..<known.count where known[index].offset < 0 {
            let missing = known[index]
            // A partition that was just made may have no leader yet.
            try retrying(for: timeout) { () throws(StreamFault) in
                let marks = try consumer.watermarks(missing.topic, missing.partition, timeoutMillis: millis)
                first.add(missing.topic, missing.partition, offset: marks.first)
            }
        }
        if first.count > 0 { try commit(first, consumer, timeout) }
        return first.count
    }

    /// What a group has committed, by topic and partition; -1 where it has nothing. Needs no right but to describe.
    public static func committed(
        of topics: [String], group: String, kafka: KafkaConfiguration, timeout: Duration = .seconds(30),
        log: StreamLog = .silent
    ) throws(StreamFault) -> [String: [Int64]] {
        let millis = timeout.wholeMilliseconds
        let events = ClientEvents(name: "\(group)-offsets", log: log)
        let consumer = try Consumer(kafka, name: "\(group)-offsets", events: events) {
            (configuration) throws(StreamFault) in
            try configuration.set("group.id", group)
        }
        let counts = try TopicShapes.partitionCounts(of: topics, client: consumer.raw, timeoutMillis: millis)
        let list = TopicPartitionList()
        for topic in topics {
            guard let count = counts[topic] else { throw .refused(TopicShapes.missing(topic)) }
            for partition in 0..<count { list.add(topic, partition) }
        }
        try retrying(for: timeout) { () throws(StreamFault) in
            try consumer.committed(list, timeoutMillis: millis)
        }
        var found: [String: [Int64]] = [:]
        for index in 0..<list.count {
            found[list[index].topic, default: []].append(max(-1, list[index].offset))
        }
        return found
    }

    /// Sets the offset of one partition.
    public static func commit(
        _ offset: Int64, topic: String, partition: Int32, group: String, kafka: KafkaConfiguration,
        timeout: Duration = .seconds(30), log: StreamLog = .silent
    ) throws(StreamFault) {
        let events = ClientEvents(name: "\(group)-offsets", log: log)
        let consumer = try Consumer(kafka, name: "\(group)-offsets", events: events) {
            (configuration) throws(StreamFault) in
            try configuration.set("group.id", group)
        }
        let list = TopicPartitionList()
        list.add(topic, partition, offset: offset)
        try commit(list, consumer, timeout)
    }

    private static func commit(
        _ list: borrowing TopicPartitionList, _ consumer: borrowing Consumer, _ timeout: Duration
    ) throws(StreamFault) {
        try retrying(for: timeout) { () throws(StreamFault) in
            let code = rd_kafka_commit(consumer.raw, list.raw, 0)
            if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw StreamFault("commit of offsets", code) }
            if let fault = list.firstFailure("commit of offsets") { throw fault }
        }
    }
}
