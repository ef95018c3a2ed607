import CRdKafka

/// How far behind a group is in a topic, by its committed offsets. Whoever asks is no member of the group.
final class GroupLag {
    private let topic: String
    private let partitionCount: Int32
    private let consumer: Consumer

    init(
        topic: String, partitionCount: Int32, group: String, kafka: KafkaConfiguration, name: String, log: StreamLog
    ) throws(StreamFault) {
        consumer = try Consumer(kafka, name: name, events: ClientEvents(name: name, log: log)) {
            (settings) throws(StreamFault) in
            try settings.set("group.id", group)
            // An open transaction neither delays the answer, nor is what it wrote left out of it.
            try settings.set("isolation.level", "read_uncommitted")
        }
        self.topic = topic
        self.partitionCount = partitionCount
    }

    /// Records between the group's offsets and the high watermarks; nil where the group has no offset of some partition.
    func read(timeoutMillis: Int32) throws(StreamFault) -> Int64? {
        consumer.serve()
        let taken = TopicPartitionList(capacity: Int(partitionCount))
        let ends = TopicPartitionList(capacity: Int(partitionCount))
        for partition in 0..<partitionCount {
            taken.add(topic, partition)
            ends.add(topic, partition)
        }
        // What comes between the two questions counts as waiting.
        try consumer.committed(taken, timeoutMillis: timeoutMillis)
        try consumer.ends(ends, timeoutMillis: timeoutMillis)
        var sum: Int64 = 0
        for index in 0..<taken.count {
            if taken[index].offset < 0 { return nil }
            sum += max(0, ends[index].offset - taken[index].offset)
        }
        return sum
    }
}
