import CRdKafka

/// A topic to create, as `hush topics create` and tests want it.
public struct TopicDefinition: Hashable, Sendable {
    public var name: String
    public var partitionCount: Int32
    /// Copies of each partition; nil: what the brokers have as their default.
    public var replicationFactor: Int32?
    /// Topic configuration by Kafka's names, such as `cleanup.policy`.
    public var configuration: [String: String]

    public init(
        name: String, partitionCount: Int32, replicationFactor: Int32? = nil, configuration: [String: String] = [:]
    ) {
        self.name = name
        self.partitionCount = partitionCount
        self.replicationFactor = replicationFactor
        self.configuration = configuration
    }
}

/// A topic as the cluster has it.
public struct TopicDescription: Hashable, Sendable {
    public var partitionCount: Int32
    /// Every configuration value that is in force, defaults of the brokers included.
    public var configuration: [String: String]

    public init(partitionCount: Int32, configuration: [String: String]) {
        self.partitionCount = partitionCount
        self.configuration = configuration
    }
}

/// Creates and describes topics. Of one thread at a time; every call ends within its timeout.
public final class TopicAdmin {
    private let producer: Producer
    private let timeoutMillis: Int32

    public init(
        _ kafka: KafkaConfiguration, timeout: Duration = .seconds(30), log: StreamLog = .silent
    ) throws(StreamFault) {
        let deliveries = Deliveries(name: "hush-admin", log: log)
        producer = try Producer(kafka, name: "hush-admin", topics: [], transactional: nil, deliveries: deliveries)
        timeoutMillis = timeout.wholeMilliseconds
    }

    /// Creates topics; what is there already stays as it is.
    /// - Returns: the names of those that were made.
    /// - Throws: `StreamFault.refused` with the broker's words where one cannot be made; others may be there then.
    @discardableResult
    public func create(_ topics: [TopicDefinition]) throws(StreamFault) -> [String] {
        if topics.isEmpty { return [] }
        var made: [OpaquePointer?] = []
        defer { for topic in made { rd_kafka_NewTopic_destroy(topic) } }
        for topic in topics { made.append(try newTopic(topic)) }
        let answer = try request(RD_KAFKA_ADMIN_OP_CREATETOPICS, RD_KAFKA_EVENT_CREATETOPICS_RESULT, "create topics") {
            rd_kafka_CreateTopics(producer.raw, &made, made.count, $0, $1)
        }
        defer { rd_kafka_event_destroy(answer) }
        var count = 0
        let results = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(answer), &count)
        var created: [String] = []
        for index in 0..<count {
            guard let result = results?[index] else { continue }
            let name = String(cString: rd_kafka_topic_result_name(result))
            switch rd_kafka_topic_result_error(result) {
            case RD_KAFKA_RESP_ERR_NO_ERROR: created.append(name)
            case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS: continue
            case let code:
                let words = rd_kafka_topic_result_error_string(result).map { String(cString: $0) }
                throw .refused("topic \(name) cannot be created: \(words ?? String(cString: rd_kafka_err2str(code)))")
            }
        }
        return created
    }

    /// The partition counts of topics; one that does not exist is left out.
    public func partitionCounts(of topics: [String]) throws(StreamFault) -> [String: Int32] {
        try TopicShapes.partitionCounts(of: topics, client: producer.raw, timeoutMillis: timeoutMillis)
    }

    /// Describes topics; one that does not exist is left out.
    public func describe(_ topics: [String]) throws(StreamFault) -> [String: TopicDescription] {
        let counts = try partitionCounts(of: topics)
        var described: [String: TopicDescription] = [:]
        let present = topics.filter { counts[$0] != nil }
        for (name, configuration) in try configurations(of: present) {
            described[name] = TopicDescription(partitionCount: counts[name] ?? 0, configuration: configuration)
        }
        return described
    }

    /// Describes topics once the brokers know all of them; those they do not know within the limit are left out.
    public func describe(
        _ topics: [String], waitingUpTo limit: Duration
    ) throws(StreamFault) -> [String: TopicDescription] {
        let deadline = ContinuousClock.now + limit
        while true {
            let described = try describe(topics)
            if described.count == Set(topics).count || ContinuousClock.now >= deadline { return described }
            rest(.milliseconds(100))
        }
    }

    /// The first offset and the end of each partition of a topic.
    public func offsets(of topic: String) throws(StreamFault) -> [(first: Int64, end: Int64)] {
        try TopicShapes.bounds(of: topic, client: producer.raw, within: .milliseconds(timeoutMillis))
    }

    private func newTopic(_ topic: TopicDefinition) throws(StreamFault) -> OpaquePointer {
        var words = ""
        let made = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer -> OpaquePointer? in
            buffer[0] = 0
            let made = rd_kafka_NewTopic_new(
                topic.name, topic.partitionCount, topic.replicationFactor ?? -1, buffer.baseAddress, buffer.count)
            if made == nil, let base = buffer.baseAddress { words = String(cString: base) }
            return made
        }
        guard let made else { throw .refused("topic \(topic.name): \(words)") }
        for (key, value) in topic.configuration.sorted(by: { $0.key < $1.key }) {
            rd_kafka_NewTopic_set_config(made, key, value)
        }
        return made
    }

    private func configurations(of topics: [String]) throws(StreamFault) -> [String: [String: String]] {
        if topics.isEmpty { return [:] }
        var resources: [OpaquePointer?] = topics.map { rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, $0) }
        defer { for resource in resources { rd_kafka_ConfigResource_destroy(resource) } }
        let answer = try request(
            RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, RD_KAFKA_EVENT_DESCRIBECONFIGS_RESULT, "describe topics"
        ) { rd_kafka_DescribeConfigs(producer.raw, &resources, resources.count, $0, $1) }
        defer { rd_kafka_event_destroy(answer) }
        var count = 0
        let results = rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(answer), &count)
        var found: [String: [String: String]] = [:]
        for index in 0..<count {
            guard let result = results?[index] else { continue }
            let name = String(cString: rd_kafka_ConfigResource_name(result))
            let code = rd_kafka_ConfigResource_error(result)
            // A broker that has not heard of a new topic yet; for who asked, it is not there.
            if code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART { continue }
            if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw StreamFault("describe topic \(name)", code) }
            found[name] = Self.entries(of: result)
        }
        return found
    }

    private static func entries(of resource: OpaquePointer) -> [String: String] {
        var count = 0
        let entries = rd_kafka_ConfigResource_configs(resource, &count)
        var values: [String: String] = [:]
        for index in 0..<count {
            guard let entry = entries?[index], let value = rd_kafka_ConfigEntry_value(entry) else { continue }
            values[String(cString: rd_kafka_ConfigEntry_name(entry))] = String(cString: value)
        }
        return values
    }

    /// Sends one admin request and waits for its answer, which the caller destroys.
    private func request(
        _ operation: rd_kafka_admin_op_t, _ expected: Int32, _ name: String,
        _ send: (OpaquePointer?, OpaquePointer?) -> Void
    ) throws(StreamFault) -> OpaquePointer {
        let options = rd_kafka_AdminOptions_new(producer.raw, operation)
        defer { rd_kafka_AdminOptions_destroy(options) }
        // Half of the time is left for the network, so that the answer, good or bad, comes before we give up.
        rd_kafka_AdminOptions_set_request_timeout(options, timeoutMillis / 2, nil, 0)
        if operation == RD_KAFKA_ADMIN_OP_CREATETOPICS {
            rd_kafka_AdminOptions_set_operation_timeout(options, timeoutMillis / 2, nil, 0)
        }
        let queue = rd_kafka_queue_new(producer.raw)
        defer { rd_kafka_queue_destroy(queue) }
        send(options, queue)
        guard let event = rd_kafka_queue_poll(queue, timeoutMillis) else {
            throw StreamFault(name, RD_KAFKA_RESP_ERR__TIMED_OUT)
        }
        let code = rd_kafka_event_error(event)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, rd_kafka_event_type(event) == expected else {
            let fault = StreamFault(name, code, rd_kafka_event_error_string(event).map { String(cString: $0) })
            rd_kafka_event_destroy(event)
            throw fault
        }
        return event
    }
}
