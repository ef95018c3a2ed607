import HushAudit
import HushCore
import HushStream
import HushWorkers

extension VirtualPath {
    /// What `hush audit` says of the path's topics.
    func audit(key: PseudonymKey? = nil) throws -> AuditReport {
        let spans = InputTopic.allCases.flatMap { topic in
            records(of: topic.topic).enumerated().map { partition, records in
                AuditBooks.Span(topic, Int32(partition), start: 0, end: Int64(records.count))
            }
        }
        var surroundings = AuditBooks.Surroundings(ledgerPartitions: Self.partitionCount)
        surroundings.pushesFirst = records(of: .pushes).map { _ in 0 }
        surroundings.pseudonymKey = key
        var random = SplitMix64(seed: 1)
        let books = try AuditBooks(spans: spans, surroundings, random: &random)
        for topic in InputTopic.allCases { show(topic.topic) { books.takeInput(topic, $0) } }
        show(.ledger) { books.takeLine($0) }
        show(.pushes) { books.takePush($0) }
        return books.close(pushesRead: records(of: .pushes).map { Int64($0.count) })
    }

    /// What `hush audit --recipient --id` tells.
    func story(_ recipient: Bytes, _ id: Bytes, key: PseudonymKey?) -> Story {
        let story = Story(recipient: recipient, id: id, pseudonymKey: key)
        for topic in InputTopic.allCases { show(topic.topic) { story.takeInput(topic, $0) } }
        show(.ledger) { story.takeLine($0) }
        return story
    }

    private func show(_ topic: Topic, _ body: (InputRecord) -> Void) {
        for (partition, records) in records(of: topic).enumerated() {
            for (offset, record) in records.enumerated() {
                (record.key ?? []).withUnsafeBytes { key in
                    (record.value ?? []).withUnsafeBytes { value in
                        body(
                            InputRecord(
                                input: 0, partition: Int32(partition), offset: Int64(offset),
                                appendTimeMillis: record.millis, key: record.key == nil ? nil : key,
                                value: record.value == nil ? nil : value, headers: InputHeaders(record.headers)))
                    }
                }
            }
        }
    }
}
