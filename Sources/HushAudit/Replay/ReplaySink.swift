import HushStream

/// Where a replay's own records go when it is asked to write them: topics under a prefix, never those of production.
final class ReplaySink {
    private let producer: RecordProducer
    private let topics: [String]
    /// The first record that could not be sent.
    private(set) var fault: StreamFault?

    /// Makes the topics that are not there.
    init(_ kafka: KafkaConfiguration, prefix: String, stream: StreamConfiguration, log: StreamLog) throws {
        guard !prefix.isEmpty else { throw ReplayFault.refused("the prefix of the replay's own topics is empty") }
        topics = stream.outputs.map { prefix + $0.topic }
        let admin = try TopicAdmin(kafka, log: log)
        try admin.create(
            stream.outputs.map { TopicDefinition(name: prefix + $0.topic, partitionCount: $0.partitionCount) })
        let there = try admin.partitionCounts(of: topics)
        for (output, topic) in zip(stream.outputs, topics) {
            if let count = there[topic], count != output.partitionCount {
                throw ReplayFault.refused("\(topic) has \(count) partitions, and needs \(output.partitionCount)")
            }
        }
        producer = try RecordProducer(kafka, topics: topics, name: "hush-replay", log: log)
    }

    func send(_ record: SentRecord) {
        guard fault == nil else { return }
        do throws(StreamFault) {
            try producer.send(
                topics[record.output], partition: record.partition, key: record.key, value: record.value,
                headers: record.headers)
        } catch {
            fault = error
        }
    }

    /// Waits until the brokers have all.
    func finish() throws {
        try producer.flush(within: .seconds(60))
        if let fault = fault ?? producer.firstFault { throw fault }
    }
}
