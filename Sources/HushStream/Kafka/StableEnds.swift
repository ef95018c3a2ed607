import CRdKafka

/// Asks where partitions end for readers of committed records: at their last stable offsets, before what is in an open
/// transaction. Whoever asks is no member of a group, and shares no connection with a slot.
final class StableEnds {
    private let consumer: Consumer

    init(group: String, kafka: KafkaConfiguration, name: String, log: StreamLog) throws(StreamFault) {
        consumer = try Consumer(kafka, name: name, events: ClientEvents(name: name, log: log)) {
            (settings) throws(StreamFault) in
            try settings.set("group.id", group)
        }
    }

    /// The ends in the order asked for; nil for a partition whose leader did not say.
    /// - Throws: `StreamFault` where one of the brokers gave no answer in time.
    func read(
        _ places: [(topic: String, partition: Int32)], timeoutMillis: Int32
    ) throws(StreamFault) -> [Int64?] {
        consumer.serve()
        let list = TopicPartitionList(capacity: places.count)
        for place in places { list.add(place.topic, place.partition) }
        try consumer.lookUpEnds(list, timeoutMillis: timeoutMillis)
        return (0..<list.count).map { index in
            let end = list[index]
            return end.code == RD_KAFKA_RESP_ERR_NO_ERROR && end.offset >= 0 ? end.offset : nil
        }
    }
}
