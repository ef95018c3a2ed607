import CRdKafka

/// Reads the committed records of a topic from its beginning to its end as it is now.
enum RecordDump {
    static func read(
        _ topic: String, partitions: Int32, kafka: KafkaConfiguration, timeout: Duration = .seconds(30),
        _ body: (
            _ partition: Int32, _ offset: Int64, _ key: UnsafeRawBufferPointer?, _ value: UnsafeRawBufferPointer?
        ) -> Void
    ) throws(StreamFault) {
        let events = ClientEvents(name: "dump", log: .silent)
        let consumer = try Consumer(kafka, name: "dump", events: events) { (settings) throws(StreamFault) in
            try settings.set("group.id", "dump")
            try settings.set("fetch.wait.max.ms", "50")
        }
        let list = TopicPartitionList()
        for partition in 0..<partitions { list.add(topic, partition, offset: Int64(RD_KAFKA_OFFSET_BEGINNING)) }
        try consumer.assign(list)
        var complete: Set<Int32> = []
        let deadline = ContinuousClock.now + timeout
        while complete.count < Int(partitions) {
            guard ContinuousClock.now < deadline else {
                throw StreamFault("reading \(topic)", RD_KAFKA_RESP_ERR__TIMED_OUT)
            }
            guard let message = rd_kafka_consumer_poll(consumer.raw, 100) else { continue }
            defer { rd_kafka_message_destroy(message) }
            switch message.pointee.err {
            case RD_KAFKA_RESP_ERR_NO_ERROR:
                body(
                    message.pointee.partition, message.pointee.offset,
                    message.pointee.key.map { UnsafeRawBufferPointer(start: $0, count: message.pointee.key_len) },
                    message.pointee.payload.map { UnsafeRawBufferPointer(start: $0, count: message.pointee.len) })
            case RD_KAFKA_RESP_ERR__PARTITION_EOF:
                complete.insert(message.pointee.partition)
            default:
                throw StreamFault("reading \(topic)", message.pointee.err)
            }
        }
    }
}
