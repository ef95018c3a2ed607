import Foundation
import HushCore
import HushStream
import HushWorkers
import Testing

/// All topics of a pipeline on a real broker, under a prefix of their own, and a planner for them.
struct PlannedTopics {
    let kafka: KafkaConfiguration
    let prefix: String
    let partitions: Int32 = 2

    init(_ name: String, _ bootstrap: String?) throws {
        prefix = "\(name)-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))."
        kafka = try KafkaConfiguration(bootstrapServers: bootstrap ?? "")
        var plan = TopicPlan()
        plan.plannerPartitions = partitions
        plan.delivererPartitions = partitions
        var definitions = plan.definitions
        for index in definitions.indices { definitions[index].name = prefix + definitions[index].name }
        try TopicAdmin(kafka).create(definitions)
        let names = Topic.plannerInputs.map { prefix + $0.name }
        _ = try TopicAdmin(kafka).describe(names, waitingUpTo: .seconds(20))
        _ = try GroupOffsets.commitStart(of: names, group: prefix + WorkerGroup.planner, kafka: kafka)
    }

    /// A directory's path that nobody has.
    func newDirectory() -> String {
        FileManager.default.temporaryDirectory.appending(path: "hush-\(prefix)\(UUID())").path
    }

    /// Plans records until the planner has committed all of them; its state stays where a directory is given.
    func plan(_ records: [(Topic, String, String)], state: String? = nil) throws {
        let producer = try RecordProducer(kafka, topics: Topic.plannerInputs.map { prefix + $0.name })
        for (topic, key, value) in records {
            try producer.send(prefix + topic.name, key: Array(key.utf8), value: Array(value.utf8))
        }
        try producer.flush()
        var stream = PlannerConfiguration.stream(
            slotName: "s0", partitionCount: partitions, pushesPartitionCount: partitions)
        stream.groupID = prefix + stream.groupID
        stream.transactionalIDPrefix = prefix + "plan"
        stream.isStaticMember = false
        stream.inputs = stream.inputs.map { prefix + $0 }
        for index in stream.outputs.indices { stream.outputs[index].topic = prefix + stream.outputs[index].topic }
        for index in stream.tables.indices { stream.tables[index].changelog = prefix + stream.tables[index].changelog }
        let directory = state ?? newDirectory()
        defer { if state == nil { try? FileManager.default.removeItem(atPath: directory) } }
        let slot = try StreamSlot(stream, kafka: kafka, home: try StateHome(directory: directory), log: .silent) {
            PlannerApplication(PlannerConfiguration(build: "test"))
        }
        try slot.start()
        let deadline = ContinuousClock.now + .seconds(60)
        while slot.status.recordsIn < records.count, ContinuousClock.now < deadline { usleep(20_000) }
        slot.stop()
        #expect(slot.join() == nil)
    }
}
