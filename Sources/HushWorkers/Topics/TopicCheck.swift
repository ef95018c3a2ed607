import HushCore
public import HushStream

extension TopicPlan {
    /// What is wrong with the topics of a cluster, each as a sentence that says what to do; empty where all is well.
    ///
    /// More retention than is needed is fine, and so is what brokers add of their own.
    public func problems(in found: [String: TopicDescription]) -> [String] {
        var problems: [String] = []
        for topic in Topic.allCases {
            if let description = found[topic.name] {
                problems += self.problems(of: topic, description)
            } else {
                problems.append("\(topic.name) is missing: run hush topics create")
            }
        }
        return problems + deadLetterProblems(found)
    }

    private func problems(of topic: Topic, _ found: TopicDescription) -> [String] {
        var problems: [String] = []
        let count = partitionCount(of: topic)
        if found.partitionCount != count {
            problems.append(
                """
                \(topic.name) has \(found.partitionCount) partitions and must have \(count): the count is part of the \
                state's identity and never changes; set topics.\(topic.side == .planner ? "" : "pushes.")partitions to \
                the count that the topics were made with, or make new topics
                """)
        }
        func value(_ key: String) -> String? { found.configuration[key] }
        if let type = value(TopicKey.timestampType), type != TopicKey.logAppendTime {
            problems.append(wrong(topic, TopicKey.timestampType, type, "must be LogAppendTime", TopicKey.logAppendTime))
        }
        let cleanup = cleanup(of: topic)
        if let policy = value(TopicKey.cleanupPolicy) {
            let parts = policy.split(separator: ",").map { $0.filter { $0 != " " } }.sorted().joined(separator: ",")
            if parts != cleanup.policy {
                let set = cleanup.policy.contains(",") ? "[\(cleanup.policy)]" : cleanup.policy
                problems.append(wrong(topic, TopicKey.cleanupPolicy, policy, "must be \(cleanup.policy)", set))
            }
        }
        if let retention = cleanup.retention {
            problems += tooShort(topic, TopicKey.retention, value(TopicKey.retention), retention.wholeMillis)
            if let bytes = value(TopicKey.retentionBytes).flatMap(Int64.init), bytes >= 0 {
                problems.append(
                    wrong(
                        topic, TopicKey.retentionBytes, "\(bytes)", "must be -1, or records go before their time", "-1")
                )
            }
        }
        if cleanup.policy.contains("compact") {
            problems += tooShort(
                topic, TopicKey.deleteRetention, value(TopicKey.deleteRetention), deleteRetention.wholeMillis)
        }
        return problems
    }

    private func tooShort(_ topic: Topic, _ key: String, _ value: String?, _ needed: Int64) -> [String] {
        guard let value, let millis = Int64(value), millis >= 0, millis < needed else { return [] }
        return [wrong(topic, key, value, "must be at least \(needed)", "\(needed)")]
    }

    /// Whatever an input takes, `hush.dead` must take too, with the headers of its death.
    private func deadLetterProblems(_ found: [String: TopicDescription]) -> [String] {
        func bytesMax(_ topic: Topic) -> Int? {
            found[topic.name]?.configuration[TopicKey.messageBytesMax].flatMap(Int.init)
        }
        let inputs = Topic.plannerInputs + [.pushes]
        guard let room = bytesMax(.dead), let largest = inputs.compactMap(bytesMax).max() else { return [] }
        let needed = largest + DeadLetter.bytesMax
        guard room < needed else { return [] }
        return [
            wrong(
                .dead, TopicKey.messageBytesMax, "\(room)",
                "must be at least \(needed), the inputs' and \(DeadLetter.bytesMax)",
                "\(needed)")
        ]
    }

    private func wrong(_ topic: Topic, _ key: String, _ value: String, _ rule: String, _ set: String) -> String {
        """
        \(topic.name) has \(key)=\(value) and \(rule): kafka-configs --alter --topic \(topic.name) \
        --add-config \(key)=\(set)
        """
    }
}

/// Makes and verifies the topics of an installation.
public enum TopicSetup {
    /// What `create` did.
    public struct Outcome: Hashable, Sendable {
        /// The topics that were not there before.
        public var created: [String]
        /// How many partitions got a first offset, by group.
        public var committed: [String: Int]
        /// What is wrong with topics that were there already.
        public var problems: [String]
    }

    /// Makes what is missing, and commits the groups' first offsets where they have none, so that workers start with
    /// offsets and stop, rather than skip or repeat, where they lose them. What is there already is checked, never
    /// changed.
    ///
    /// Run it while no worker runs. A topic that was just made may need a moment until every broker knows it; `timeout`
    /// bounds each step.
    public static func create(
        _ plan: TopicPlan, kafka: KafkaConfiguration, timeout: Duration = .seconds(30), log: StreamLog = .silent
    ) throws(StreamFault) -> Outcome {
        let admin = try TopicAdmin(kafka, timeout: timeout, log: log)
        let created = try admin.create(plan.definitions)
        let described = try admin.describe(Topic.allCases.map(\.name), waitingUpTo: timeout)
        let problems = plan.problems(in: described)
        var committed: [String: Int] = [:]
        if problems.isEmpty {
            for (group, topics) in WorkerGroup.all {
                committed[group] = try GroupOffsets.commitStart(
                    of: topics.map(\.name), group: group, kafka: kafka, timeout: timeout, log: log)
            }
        }
        return Outcome(created: created, committed: committed, problems: problems)
    }

    /// What is wrong with the topics; empty where all is well.
    public static func check(
        _ plan: TopicPlan, kafka: KafkaConfiguration, timeout: Duration = .seconds(30), log: StreamLog = .silent
    ) throws(StreamFault) -> [String] {
        let admin = try TopicAdmin(kafka, timeout: timeout, log: log)
        return plan.problems(in: try admin.describe(Topic.allCases.map(\.name)))
    }
}
