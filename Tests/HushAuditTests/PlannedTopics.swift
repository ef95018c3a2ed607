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
        let directory = state ?? newDirectory()
        defer { if state == nil { try? FileManager.default.removeItem(atPath: directory) } }
        try withPlanner(state: directory) { planner in
            try send(records)
            try planner.waitUntilRead(records.count)
        }
    }

    func send(_ records: [(Topic, String, String)]) throws {
        let producer = try RecordProducer(kafka, topics: Topic.plannerInputs.map { prefix + $0.name })
        for (topic, key, value) in records {
            try producer.send(prefix + topic.name, key: Array(key.utf8), value: Array(value.utf8))
        }
        try producer.flush()
    }

    /// A planner at work.
    struct RunningPlanner {
        let slot: StreamSlot<PlannerApplication>
        let home: StateHome
        let stream: StreamConfiguration

        /// Waits until so many records are read and committed.
        func waitUntilRead(_ count: Int) throws {
            let deadline = ContinuousClock.now + .seconds(60)
            while slot.status.recordsIn < count, ContinuousClock.now < deadline { usleep(20_000) }
            try #require(slot.status.recordsIn >= count)
        }
    }

    /// Runs a planner on a state directory for as long as the body lasts.
    func withPlanner(state directory: String, _ body: (RunningPlanner) throws -> Void) throws {
        var stream = PlannerConfiguration.stream(
            slotName: "s0", partitionCount: partitions, pushesPartitionCount: partitions)
        stream.groupID = prefix + stream.groupID
        stream.transactionalIDPrefix = prefix + "plan"
        stream.isStaticMember = false
        stream.inputs = stream.inputs.map { prefix + $0 }
        for index in stream.outputs.indices { stream.outputs[index].topic = prefix + stream.outputs[index].topic }
        for index in stream.tables.indices { stream.tables[index].changelog = prefix + stream.tables[index].changelog }
        let home = try StateHome(directory: directory)
        let slot = try StreamSlot(stream, kafka: kafka, home: home, log: .silent) {
            PlannerApplication(PlannerConfiguration(build: "test"))
        }
        try slot.start()
        let outcome = Result { try body(RunningPlanner(slot: slot, home: home, stream: stream)) }
        slot.stop()
        #expect(slot.join() == nil)
        try outcome.get()
    }

    /// Deletes records as retention does: what the inputs hold now.
    func deleteInputs() throws {
        let environment = ProcessInfo.processInfo.environment
        let (script, broker) = (environment["HUSH_TEST_KAFKA_SCRIPT"], environment["HUSH_TEST_KAFKA_DIR"])
        var places: [String] = []
        for topic in Topic.plannerInputs.map({ prefix + $0.name }) {
            for (partition, bounds) in try TopicAdmin(kafka).offsets(of: topic).enumerated() where bounds.end > 0 {
                places.append(#"{"topic":"\#(topic)","partition":\#(partition),"offset":\#(bounds.end)}"#)
            }
        }
        let file = newDirectory() + ".json"
        defer { try? FileManager.default.removeItem(atPath: file) }
        try #"{"version":1,"partitions":[\#(places.joined(separator: ","))]}"#.write(
            toFile: file, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(script))
        process.arguments = ["tool", try #require(broker), "delete-records", "--offset-json-file", file]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}
