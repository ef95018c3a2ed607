import CRdKafka

/// How every client of the process reaches Kafka: the brokers, security, and further properties of librdkafka.
public struct KafkaConfiguration: Hashable, Sendable {
    /// `host:port`, comma separated.
    public let bootstrapServers: String
    /// Properties as librdkafka's CONFIGURATION.md names them (`-X key=value`), without those that would break a guarantee.
    public let properties: [String: String]

    /// - Throws: `StreamFault.refused` where a property is unknown, has a bad value, or would break a guarantee.
    public init(bootstrapServers: String, properties: [String: String] = [:]) throws(StreamFault) {
        guard !bootstrapServers.isEmpty else {
            throw .refused("kafka.bootstrap: empty; give host:port of at least one broker")
        }
        for (key, value) in properties.sorted(by: { $0.key < $1.key }) {
            if let reason = Self.refusal(of: key, value) {
                throw .refused("librdkafka property \(key) cannot be set: \(reason)")
            }
        }
        self.bootstrapServers = bootstrapServers
        self.properties = properties
        // Tried once on a configuration that is thrown away: a typing error shows at start, not at the first client.
        let trial = ClientConfiguration()
        try trial.apply(self)
    }

    /// Why a property is not open to users; nil where it is.
    public static func refusal(of key: String, _ value: String) -> String? {
        if let reason = reserved[key] { return reason }
        if key.hasPrefix("test.mock") { return "a mock cluster is no Kafka; use hush demo" }
        if key.hasSuffix("_cb") || key == "opaque" { return "callbacks belong to hush" }
        return nil
    }

    private static let reserved: [String: String] = {
        let once = "hush's exactly-once processing rests on it"
        let slots = "it comes from the slot's name"
        return [
            "bootstrap.servers": "use kafka.bootstrap",
            "metadata.broker.list": "use kafka.bootstrap",
            "enable.auto.commit": once, "auto.commit.interval.ms": once, "auto.commit.enable": once,
            "enable.auto.offset.store": once, "isolation.level": once, "enable.idempotence": once, "acks": once,
            "request.required.acks": once, "max.in.flight": once, "max.in.flight.requests.per.connection": once,
            "retries": once, "message.send.max.retries": once, "queuing.strategy": once, "check.crcs": once,
            "enable.partition.eof": "the end of a changelog is found by it",
            "auto.offset.reset": "lost offsets must stop a worker, not skip or repeat records",
            "partition.assignment.strategy": "only range puts equal-numbered partitions of all inputs together",
            "transactional.id": slots, "group.id": slots, "group.instance.id": slots, "client.id": slots,
            "transaction.timeout.ms": "use the setting of hush, which is checked against the others",
            "session.timeout.ms": "use the setting of hush, which is checked against the others",
            "max.poll.interval.ms": "use the setting of hush, which is checked against the others",
            "message.timeout.ms": "it is the transaction's timeout",
            "delivery.timeout.ms": "it is the transaction's timeout",
            "partitioner": "keys are placed with murmur2, as the Java client does",
            "client.rack": "librdkafka 2.0.2 may loop on a follower that is out of range (librdkafka #4616)",
            "plugin.library.paths": "no foreign code is loaded",
            "log.queue": "logs reach hush's log by a callback",
            "enabled_events": "events belong to hush",
            "delivery.report.only.error": "changelog offsets come from delivery reports",
            "dr_cb": once,
        ]
    }()
}
