import CRdKafka

/// Makes topics, for tests of this module.
enum TopicMaker {
    static func make(
        _ topics: [(name: String, partitions: Int32, settings: [String: String])], kafka: KafkaConfiguration,
        timeoutMillis: Int32 = 20_000
    ) throws(StreamFault) {
        let deliveries = Deliveries(name: "topic-maker", log: .silent)
        let producer = try Producer(
            kafka, name: "topic-maker", topics: [], transactional: nil, deliveries: deliveries)
        let queue = rd_kafka_queue_new(producer.raw)
        defer { rd_kafka_queue_destroy(queue) }
        var requests: [OpaquePointer?] = []
        defer { for request in requests { rd_kafka_NewTopic_destroy(request) } }
        for topic in topics {
            let request = rd_kafka_NewTopic_new(topic.name, topic.partitions, -1, nil, 0)
            for (key, value) in topic.settings { rd_kafka_NewTopic_set_config(request, key, value) }
            requests.append(request)
        }
        let options = rd_kafka_AdminOptions_new(producer.raw, RD_KAFKA_ADMIN_OP_CREATETOPICS)
        defer { rd_kafka_AdminOptions_destroy(options) }
        // The answer comes when the topics can be used, not when they are decided on.
        rd_kafka_AdminOptions_set_operation_timeout(options, timeoutMillis, nil, 0)
        rd_kafka_CreateTopics(producer.raw, &requests, requests.count, options, queue)
        guard let event = rd_kafka_queue_poll(queue, timeoutMillis) else {
            throw StreamFault("create topics", RD_KAFKA_RESP_ERR__TIMED_OUT)
        }
        defer { rd_kafka_event_destroy(event) }
        let code = rd_kafka_event_error(event)
        if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw StreamFault("create topics", code) }
        guard let result = rd_kafka_event_CreateTopics_result(event) else { return }
        var count = 0
        let made = rd_kafka_CreateTopics_result_topics(result, &count)
        for index in 0..<count {
            let code = rd_kafka_topic_result_error(made?[index])
            if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw StreamFault("create topics", code) }
        }
    }
}
