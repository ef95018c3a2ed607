import HushCore
import HushStream
import HushWorkers
import Testing

@Suite("The topics")
struct TopicPlanTests {
    private let plan = TopicPlan()

    /// A cluster whose topics are as `hush topics create` makes them.
    private var sound: [String: TopicDescription] {
        Dictionary(
            uniqueKeysWithValues: plan.definitions.map { definition in
                (
                    definition.name,
                    TopicDescription(
                        partitionCount: definition.partitionCount, configuration: definition.configuration)
                )
            })
    }

    private func problems(_ topic: String, _ change: (inout TopicDescription) -> Void) -> [String] {
        var found = sound
        if var description = found[topic] {
            change(&description)
            found[topic] = description
        }
        return plan.problems(in: found)
    }

    @Test("what create makes, check finds sound")
    func createdIsSound() {
        #expect(plan.problems(in: sound) == [])
    }

    @Test("every topic has the broker's append time, and the counts of its side")
    func definitionsHold() {
        #expect(plan.definitions.count == 12)
        #expect(plan.definitions.allSatisfy { $0.configuration["message.timestamp.type"] == "LogAppendTime" })
        var plan = TopicPlan()
        plan.plannerPartitions = 6
        plan.delivererPartitions = 3
        let counts = Dictionary(uniqueKeysWithValues: plan.definitions.map { ($0.name, $0.partitionCount) })
        #expect(counts["hush.intents"] == 6)
        #expect(counts["hush.ledger"] == 6)
        #expect(counts["hush.planner.rows"] == 6)
        #expect(counts["hush.pushes"] == 3)
        #expect(counts["hush.deliverer.rows"] == 3)
    }

    @Test("retention covers the windows")
    func retentionCoversWindows() {
        func value(_ topic: Topic, _ key: String) -> String? { plan.definition(of: topic).configuration[key] }
        #expect(value(.intents, "retention.ms") == "2592000000")
        #expect(value(.ledger, "cleanup.policy") == "delete")
        #expect(value(.plannerMarks, "cleanup.policy") == "compact,delete")
        #expect(value(.plannerMarks, "retention.ms") == "691200000")
        #expect(value(.plannerRows, "cleanup.policy") == "compact")
        #expect(value(.plannerRows, "retention.ms") == nil)
        #expect(value(.delivererRows, "delete.retention.ms") == "604800000")
        #expect(value(.dead, "max.message.bytes") == "1114124")
    }

    @Test("a missing topic is told with what to do")
    func tellsMissing() {
        var found = sound
        found["hush.reads"] = nil
        #expect(plan.problems(in: found) == ["hush.reads is missing: run hush topics create"])
    }

    @Test("other partition counts are told with the setting that must agree")
    func tellsPartitionCounts() {
        let planner = problems("hush.intents") { $0.partitionCount = 6 }
        #expect(planner.count == 1)
        #expect(planner[0].hasPrefix("hush.intents has 6 partitions and must have 12:"))
        #expect(planner[0].contains("topics.partitions"))
        #expect(problems("hush.pushes") { $0.partitionCount = 6 }[0].contains("topics.pushes.partitions"))
    }

    @Test(
        "a configuration that breaks a promise is told with the command that mends it",
        arguments: [
            ("hush.reads", "message.timestamp.type", "CreateTime", "message.timestamp.type=LogAppendTime"),
            ("hush.intents", "retention.ms", "604800000", "retention.ms=2592000000"),
            ("hush.planner.marks", "retention.ms", "86400000", "retention.ms=691200000"),
            ("hush.ledger", "cleanup.policy", "compact", "cleanup.policy=delete"),
            ("hush.planner.rows", "cleanup.policy", "delete", "cleanup.policy=compact"),
            ("hush.planner.marks", "cleanup.policy", "compact", "cleanup.policy=[compact,delete]"),
            ("hush.deliverer.rows", "delete.retention.ms", "86400000", "delete.retention.ms=604800000"),
            ("hush.pushes", "retention.bytes", "1000000", "retention.bytes=-1"),
            ("hush.dead", "max.message.bytes", "1048588", "max.message.bytes=1114124"),
            ("hush.intents", "max.message.bytes", "2000000", "max.message.bytes=2065536"),
        ])
    func tellsConfiguration(topic: String, key: String, value: String, mend: String) {
        let found = problems(topic) { $0.configuration[key] = value }
        #expect(found.count == 1)
        #expect(found.first?.contains("--add-config \(mend)") == true)
    }

    @Test("more than is needed is fine, and so is another order of a policy's parts")
    func acceptsMore() {
        #expect(problems("hush.intents") { $0.configuration["retention.ms"] = "-1" } == [])
        #expect(problems("hush.pushes") { $0.configuration["retention.ms"] = "99999999999" } == [])
        #expect(problems("hush.planner.marks") { $0.configuration["cleanup.policy"] = "delete, compact" } == [])
        #expect(problems("hush.dead") { $0.configuration["max.message.bytes"] = "9999999" } == [])
    }

    @Test("19: a local state counts on no deletion for longer than its changelog keeps it")
    func deletionsOutliveStates() {
        let streams = [
            PlannerConfiguration.stream(slotName: "s", partitionCount: 12, pushesPartitionCount: 12),
            DelivererConfiguration.stream(slotName: "s", partitionCount: 12, plannerPartitionCount: 12),
        ]
        var tables = 0
        for table in streams.flatMap(\.tables) {
            let kept = plan.definitions.first { $0.name == table.changelog }?.configuration["delete.retention.ms"]
            #expect(kept == "\(table.deleteRetention.wholeMillis)")
            tables += 1
        }
        #expect(tables == 3)
    }

    @Test("15: a copy of an audience stays for as long as the intent that it was made of")
    func fanoutIsKept() {
        func kept(_ topic: Topic) -> String? { plan.definition(of: topic).configuration["retention.ms"] }
        #expect(kept(.fanout) == kept(.intents) && kept(.fanout) == "2592000000")
    }

    @Test("25: planners are static members, for a restart moves nothing; deliverers are none, and move at once")
    func staticMembers() {
        let planner = PlannerConfiguration.stream(slotName: "s", partitionCount: 12, pushesPartitionCount: 12)
        let deliverer = DelivererConfiguration.stream(slotName: "s", partitionCount: 12, plannerPartitionCount: 12)
        #expect(planner.isStaticMember && !deliverer.isStaticMember)
    }
}
