public import HushBase
import HushCore
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
