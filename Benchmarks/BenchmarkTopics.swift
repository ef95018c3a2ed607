import Foundation
import HushStream
import HushWorkers

/// The topics of one run, under names of its own, so that a broker serves many runs.
struct BenchmarkTopics {
    let kafka: KafkaConfiguration
    let prefix: String
    let partitions: Int32

    /// Makes all topics as `hush topics create` would, with the groups' first offsets.
    init(bootstrap: String, partitions: Int32) throws {
        kafka = try KafkaConfiguration(bootstrapServers: bootstrap)
        prefix = "bench-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        self.partitions = partitions
        var plan = TopicPlan()
        plan.plannerPartitions = partitions
        plan.delivererPartitions = partitions
        var definitions = plan.definitions
        for index in definitions.indices { definitions[index].name = name(definitions[index].name) }
        definitions.append(TopicDefinition(name: copies, partitionCount: partitions))
        try TopicAdmin(kafka).create(definitions)
        for (group, topics) in WorkerGroup.all {
            _ = try GroupOffsets.commitStart(of: topics.map { name($0.name) }, group: name(group), kafka: kafka)
        }
    }

    func name(_ name: String) -> String { "\(prefix).\(name)" }

    /// Where the copy loop writes.
    var copies: String { name("copies") }

    /// A worker's stream, moved to the topics and groups of this run.
    func own(_ stream: StreamConfiguration) -> StreamConfiguration {
        var own = stream
        own.groupID = name(stream.groupID)
        own.transactionalIDPrefix = name(stream.transactionalIDPrefix)
        own.inputs = stream.inputs.map(name)
        for index in own.outputs.indices { own.outputs[index].topic = name(own.outputs[index].topic) }
        for index in own.tables.indices { own.tables[index].changelog = name(own.tables[index].changelog) }
        return own
    }

    /// Writes records outside of transactions, and waits for them.
    func produce(to topic: Topic, count: Int, _ record: (Int) -> (key: [UInt8], value: [UInt8])) throws {
        let producer = try RecordProducer(kafka, topics: [name(topic.name)])
        for number in 0..<count {
            let (key, value) = record(number)
            try producer.send(name(topic.name), key: key, value: value)
        }
        try producer.flush(within: .seconds(60))
        if let fault = producer.firstFault { throw fault }
    }

    /// Some values of a topic, the first of each partition left out, for it may be an order line.
    func samples(of topic: Topic, count: Int) throws -> [[UInt8]] {
        let reader = try RecordReader(kafka, topics: [name(topic.name)])
        var values: [[UInt8]] = []
        while values.count < count, let record = try reader.next(within: .seconds(5)) {
            if record.offset > 0, let value = record.value { values.append(value) }
        }
        return values
    }

    /// Runs a slot until it has committed so many records; then stops it.
    /// - Returns: how it stood at the end, with the CPU time of this process and the time from its start to the last
    /// commit.
    static func run<Application: StreamApplication>(
        _ slot: StreamSlot<Application>, until count: Int, limit: Duration = .seconds(300)
    ) throws -> (status: SlotStatus, cpuMicros: Double, time: Duration) {
        let start = ContinuousClock.now
        let deadline = start + limit
        let before = CopyLoop.cpuMicros()
        try slot.start()
        while slot.status.recordsIn < count, slot.status.phase != .stopped, ContinuousClock.now < deadline {
            usleep(20_000)
        }
        let spent = CopyLoop.cpuMicros() - before
        let time = ContinuousClock.now - start
        let status = slot.status
        slot.stop()
        if let fault = slot.join() { throw fault }
        guard status.recordsIn >= count else {
            throw ChildProcess.Fault(description: "only \(status.recordsIn) of \(count) records were processed in time")
        }
        return (status, spent, time)
    }
}
