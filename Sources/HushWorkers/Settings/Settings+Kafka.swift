public import HushBase
public import HushCore
public import HushStream

extension KafkaConfiguration {
    /// How Kafka is reached, as it is set.
    /// - Throws: `StreamFault.refused` where a property is unknown, bad, or would break a guarantee.
    public init(_ settings: Settings) throws(StreamFault) {
        try self.init(
            bootstrapServers: settings[HushSettings.bootstrap],
            properties: settings.passedThrough(HushSettings.kafkaPrefix))
    }
}

extension StreamLog {
    /// Writes to the process' log.
    public init(_ log: Log) {
        self.init { level, message in
            let level: LogLevel =
                switch level {
                case .debug: .debug
                case .info: .info
                case .warning: .warn
                case .error: .error
                }
            log.write(level, "stream", ["detail": .init(stringLiteral: message)])
        }
    }
}

extension TopicPlan {
    /// The topics as they are set.
    /// - Throws: `SettingsFault` where settings contradict each other.
    public init(_ settings: Settings) throws(SettingsFault) {
        self.init(policy: try Policy(settings))
        plannerPartitions = Int32(settings[HushSettings.partitions])
        delivererPartitions = Int32(settings[HushSettings.pushesPartitions])
        let replicas = settings[HushSettings.replication]
        replicationFactor = replicas > 0 ? Int32(replicas) : nil
        auditWindow = settings[HushSettings.auditWindow]
        signalsRetention = settings[HushSettings.signalsRetention]
        pushesRetention = settings[HushSettings.pushesRetention]
        deadRetention = settings[HushSettings.deadRetention]
    }
}

extension TopicSetup {
    /// Makes the topics as they are set.
    /// - Throws: `SettingsFault` or `StreamFault`.
    public static func create(_ settings: Settings, timeout: Duration, log: Log) throws -> Outcome {
        try create(
            try TopicPlan(settings), kafka: try KafkaConfiguration(settings), timeout: timeout, log: StreamLog(log))
    }

    /// What is wrong with the topics, as they are set.
    /// - Throws: `SettingsFault` or `StreamFault`.
    public static func check(_ settings: Settings, timeout: Duration, log: Log) throws -> [String] {
        try check(
            try TopicPlan(settings), kafka: try KafkaConfiguration(settings), timeout: timeout, log: StreamLog(log))
    }
}

extension Publisher {
    /// Connects as it is set.
    public convenience init(
        _ input: InputTopic, settings: Settings, timeout: Duration, log: Log, now: @escaping () -> Timestamp,
        newEventID: @escaping () -> String, problem: @escaping Problem, delivered: @escaping Delivered
    ) throws(StreamFault) {
        try self.init(
            input, kafka: try KafkaConfiguration(settings), timeout: timeout, log: StreamLog(log), now: now,
            newEventID: newEventID, problem: problem, delivered: delivered)
    }
}
