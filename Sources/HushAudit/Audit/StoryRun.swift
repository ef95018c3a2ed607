public import HushCore
import HushStream
import HushWorkers

extension AuditRun {
    /// The story of one notification of one recipient, from the inputs and the ledger of the scope.
    public func story(recipient: Bytes, id: Bytes) throws -> Story {
        let story = Story(recipient: recipient, id: id, pseudonymKey: scope.pseudonymKey)
        let topics = InputTopic.allCases
        var ranges: [RecordRange] = []
        var topicOf: [InputTopic?] = []
        func add(_ name: String, _ topic: InputTopic?, to end: Timestamp?) throws {
            let bounds = try reader.bounds(of: name)
            let starts = try scope.from.map {
                try reader.offsets(of: name, partitions: bounds.count, atMillis: $0.millis)
            }
            let ends = try end.map { try reader.offsets(of: name, partitions: bounds.count, atMillis: $0.millis) }
            for (partition, bound) in bounds.enumerated() {
                let start = starts.map { $0[partition] ?? bound.end } ?? bound.first
                ranges.append(
                    RecordRange(
                        topic: name, partition: Int32(partition), start: start, end: ends?[partition] ?? bound.end))
                topicOf.append(topic)
            }
        }
        for topic in topics { try add(scope.names.name(topic.topic), topic, to: scope.to) }
        try add(scope.ledgerName, nil, to: nil)
        let total = ranges.reduce(0) { $0 + max(0, $1.end - $1.start) }
        var done: Int64 = 0
        _ = try reader.read(ranges, isStopped: watch.isStopped) { record in
            if let topic = topicOf[record.input] {
                story.takeInput(topic, record)
            } else {
                story.takeLine(record)
            }
            done += 1
            if done & 0xFFFF == 0 { watch.progress("inputs and ledger", done, total) }
            return true
        }
        watch.progress("inputs and ledger", total, total)
        return story
    }
}
