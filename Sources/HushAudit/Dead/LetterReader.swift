import HushBase
public import HushStream
import HushWorkers

/// A reading that was told to stop before it had all.
public struct ReadingStopped: Error, Hashable, Sendable {
    public init() {}
}

/// Reads `hush.dead`, committed letters only, as it is when it is asked.
public enum LetterReader {
    /// How long the brokers may give nothing.
    public static let patience = Duration.seconds(120)

    /// Shows every letter, in each partition's order.
    ///
    /// Letters that come meanwhile are not shown, so that one which a redrive makes is not taken by the same redrive.
    /// - Throws: `ReadingStopped` once `isStopped` says so.
    public static func readAll(
        _ kafka: KafkaConfiguration, names: TopicNames, patience: Duration = patience, log: StreamLog = .silent,
        isStopped: () -> Bool = { false }, _ body: (Letter) throws -> Void
    ) throws {
        let topic = names.name(.dead)
        let ends = try TopicAdmin(kafka, log: log).offsets(of: topic).map(\.end)
        try readAll(kafka, topic: topic, patience: patience, log: log, isStopped: isStopped) { record in
            guard record.offset < ends[Int(record.partition)] else { return }
            try body(Letter(record))
        }
    }

    /// Shows every record of a topic up to its end; `patience` is how long nothing may come.
    /// - Throws: `StreamFault.refused` where nothing came for so long, and what `body` throws.
    static func readAll(
        _ kafka: KafkaConfiguration, topic: String, patience: Duration, log: StreamLog, isStopped: () -> Bool,
        _ body: (ReadRecord) throws -> Void
    ) throws {
        let reader = try RecordReader(kafka, topics: [topic], name: "hush-dead", log: log)
        let isWhole = try drain(
            patience: patience, isStopped: isStopped, { try reader.next(within: .milliseconds(200)) },
            { reader.isCaughtUp }, body)
        if !isWhole { throw StreamFault.refused("\(topic) could not be read to its end: nothing came for \(patience)") }
    }

    /// Shows all records that come; false where none came for `patience` before the end. What `body` takes for each,
    /// as to keep a rate, does not count.
    static func drain<Item>(
        patience: Duration, now: () -> MonotonicTime = MonotonicTime.now, isStopped: () -> Bool = { false },
        _ next: () throws -> Item?, _ isCaughtUp: () -> Bool, _ body: (Item) throws -> Void
    ) throws -> Bool {
        var deadline = now() + patience
        while true {
            if isStopped() { throw ReadingStopped() }
            if let item = try next() {
                try body(item)
                deadline = now() + patience
            } else if isCaughtUp() {
                return true
            } else if now() >= deadline {
                return false
            }
        }
    }
}
