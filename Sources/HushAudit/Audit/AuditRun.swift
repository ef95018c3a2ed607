import HushCore
public import HushStream
import HushWorkers

/// Reads what an audit needs from Kafka, and closes the books.
///
/// Inputs first, then the ledger, then `hush.pushes`: what a later topic holds was caused by an earlier one, so a
/// running pipeline can be audited. Committed records only, without a group, without any right to write.
public final class AuditRun {
    private let kafka: KafkaConfiguration
    let scope: AuditScope
    let watch: AuditWatch
    private let log: StreamLog
    let reader: RangeReader
    private var notes: [String] = []
    private var doubts: [(DoubtCode, String)] = []

    /// Where rows for SQLite go.
    public var rows: AuditDatabase?

    public init(
        _ kafka: KafkaConfiguration, _ scope: AuditScope, watch: AuditWatch = AuditWatch(), log: StreamLog = .silent
    ) throws(StreamFault) {
        self.kafka = kafka
        self.scope = scope
        self.watch = watch
        self.log = log
        reader = try RangeReader(kafka, name: "hush-audit", patience: scope.patience, log: log)
    }

    /// One partition of a topic, as it is.
    struct Part {
        var first: Int64
        var end: Int64
        /// The append time of the first record; nil where nothing is deleted, or nothing is there.
        var firstTime: Timestamp?

        /// Where records of a range that begins at a time may be deleted: how the partition begins instead.
        func beginsLate(_ from: Timestamp) -> String? {
            if let firstTime { return firstTime > from ? "begins at \(firstTime.rfc3339)" : nil }
            // Nothing is left to tell how new the deleted ones were.
            return first > 0 ? "is empty: all up to offset \(first) is deleted" : nil
        }
    }

    /// - Throws: `StreamFault`, `AuditFault` or `RangeFault` where it could not begin; what happens later is in the
    /// report.
    public func run() throws -> AuditReport {
        var inputs: [[Part]] = []
        for topic in Topic.plannerInputs { inputs.append(try parts(of: scope.names.name(topic))) }
        let ledger = try parts(of: scope.ledgerName)
        let pushes = try parts(of: scope.names.name(.pushes))
        let from = try begin(inputs, ledger)
        let spans = try spans(inputs, from)
        guard spans.contains(where: { $0.end > $0.start }) else { throw AuditFault.empty("no input lies in the range") }
        var surroundings = AuditBooks.Surroundings(ledgerPartitions: Int32(ledger.count))
        surroundings.ledgerTopic = scope.ledgerTopic
        surroundings.pseudonymKey = scope.pseudonymKey
        let margin = from.map { $0 - AuditScope.margin }
        let ledgerStarts = try starts(scope.ledgerName, ledger, margin)
        surroundings.beginsLate = Set(ledgerStarts.indices.filter { ledgerStarts[$0] > 0 }.map(Int32.init))
        surroundings.pushesFirst = try starts(scope.names.name(.pushes), pushes, margin)
        surroundings.pushesFrom = pushesFrom(pushes, from)
        var random = SystemRandomNumberGenerator()
        let books = try AuditBooks(spans: spans, surroundings, random: &random)
        books.rows = rows
        return try read(books, spans, ledgerStarts)
    }

    private func read(_ books: AuditBooks, _ spans: [AuditBooks.Span], _ ledgerStarts: [Int64]) throws -> AuditReport {
        for (code, detail) in doubts { books.doubt(code, detail) }
        do throws(RangeFault) {
            let ranges = spans.map {
                RecordRange(
                    topic: scope.names.name($0.topic.topic), partition: $0.partition, start: $0.start, end: $0.end)
            }
            try read(books, "inputs", ranges) { books.takeInput(spans[$0.input].topic, $0) }
        } catch {
            return try abandon(books, error)
        }
        guard books.counts.inputs > 0 else { throw AuditFault.empty("no input lies in the range") }
        let committed = committedOffsets(Topic.plannerInputs, WorkerGroup.planner)
        let pushes = scope.names.name(.pushes)
        books.expectDelivered(
            committedOffsets([.pushes], WorkerGroup.deliverer).map { $0[pushes] ?? [] }, prefix: scope.names.prefix)
        do throws(RangeFault) {
            try readLedger(books, ledgerStarts, committed)
            let pushesRead = try readPushes(books)
            books.checkEnd(committed, prefix: scope.names.prefix)
            return finished(books.close(pushesRead: pushesRead))
        } catch {
            return try abandon(books, error)
        }
    }

    /// Reads the ledger, and again what comes, while the end of something lacks that had begun before.
    private func readLedger(
        _ books: AuditBooks, _ starts: [Int64], _ committed: Result<[String: [Int64]], StreamFault>
    ) throws(RangeFault) {
        var starts = starts
        for attempt in 0..<Self.triesMax {
            if attempt > 0 { rest(.seconds(1)) }
            let ends = try bounds(scope.ledgerName)
            let ranges = starts.indices.map {
                RecordRange(topic: scope.ledgerName, partition: Int32($0), start: starts[$0], end: ends[$0].end)
            }
            starts = try read(books, "ledger", ranges) { books.takeLine($0) }
            books.endLedgerPass()
            if !books.lacksEnd(committed, prefix: scope.names.prefix) { break }
        }
    }

    /// Reads `hush.pushes`, and again what comes, while ops lack that may be on their way.
    private func readPushes(_ books: AuditBooks) throws(RangeFault) -> [Int64] {
        var starts = books.surroundings.pushesFirst
        for attempt in 0..<Self.triesMax {
            if attempt > 0 { rest(.seconds(1)) }
            let ends = try bounds(scope.names.name(.pushes))
            let ranges = starts.indices.map {
                RecordRange(
                    topic: scope.names.name(.pushes), partition: Int32($0), start: starts[$0], end: ends[$0].end)
            }
            starts = try read(books, "pushes", ranges) { books.takePush($0) }
            if books.unpushedInputs() == 0 { break }
        }
        return starts
    }

    /// How often ledger and `hush.pushes` are looked at, a second apart, until what lacks at their ends is there.
    private static let triesMax = 6

    @discardableResult
    private func read(
        _ books: AuditBooks, _ what: String, _ ranges: [RecordRange], _ take: (InputRecord) -> Void
    ) throws(RangeFault) -> [Int64] {
        let total = ranges.reduce(0) { $0 + max(0, $1.end - $1.start) }
        var done: Int64 = 0
        let reached = try reader.read(ranges, isStopped: watch.isStopped) { record in
            take(record)
            done += 1
            if done & 0xFFFF == 0 { watch.progress(what, done, total) }
            return true
        }
        watch.progress(what, total, total)
        for (range, reached) in zip(ranges, reached) where reached < range.end {
            books.doubt(.openTransaction, "\(range.topic)-\(range.partition) from offset \(reached) on")
        }
        return reached
    }

    private func bounds(_ topic: String) throws(RangeFault) -> [(first: Int64, end: Int64)] {
        do throws(StreamFault) {
            return try reader.bounds(of: topic)
        } catch {
            throw .stream(error)
        }
    }

    /// What was read so far can convict, but not acquit.
    private func abandon(_ books: AuditBooks, _ fault: RangeFault) throws -> AuditReport {
        switch fault {
        case .deleted: books.doubt(.deletedWhileReading, "\(fault)")
        case .silent: books.doubt(.brokersSilent, "\(fault)")
        case .stopped: books.doubt(.stopped, "\(fault)")
        case .stream(let fault):
            guard case .retriable = fault else { throw fault }
            books.doubt(.brokersSilent, "\(fault)")
        }
        return finished(books.abandon())
    }

    private func finished(_ report: AuditReport) -> AuditReport {
        var report = report
        report.scope = notes
        return report
    }

    // MARK: the range

    /// Partition by partition where a topic begins and ends, and when its first record came where older ones are gone.
    private func parts(of topic: String) throws -> [Part] {
        var parts = try reader.bounds(of: topic).map { Part(first: $0.first, end: $0.end) }
        let cut = parts.indices.filter { parts[$0].first > 0 && parts[$0].end > parts[$0].first }
        let ranges = cut.map {
            RecordRange(topic: topic, partition: Int32($0), start: parts[$0].first, end: parts[$0].end)
        }
        _ = try reader.read(ranges, isStopped: watch.isStopped) { record in
            parts[Int(record.partition)].firstTime = Timestamp(millis: record.appendTimeMillis)
            return false
        }
        return parts
    }

    /// The time from which on inputs are audited; nil for all. What is asked for and gone is a doubt.
    private func begin(_ inputs: [[Part]], _ ledger: [Part]) throws -> Timestamp? {
        var latest: Timestamp?
        func look(_ name: String, _ parts: [Part], _ code: DoubtCode) {
            for (partition, part) in parts.enumerated() {
                if let from = scope.from {
                    if let how = part.beginsLate(from) { doubts.append((code, "\(name)-\(partition) \(how)")) }
                } else if let time = part.firstTime {
                    latest = max(latest ?? .distantPast, time)
                }
            }
        }
        // Signals are kept for days only; a hello whose signal is gone is outside of the range.
        for (topic, parts) in zip(Topic.plannerInputs, inputs) where topic != .signals {
            look(topic.name, parts, .inputsDeleted)
        }
        look(scope.ledgerTopic, ledger, .ledgerDeleted)
        let from = scope.from ?? latest
        let asked = scope.from == nil && from != nil ? " (older records are deleted)" : ""
        notes.append(
            "inputs appended from \(from?.rfc3339 ?? "the beginning")\(asked) to \(scope.to?.rfc3339 ?? "now")")
        if let time = inputs[Int(InputTopic.signals.rawValue)].compactMap(\.firstTime).max(),
            from.map({ time > $0 }) ?? true
        {
            notes.append("hellos from \(time.rfc3339): older signals are deleted")
        }
        return from
    }

    private func spans(_ inputs: [[Part]], _ from: Timestamp?) throws -> [AuditBooks.Span] {
        var spans: [AuditBooks.Span] = []
        for (topic, parts) in zip(InputTopic.allCases, inputs) {
            if let only = scope.offsets {
                guard only.topic == topic else { continue }
                guard Int(only.partition) < parts.count else {
                    throw AuditFault.empty("\(topic.topic.name) has \(parts.count) partitions")
                }
                let part = parts[Int(only.partition)]
                if only.first < part.first {
                    doubts.append(
                        (.inputsDeleted, "\(topic.topic.name)-\(only.partition) begins at offset \(part.first)"))
                }
                let (start, end) = (max(part.first, only.first), min(part.end, only.last + 1))
                spans.append(AuditBooks.Span(topic, only.partition, start: start, end: max(start, end)))
                continue
            }
            let starts = try starts(scope.names.name(topic.topic), parts, from)
            let ends = try scope.to.map {
                try reader.offsets(of: scope.names.name(topic.topic), partitions: parts.count, atMillis: $0.millis)
            }
            for (partition, part) in parts.enumerated() {
                let end = ends.flatMap { $0[partition] } ?? part.end
                spans.append(
                    AuditBooks.Span(
                        topic, Int32(partition), start: starts[partition],
                        end: max(starts[partition], min(end, part.end))))
            }
        }
        return spans
    }

    /// Partition by partition the first offset that is not older than a time.
    private func starts(_ topic: String, _ parts: [Part], _ from: Timestamp?) throws -> [Int64] {
        guard let from else { return parts.map(\.first) }
        let found = try reader.offsets(of: topic, partitions: parts.count, atMillis: from.millis)
        return zip(parts, found).map { part, found in max(part.first, min(found ?? part.end, part.end)) }
    }

    /// From when on lines must find their pushes.
    private func pushesFrom(_ pushes: [Part], _ from: Timestamp?) -> Timestamp {
        if pushes.contains(where: { $0.first > 0 && $0.first == $0.end }) {
            notes.append("\(Topic.pushes.name) is not compared: a partition of it is deleted whole")
            return .distantFuture
        }
        guard let latest = pushes.compactMap(\.firstTime).max(), from.map({ latest > $0 }) ?? true else {
            return .distantPast
        }
        notes.append("\(Topic.pushes.name) compared for lines from \(latest.rfc3339): older pushes are deleted")
        return latest + AuditScope.pushesMargin
    }

    /// By topic and partition how far a group has committed.
    private func committedOffsets(_ topics: [Topic], _ group: String) -> Result<[String: [Int64]], StreamFault> {
        Result { () throws(StreamFault) in
            try GroupOffsets.committed(
                of: topics.map(scope.names.name), group: scope.names.prefix + group, kafka: kafka, log: log)
        }
    }
}
