import CRdKafka

/// A Kafka in this process: librdkafka's mock cluster, for the demo and quick tests.
///
/// It is no Kafka where it counts: it shows aborted and open transactions to everyone, keeps the producers' times, fences
/// nobody, and forgets all when it goes. Whoever uses it says so.
public final class EmbeddedBroker {
    private let producer: Producer
    private let cluster: OpaquePointer

    /// `host:port`, comma separated.
    public let bootstrapServers: String

    public init(brokers: Int32 = 1, log: StreamLog = .silent) throws(StreamFault) {
        let deliveries = Deliveries(name: "hush-broker", log: log)
        // The mock cluster hangs on a client, which talks to no broker of its own.
        let nowhere = try KafkaConfiguration(bootstrapServers: "127.0.0.1:1")
        producer = try Producer(nowhere, name: "hush-broker", topics: [], transactional: nil, deliveries: deliveries) {
            (configuration) throws(StreamFault) in
            try configuration.set("log_level", "0")
        }
        guard let cluster = rd_kafka_mock_cluster_new(producer.raw, brokers) else {
            throw .refused("the embedded broker cannot listen on a port of 127.0.0.1")
        }
        self.cluster = cluster
        bootstrapServers = String(cString: rd_kafka_mock_cluster_bootstraps(cluster))
    }

    deinit {
        rd_kafka_mock_cluster_destroy(cluster)
    }

    public func create(_ topic: String, partitionCount: Int32) throws(StreamFault) {
        let code = rd_kafka_mock_topic_create(cluster, topic, partitionCount, 1)
        if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw StreamFault("topic \(topic)", code) }
    }

    /// Answers the next requests of a kind with these errors, one each, in the numbers of Kafka's protocol: for tests.
    package func answerNext(_ request: Int16, with codes: [Int32]) {
        let errors = codes.map { rd_kafka_resp_err_t(rawValue: $0) }
        rd_kafka_mock_push_request_errors_array(cluster, request, errors.count, errors)
    }

    /// Answers requests of a kind rightly again.
    package func answerRightly(_ request: Int16) {
        rd_kafka_mock_clear_request_errors(cluster, request)
    }
}
