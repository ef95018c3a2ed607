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

    /// Shows every record of a topic up to its end; `limit` is how long nothing may come.
    /// - Throws: `StreamFault.refused` where nothing came for so long, and what `body` throws.
    static func readAll(
        _ kafka: KafkaConfiguration, topic: String, within limit: Duration, log: StreamLog,
        _ body: (ReadRecord) throws -> Void
    ) throws {
        let reader = try RecordReader(kafka, topics: [topic], name: "hush-dead", log: log)
        let isWhole = try drain(within: limit, { try reader.next(within: .seconds(1)) }, { reader.isCaughtUp }, body)
        if !isWhole { throw StreamFault.refused("\(topic) could not be read to its end: nothing came for \(limit)") }
    }

    /// Shows all records that come; false where none came for `limit` before the end. What `body` takes for each, as to
    /// keep a rate, does not count.
    static func drain<Item>(
        within limit: Duration, now: () -> MonotonicTime = MonotonicTime.now, _ next: () throws -> Item?,
        _ isCaughtUp: () -> Bool, _ body: (Item) throws -> Void
    ) throws -> Bool {
        var deadline = now() + limit
        while true {
            if let item = try next() {
                try body(item)
                deadline = now() + limit
            } else if isCaughtUp() {
                return true
            } else if now() >= deadline {
                return false
            }
        }
    }
}
