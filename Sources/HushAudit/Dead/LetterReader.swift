import HushBase
public import HushStream
import HushWorkers

/// Reads `hush.dead`, committed letters only, as it is when it is asked.
public enum LetterReader {
    /// Shows every letter, in each partition's order.
    ///
    /// Letters that come meanwhile are not shown, so that one which a redrive makes is not taken by the same redrive.
    public static func readAll(
        _ kafka: KafkaConfiguration, names: TopicNames, within limit: Duration = .seconds(3600),
        log: StreamLog = .silent, _ body: (Letter) throws -> Void
    ) throws {
        let topic = names.name(.dead)
        let ends = try TopicAdmin(kafka, log: log).offsets(of: topic).map(\.end)
        try readAll(kafka, topic: topic, within: limit, log: log) { record in
            guard record.offset < ends[Int(record.partition)] else { return }
            try body(Letter(record))
        }
    }

    /// Shows every record of a topic up to its end.
    /// - Throws: `StreamFault.retriable` where the end was not reached in time, and what `body` throws.
    static func readAll(
        _ kafka: KafkaConfiguration, topic: String, within limit: Duration, log: StreamLog,
        _ body: (ReadRecord) throws -> Void
    ) throws {
        let reader = try RecordReader(kafka, topics: [topic], name: "hush-dead", log: log)
        let deadline = MonotonicTime.now() + limit
        while true {
            if let record = try reader.next(within: .seconds(1)) {
                try body(record)
            } else if reader.isCaughtUp {
                return
            } else if MonotonicTime.now() >= deadline {
                throw StreamFault.refused("\(topic) could not be read to its end in time")
            }
        }
    }
}
