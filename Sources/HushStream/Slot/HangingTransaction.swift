/// What to do about a transaction that its coordinator has forgotten and some partition has not.
///
/// librdkafka 2.0.2 cannot ask for the producers of a partition, so the producer id is for Kafka's tool to find.
enum HangingTransaction {
    /// The brokers' default of `transaction.abort.timed.out.transaction.cleanup.interval.ms`: a transaction of hush's own ends
    /// within its timeout and this.
    static let sweepMax = Duration.seconds(10)

    static func remedy(topic: String, partition: Int32? = nil) -> String {
        let place =
            partition.map { "--topic \(topic) --partition \($0)" } ?? "--broker-id N, of each broker, for \(topic),"
        return "kafka-transactions.sh find-hanging \(place) names it and its producer id; its verb abort ends it"
    }
}
