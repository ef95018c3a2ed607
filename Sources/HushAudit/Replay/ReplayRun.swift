import Foundation
public import HushBase
import HushCore
public import HushStream
import HushWorkers

/// Reads what a replay needs from Kafka, partition by partition, and replays it.
///
/// Pushes first, then each partition's ledger in chunks with the inputs that they took. Committed records only, without
/// a group; nothing is written but to topics under a prefix that was asked for.
public final class ReplayRun {
    private let kafka: KafkaConfiguration
    private let scope: ReplayScope
    private let watch: AuditWatch
    private let log: StreamLog
    private let reader: RangeReader
    private var sink: ReplaySink?
    private var pushes: PushTable
    /// How far `hush.pushes` was read.
    private var pushesRead: [Int64] = []
    private var report = ReplayReport()
    /// Parts that were replayed for the state alone, and parts of the range that the state had seen.
    private var partsBefore = 0
    private var partsSeen = 0
    /// When the first order line that is kept was appended.
    private var oldest: Timestamp?
    private var spans: [Int32: PushTable.Span] = [:]
    private var replayed: [Int32: (CauseWord) -> Bool] = [:]

    public init(
        _ kafka: KafkaConfiguration, _ scope: ReplayScope, watch: AuditWatch = AuditWatch(), log: StreamLog = .silent
    ) throws(StreamFault) {
        self.kafka = kafka
        self.scope = scope
        self.watch = watch
        self.log = log
        reader = try RangeReader(kafka, name: "hush-replay", patience: scope.patience, log: log)
        var random = SystemRandomNumberGenerator()
        pushes = PushTable(&random)
    }

    /// Connects as it is set.
    public convenience init(_ settings: Settings, _ scope: ReplayScope, watch: AuditWatch, log: Log) throws {
        var scope = scope
        scope.pseudonymKey = try PseudonymKey(settings)
        try self.init(try KafkaConfiguration(settings), scope, watch: watch, log: StreamLog(log))
    }

    /// - Throws: `StreamFault`, `ReplayFault` or `RangeFault`: a replay that is not whole tells nothing.
    public func run() throws -> ReplayReport {
        let ledger = try reader.bounds(of: scope.ledgerName)
        var inputs: [InputTopic: [(first: Int64, end: Int64)]] = [:]
        for topic in InputTopic.allCases { inputs[topic] = try reader.bounds(of: scope.names.name(topic.topic)) }
        for (topic, parts) in inputs where parts.count != ledger.count {
            throw ReplayFault.refused(
                "\(topic.topic.name) has \(parts.count) partitions, and the ledger \(ledger.count)")
        }
        try readPushes()
        var setup = ReplayDriver.Setup(
            policy: scope.policy, partitions: Int32(ledger.count), pushesPartitions: Int32(pushesRead.count))
        setup.build = Bytes(Build.version)
        setup.pseudonymKey = scope.pseudonymKey
        setup.unwritable = try unwritable()
        if let prefix = scope.toPrefix {
            sink = try ReplaySink(kafka, prefix: prefix, stream: setup.stream, log: log)
        }
        let home = try makeHome()
        defer { try? FileManager.default.removeItem(atPath: scope.workDirectory) }
        for partition in ledger.indices {
            let firsts = inputs.mapValues { $0[partition].first }
            try replay(Int32(partition), setup, home, ledger[partition], firsts)
        }
        guard report.parts > 0 else { throw ReplayFault.empty(nothing) }
        if let range = scope.rangeText {
            report.notes.append(
                "compared: what was decided \(range); \(partsBefore) parts before it were replayed for the state")
            if scope.from != nil, partsSeen > 0 {
                report.doubts.append("\(partsSeen) parts of the range are in the state: begin with an older one")
            }
        }
        try settlePushes(setup.partitions)
        if let sink { try sink.finish() }
        return report
    }

    /// Why there is nothing to compare.
    private var nothing: String {
        guard let range = scope.rangeText else {
            return "\(scope.ledgerName) has no order line of a planner to replay by, or none behind the state"
        }
        if partsSeen > 0 { return "all that was decided \(range) is in the state already: begin with an older one" }
        guard let oldest else { return "\(scope.ledgerName) has no order line of a planner" }
        return "nothing was decided \(range), as far as \(scope.ledgerName) tells, which begins at \(oldest.rfc3339)"
    }

    // MARK: pushes

    private func readPushes() throws {
        let bounds = try reader.bounds(of: scope.names.name(.pushes))
        pushesRead = bounds.map(\.first)
        var begins: Timestamp?
        var cut = Set(bounds.indices.filter { bounds[$0].first > 0 })
        try readPushes(to: bounds.map(\.end)) { record in
            if cut.remove(Int(record.partition)) != nil {
                begins = max(begins ?? .distantPast, Timestamp(millis: record.appendTimeMillis))
            }
            self.pushes.take(record)
        }
        if bounds.contains(where: { $0.first > 0 && $0.first == $0.end }) {
            pushes.from = .distantFuture
            report.notes.append("\(Topic.pushes.name) is not compared: a partition of it is deleted whole")
        } else if let begins {
            pushes.from = begins + ReplayScope.pushesMargin
            report.notes.append(
                "\(Topic.pushes.name) compared for decisions from \(begins.rfc3339): older pushes are deleted")
        }
    }

    private func readPushes(to ends: [Int64], _ body: (InputRecord) -> Void) throws {
        let ranges = pushesRead.indices.map {
            RecordRange(topic: scope.names.name(.pushes), partition: Int32($0), start: pushesRead[$0], end: ends[$0])
        }
        pushesRead = try read("pushes", ranges) { record in
            body(record)
            return true
        }
    }

    /// Reads what came meanwhile, and looks again at what no replay made.
    private func settlePushes(_ partitions: Int32) throws {
        for attempt in 0..<Self.pushesTriesMax where pushes.lackingCount > 0 || attempt == 0 {
            if attempt > 0 { rest(.seconds(1)) }
            let ends = try reader.bounds(of: scope.names.name(.pushes)).map(\.end)
            try readPushes(to: ends) { self.pushes.take($0) }
        }
        if pushes.hasLeftovers {
            let ends = pushesRead
            pushesRead = try reader.bounds(of: scope.names.name(.pushes)).map(\.first)
            try readPushes(to: ends) { record in
                let difference = self.pushes.leftover(
                    record, spans: self.spans, plannerPartitions: partitions,
                    isReplayed: { self.replayed[$0.partition]?($0) ?? false })
                if let difference { self.report.add(difference) }
            }
        }
        pushes.closeLacking(&report)
        report.settle()
    }

    /// How often `hush.pushes` is looked at, a second apart, until the pushes of the last parts are there.
    private static let pushesTriesMax = 6

    // MARK: one partition

    private func replay(
        _ partition: Int32, _ setup: ReplayDriver.Setup, _ home: StateHome, _ ledger: (first: Int64, end: Int64),
        _ firsts: [InputTopic: Int64]
    ) throws {
        let driver = try ReplayDriver(setup, partition: partition, home: home)
        driver.firsts = firsts
        driver.comparesFrom = scope.from ?? .distantPast
        if let sink { driver.onSent = { sink.send($0) } }
        var parts = PartReader(partition: partition, until: scope.to)
        var given = firsts
        var at = ledger.first
        var isEnded = false
        while at < ledger.end {
            var chunk: [RecordedPart] = []
            let reached = try readLedger(partition, from: at, to: ledger.end, &parts, &chunk)
            if let first = chunk.first?.appended { oldest = min(oldest ?? first, first) }
            let end = scope.to.flatMap { to in chunk.firstIndex { $0.appended >= to } }
            if let end { chunk.removeSubrange(end...) }
            chunk = chunk.filter { driver.wants($0, ledgerFrom: parts.firstNumber ?? 0) }
            try give(chunk, to: driver, &given)
            for part in chunk { try driver.replay(part, &pushes) }
            if let fault = sink?.fault { throw fault }
            isEnded = end != nil
            if isEnded { break }
            if reached == at {
                driver.doubt("\(scope.ledgerName)-\(partition) has an open transaction from offset \(at) on")
                break
            }
            at = reached
        }
        finish(driver, parts, isEnded: isEnded)
        try driver.close()
    }

    /// Reads the next chunk of a ledger partition; returns the offset behind it.
    private func readLedger(
        _ partition: Int32, from start: Int64, to end: Int64, _ parts: inout PartReader, _ chunk: inout [RecordedPart]
    ) throws -> Int64 {
        var bytes = 0
        let range = RecordRange(topic: scope.ledgerName, partition: partition, start: start, end: end)
        return try read("ledger \(partition)", [range]) { record in
            bytes += record.value?.count ?? 0
            let part = parts.take(
                record.value.map { [UInt8]($0) } ?? [], offset: record.offset,
                appended: Timestamp(millis: record.appendTimeMillis))
            if let part { chunk.append(part) }
            return bytes < ReplayScope.chunkBytes
        }[0]
    }

    /// Reads the inputs that these parts take.
    private func give(_ chunk: [RecordedPart], to driver: ReplayDriver, _ given: inout [InputTopic: Int64]) throws {
        var ranges: [RecordRange] = []
        var topics: [InputTopic] = []
        for topic in InputTopic.allCases {
            let start = max(given[topic] ?? 0, driver.ends[topic] ?? 0)
            guard let end = chunk.compactMap({ $0.ends[topic] }).max(), end > start else { continue }
            topics.append(topic)
            ranges.append(
                RecordRange(topic: scope.names.name(topic.topic), partition: driver.partition, start: start, end: end))
            given[topic] = end
        }
        _ = try read("inputs \(driver.partition)", ranges) { record in
            driver.give(topics[record.input], ReplayInput(record))
            return true
        }
    }

    /// `isEnded` where the range ended before the ledger does.
    private func finish(_ driver: ReplayDriver, _ parts: PartReader, isEnded: Bool) {
        partsBefore += driver.partsBefore
        partsSeen += driver.partsSeen
        if parts.openLines > 0, !isEnded {
            driver.doubt("\(parts.openLines) lines of plan-\(driver.partition) are covered by no order line")
        }
        if parts.unreadable > 0 {
            driver.doubt(
                "\(parts.unreadable) records of \(scope.ledgerName)-\(driver.partition) cannot be read, the first at "
                    + (parts.firstUnreadable ?? ""))
        }
        report.add(driver.finished())
        spans[driver.partition] = driver.span
        replayed[driver.partition] = driver.hasReplayed
    }

    // MARK: shell

    private func read(
        _ what: String, _ ranges: [RecordRange], _ take: (InputRecord) -> Bool
    ) throws(RangeFault) -> [Int64] {
        let total = ranges.reduce(0) { $0 + max(0, $1.end - $1.start) }
        var done: Int64 = 0
        let reached = try reader.read(ranges, isStopped: watch.isStopped) { record in
            done += 1
            if done & 0xFFFF == 0 { watch.progress(what, done, total) }
            return take(record)
        }
        watch.progress(what, total, total)
        return reached
    }

    /// Which inputs were set aside, for Kafka refused their effects.
    private func unwritable() throws -> [Position: String] {
        var found: [Position: String] = [:]
        try LetterReader.readAll(kafka, names: scope.names, patience: scope.patience, log: log) { letter in
            guard letter.code == DeadCode.unwritable.rawValue, let origin = letter.origin,
                let topic = InputTopic.allCases.first(where: { $0.topic == origin.topic })
            else { return }
            found[Position(topic: topic, partition: origin.partition, offset: origin.offset)] = letter.message
        }
        return found
    }

    /// A new directory for the replay's state, with a copy of the one to begin with.
    private func makeHome() throws -> StateHome {
        let files = FileManager.default
        guard !files.fileExists(atPath: scope.workDirectory) else {
            throw ReplayFault.directory("\(scope.workDirectory) is there already: name a new directory")
        }
        let home = try StateHome(directory: scope.workDirectory)
        guard let from = scope.stateDirectory else { return home }
        do {
            try StateSnapshot.take(from, to: scope.workDirectory)
        } catch {
            try? files.removeItem(atPath: scope.workDirectory)
            throw error
        }
        return home
    }
}
