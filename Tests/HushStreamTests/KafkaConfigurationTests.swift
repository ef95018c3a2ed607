import HushStream
import Testing

@Suite struct KafkaConfigurationTests {
    @Test("properties that would break a guarantee are refused, with the reason and the property's name")
    func refusals() {
        let broken = [
            ("isolation.level", "read_uncommitted"), ("enable.auto.commit", "true"), ("acks", "1"),
            ("auto.offset.reset", "latest"), ("partition.assignment.strategy", "cooperative-sticky"),
            ("transactional.id", "x"), ("partitioner", "consistent"), ("test.mock.num.brokers", "1"),
        ]
        for (key, value) in broken {
            #expect(KafkaConfiguration.refusal(of: key, value) != nil, "\(key)")
            do {
                _ = try KafkaConfiguration(bootstrapServers: "localhost:1", properties: [key: value])
                Issue.record("\(key) was taken")
            } catch {
                #expect(error.description.contains("librdkafka property \(key) cannot be set: "))
            }
        }
    }

    @Test("a property that librdkafka does not know, or a value it does not take, shows its words")
    func typingErrors() {
        #expect(
            throws: StreamFault.refused(
                "librdkafka property fetch.wait.max.mss: No such configuration property: \"fetch.wait.max.mss\"")
        ) {
            try KafkaConfiguration(bootstrapServers: "localhost:1", properties: ["fetch.wait.max.mss": "1"])
        }
        #expect(throws: StreamFault.self) {
            try KafkaConfiguration(bootstrapServers: "localhost:1", properties: ["fetch.wait.max.ms": "soon"])
        }
        #expect(throws: StreamFault.self) { try KafkaConfiguration(bootstrapServers: "") }
    }

    @Test("security and tuning pass")
    func passThrough() throws {
        let made = try KafkaConfiguration(
            bootstrapServers: "localhost:1",
            properties: ["security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-256", "linger.ms": "20"])
        #expect(made.properties["linger.ms"] == "20")
    }

    @Test("times that contradict each other are refused with what to change")
    func times() throws {
        var configuration = StreamConfiguration(
            application: "copy", groupID: "g", slotName: "s", transactionalIDPrefix: "t", inputs: ["in"],
            partitionCount: 1, outputs: [], tables: [])
        try configuration.check()
        configuration.transactionTimeout = .seconds(12)
        #expect(
            throws: StreamFault.refused(
                "copy: the session timeout (10.0 seconds) must be longer than the transaction timeout (12.0 seconds)")
        ) { try configuration.check() }
    }
}
