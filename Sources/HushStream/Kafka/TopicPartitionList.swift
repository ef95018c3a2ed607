import CRdKafka

/// The owner of a list of topic partitions.
struct TopicPartitionList: ~Copyable {
    let raw: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    init(capacity: Int = 8) {
        raw = rd_kafka_topic_partition_list_new(Int32(capacity))
    }

    /// Takes over a list that librdkafka made.
    init(owning raw: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) {
        self.raw = raw
    }

    deinit {
        rd_kafka_topic_partition_list_destroy(raw)
    }

    var count: Int { Int(raw.pointee.cnt) }

    /// Adds a partition; the offset is a real one or one of librdkafka's logical ones.
    func add(_ topic: String, _ partition: Int32, offset: Int64 = Int64(RD_KAFKA_OFFSET_INVALID)) {
        rd_kafka_topic_partition_list_add(raw, topic, partition).pointee.offset = offset
    }

    struct Element {
        var topic: String
        var partition: Int32
        var offset: Int64
        var code: rd_kafka_resp_err_t
    }

    subscript(index: Int) -> Element {
        precondition(index >= 0 && index < count, "beyond the list")
        let element = raw.pointee.elems[index]
        return Element(
            topic: String(cString: element.topic), partition: element.partition, offset: element.offset,
            code: element.err)
    }

    /// The first partition whose own error is set.
    func firstFailure(_ operation: String) -> StreamFault? {
        for index in 0..<count {
            let element = self[index]
            if element.code != RD_KAFKA_RESP_ERR_NO_ERROR {
                return StreamFault("\(operation) of \(element.topic)-\(element.partition)", element.code)
            }
        }
        return nil
    }
}
