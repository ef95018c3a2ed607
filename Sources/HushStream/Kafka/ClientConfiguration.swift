import CRdKafka

/// The owner of a configuration handle of librdkafka; a client made from it takes the handle over.
struct ClientConfiguration: ~Copyable {
    private let raw: OpaquePointer

    init() {
        raw = rd_kafka_conf_new()
    }

    deinit {
        rd_kafka_conf_destroy(raw)
    }

    /// What producers and consumers of this process share.
    init(_ kafka: KafkaConfiguration, clientID: String) throws(StreamFault) {
        self.init()
        try set("client.id", clientID)
        try set("log_level", "6")
        try set("log.connection.close", "false")
        try set("topic.metadata.refresh.interval.ms", "30000")
        try set("socket.keepalive.enable", "true")
        try set("reconnect.backoff.max.ms", "2000")
        try apply(kafka)
    }

    /// Sets one property.
    /// - Throws: `StreamFault.refused` with librdkafka's own words where it is unknown or the value is bad.
    func set(_ key: String, _ value: String) throws(StreamFault) {
        if let words = attempt(key, value) {
            throw .refused("librdkafka property \(key): \(words)")
        }
    }

    func apply(_ kafka: KafkaConfiguration) throws(StreamFault) {
        try set("bootstrap.servers", kafka.bootstrapServers)
        for (key, value) in kafka.properties.sorted(by: { $0.key < $1.key }) {
            try set(key, value)
        }
    }

    /// Bounds what a consumer gets at a time, where the user did not.
    func limitFetches(_ stream: StreamConfiguration, _ kafka: KafkaConfiguration) throws(StreamFault) {
        let given = kafka.properties
        // It must not be below the largest message, which the user may have raised.
        if given["fetch.max.bytes"] == nil, given["message.max.bytes"] == nil {
            try set("fetch.max.bytes", "\(stream.fetchBytesMax)")
        }
        if given["max.partition.fetch.bytes"] == nil, given["fetch.message.max.bytes"] == nil {
            try set("fetch.message.max.bytes", "\(stream.fetchPartitionBytesMax)")
        }
    }

    private func attempt(_ key: String, _ value: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { words in
            words[0] = 0
            let result = rd_kafka_conf_set(raw, key, value, words.baseAddress, words.count)
            return result == RD_KAFKA_CONF_OK ? nil : words.baseAddress.map { String(cString: $0) } ?? "refused"
        }
    }

    /// Makes the client. `events` is its opaque: the client's owner keeps it alive until the client is destroyed.
    consuming func makeClient(_ type: rd_kafka_type_t, events: ClientEvents) throws(StreamFault) -> OpaquePointer {
        events.install(on: raw)
        var words = ""
        let client = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer -> OpaquePointer? in
            buffer[0] = 0
            let made = rd_kafka_new(type, raw, buffer.baseAddress, buffer.count)
            if made == nil, let base = buffer.baseAddress { words = String(cString: base) }
            return made
        }
        // The client owns the handle from here on; where none came of it the handle stays ours, and dies here.
        if client != nil {
            discard self
        } else {
            _ = consume self
        }
        guard let client else { throw .refused("Kafka client: \(words)") }
        return client
    }
}
