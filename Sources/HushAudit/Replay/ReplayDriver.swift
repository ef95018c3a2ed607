import HushCore
import HushStream
import HushWorkers

/// Runs one partition's inputs through the production planner again, in the order that the ledger tells, and compares
/// what it decides.
///
/// Parts are committed where the ledger has order lines. What was aborted left no line, and no trace in the state.
final class ReplayDriver {
    /// What is replayed, by whom.
    struct Setup {
        let policy: Policy
        /// Named where it is not the one that decided.
        var build: Bytes = "replay"
        var partitions: Int32
        var pushesPartitions: Int32
        /// What pseudonyms in the ledger are made with.
        var pseudonymKey: PseudonymKey?
        /// Records that Kafka refused the effects of, with its words: they were set aside.
        var unwritable: [Position: String] = [:]

        init(policy: Policy, partitions: Int32, pushesPartitions: Int32) {
            self.policy = policy
            config = PlannerConfiguration(policy: policy, build: build).digest
            self.partitions = partitions
            self.pushesPartitions = pushesPartitions
        }

        var stream: StreamConfiguration {
            PlannerConfiguration.stream(
                slotName: "replay", partitionCount: partitions, pushesPartitionCount: pushesPartitions)
        }

        /// As the order lines name the settings.
        let config: Bytes
    }

    let partition: Int32
    private let setup: Setup
    private let stream: StreamConfiguration
    private let application: PlannerApplication
    private let task: PlannerTask
    private let memory: InMemoryTask
    private let reader = LineReader()
    /// The number of the first line that the state has not seen: 0 where there is none.
    private let firstLine: Int64
    private var hasBegun = false
    private var queues: [ReplayQueue]
    /// Topic by topic the offset behind what was replayed, and where that began.
    private(set) var ends: [InputTopic: Int64] = [:]
    private(set) var starts: [InputTopic: Int64] = [:]
    /// The first offset that each topic still has.
    var firsts: [InputTopic: Int64] = [:]
    private var now = Timestamp.distantPast
    /// Order lines' times: of the last one before the replay, and of the last replayed.
    private(set) var span = PushTable.Span(after: .distantPast, through: .distantPast)
    private(set) var report = ReplayReport()
    /// What was decided earlier is replayed for the state, and not compared.
    var comparesFrom = Timestamp.distantPast
    private var isCompared = true
    private var slices = 0
    /// Parts that were replayed for the state alone, and parts to be compared that the state had seen already.
    private(set) var partsBefore = 0
    private(set) var partsSeen = 0
    /// Hears every record that the replay sends.
    var onSent: (SentRecord) -> Void = { _ in }
    /// Planned records that are deleted; of this part, those that come first.
    private var deleted: [InputTopic: Int] = [:]
    private var skips: [InputTopic: Int] = [:]
    /// Recorded lines whose input is deleted.
    private var unreplayable = 0
    private var missedPushes = 0
    /// Lines of parts whose names stand under a key that was not given; that of the last, and whether it is this part's.
    private var incomparable = 0
    private var foreignKey: Bytes?
    private var isComparable = true
    private let taskKey: [UInt8]

    /// - Throws: `StreamFault` where the state cannot be opened, `TaskFailure` where it cannot be read.
    init(_ setup: Setup, partition: Int32, home: StateHome? = nil) throws {
        self.setup = setup
        self.partition = partition
        taskKey = Array("plan-\(partition)".utf8)
        stream = setup.stream
        memory =
            if let home {
                try InMemoryTask(stream, partition: partition, home: home)
            } else {
                InMemoryTask(stream, partition: partition)
            }
        let clock = Timestamp.distantPast
        application = PlannerApplication(
            PlannerConfiguration(policy: setup.policy, build: setup.build, now: { clock }))
        task = application.makeTask(partition: partition)
        try task.restored(memory.context)
        firstLine = task.nextLine
        let isNew = firstLine == 0
        queues = InputTopic.allCases.map { _ in ReplayQueue(isAnchored: isNew) }
        now = Timestamp(millis: memory.context.lastAppendMillis)
    }

    func close() throws(StreamFault) {
        task.closed()
        try memory.close()
    }

    /// Adds a record that the next parts take; in the order of offsets within its topic.
    func give(_ topic: InputTopic, _ input: ReplayInput) { queues[Int(topic.rawValue)].append(input) }

    /// Whether a part is to be replayed. One that the state has seen, or whose beginning is not known, is only noted.
    /// `number` is that of the first line of the task that the ledger has.
    func wants(_ part: RecordedPart, ledgerFrom number: Int64) -> Bool {
        if part.number < firstLine {
            if part.appended >= comparesFrom { partsSeen += 1 }
            pass(part)
            return false
        }
        defer { hasBegun = true }
        guard !hasBegun, number > firstLine else { return true }
        doubt(
            firstLine == 0
                ? "the ledger of plan-\(partition) begins with line \(number), and there is no state to begin with"
                : "the state ends before line \(firstLine) of plan-\(partition), and the ledger begins with \(number)")
        for index in queues.indices where ends[InputTopic.allCases[index]] == nil { queues[index].isAnchored = false }
        pass(part)
        return false
    }

    private func pass(_ part: RecordedPart) {
        for (topic, end) in part.ends {
            let index = Int(topic.rawValue)
            ends[topic] = end
            queues[index].isAnchored = true
            queues[index].drop(queues[index].count(below: end))
        }
        span.after = part.appended
    }

    /// Why not all could be replayed.
    func doubt(_ reason: String) { report.doubts.append(reason) }

    /// Replays a part; its inputs must have been given.
    func replay(_ part: RecordedPart, _ pushes: inout PushTable) throws {
        var part = part
        isCompared = part.appended >= comparesFrom
        if isCompared { report.parts += 1 } else { partsBefore += 1 }
        if part.config != setup.config || part.build != setup.build {
            report.note(
                "decided by build \(part.build), config \(part.config); replayed by build \(setup.build), "
                    + "config \(setup.config)")
        }
        write(under: part)
        if isCompared {
            report.linesRecorded += part.lines.values.reduce(0) { $0 + $1.count }
            report.linesRecorded += part.slices.reduce(0) { $0 + $1.count }
        }
        part.slices.reverse()
        align(part)
        for run in part.runs {
            for _ in 0..<run.count {
                if let topic = run.topic {
                    try take(topic, &part, &pushes)
                } else {
                    try takeSlice(&part, &pushes)
                }
            }
        }
        close(part)
        for sent in try memory.commit(task) { onSent(sent) }
        span.through = part.appended
        if !isCompared { span.after = part.appended }
    }

    /// Writes names as the part has them, where the key is known; else its lines cannot be compared.
    private func write(under part: RecordedPart) {
        isComparable = part.pseudonyms == nil || part.pseudonyms == setup.pseudonymKey?.mark
        if isComparable {
            task.write(under: part.pseudonyms == nil ? nil : setup.pseudonymKey)
        } else if isCompared {
            foreignKey = part.pseudonyms
        }
    }

    /// Sees to it that each queue begins with the part's first record, and tells where the numbers do not fit.
    private func align(_ part: RecordedPart) {
        for (topic, count) in part.counts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let index = Int(topic.rawValue)
            guard let end = part.ends[topic] else { continue }
            let there = queues[index].count(below: end)
            if !queues[index].isAnchored {
                queues[index].drop(max(0, there - count))
                queues[index].isAnchored = true
            } else if there > count {
                differ(part, topic, count, there)
            }
            guard there < count else { continue }
            if (ends[topic] ?? 0) < firsts[topic] ?? 0 {
                deleted[topic, default: 0] += count - there
                skips[topic] = count - there
                span.causelessAfter = part.appended
            } else {
                differ(part, topic, count, there)
            }
        }
    }

    private func add(_ difference: ReplayDifference) {
        if isCompared { report.add(difference) }
    }

    private func add(_ change: DecisionChange) {
        if isCompared { report.add(change) }
    }

    private func differ(_ part: RecordedPart, _ topic: InputTopic, _ count: Int, _ there: Int) {
        add(
            ReplayDifference(
                .order, partition, at: part.appended, "\(Topic.ledger.name)-\(partition)@\(part.offset)",
                recorded: ["\(count) records of \(topic.topic.name)-\(partition) below \(part.ends[topic] ?? 0)"],
                replayed: ["\(there) are there"]))
    }

    private func take(_ topic: InputTopic, _ part: inout RecordedPart, _ pushes: inout PushTable) throws {
        if let skipped = skips[topic], skipped > 0 {
            skips[topic] = skipped - 1
            return
        }
        guard let end = part.ends[topic], let input = queues[Int(topic.rawValue)].next(below: end) else { return }
        if starts[topic] == nil { starts[topic] = input.offset }
        ends[topic] = input.offset + 1
        if isCompared { report.inputs += 1 }
        now = max(now, input.appended)
        let position = Position(topic: topic, partition: partition, offset: input.offset)
        try memory.process(
            task, input: Int(topic.rawValue), offset: input.offset, appendMillis: input.appended.millis,
            key: input.key, value: input.value, headers: input.headers, refusedFor: setup.unwritable[position])
        let recorded = part.lines.removeValue(forKey: CauseWord(topic, partition, input.offset)) ?? []
        compare("\(topic.topic.name)-\(partition)@\(input.offset)", recorded, memory.takeSent(), &pushes)
    }

    private func takeSlice(_ part: inout RecordedPart, _ pushes: inout PushTable) throws {
        slices += 1
        if isCompared { report.slices += 1 }
        let recorded = part.slices.popLast() ?? []
        var sent: [SentRecord] = []
        // A job that is over goes without a line, and the next wake-up is the next job's.
        repeat {
            application.turn([:])
            guard try memory.wake(task, nowMillis: .max) else { break }
            sent = memory.takeSent()
        } while sent.isEmpty
        let place = "slice \(slices) of \(Topic.fanout.name)-\(partition)"
        if sent.isEmpty, recorded.isEmpty {
            add(
                ReplayDifference(
                    .order, partition, at: now, place, recorded: ["a slice at offset \(part.offset) of the ledger"],
                    replayed: ["no audience to walk"]))
        }
        compare(place, recorded, sent, &pushes)
    }

    /// Compares what came of one record or slice, and passes it on.
    private func compare(
        _ place: String, _ recorded: [RecordedLine], _ sent: [SentRecord], _ pushes: inout PushTable
    ) {
        var lines: [[UInt8]] = []
        for record in sent {
            onSent(record)
            switch stream.outputs[record.output].topic {
            case Topic.ledger.name:
                if let line = record.value, !isOrder(record) { lines.append(line) }
            case Topic.pushes.name:
                if isCompared { report.pushesReplayed += 1 }
                let isKept = missedPushes < ReplayReport.keptMax
                let isFound = pushes.replayed(
                    record, at: now, planner: partition, isCompared: isCompared
                ) {
                    guard isKept else { return nil }
                    return ReplayDifference(
                        .push, partition, at: now, place, replayed: [PushTable.text(record.key, record.value)])
                }
                guard isCompared else { continue }
                if isFound { report.pushesFound += 1 } else { missedPushes += 1 }
            default: continue
            }
        }
        guard isCompared else { return }
        report.linesReplayed += lines.count
        if !isComparable {
            incomparable += recorded.count
            return
        }
        let isSame =
            recorded.count == lines.count
            && zip(recorded, lines).allSatisfy { $0.told.elementsEqual(RecordedLine.told($1)) }
        if isSame { return }
        add(
            ReplayDifference(
                .decision, partition, at: now, place,
                recorded: recorded.map { String(decoding: $0.bytes, as: UTF8.self) },
                replayed: lines.map { String(decoding: $0, as: UTF8.self) }))
        noteChanges(recorded.map(\.decision), lines.compactMap(decision))
    }

    /// What both have is no change, but where nothing else is: then the lines differ in what they tell.
    private func noteChanges(_ recorded: [PlanDecision], _ replayed: [PlanDecision]) {
        var gone: [PlanDecision] = []
        var new = replayed
        for decision in recorded {
            if let index = new.firstIndex(of: decision) { new.remove(at: index) } else { gone.append(decision) }
        }
        if gone.isEmpty, new.isEmpty { (gone, new) = (recorded, replayed) }
        for index in 0..<max(gone.count, new.count) {
            add(
                DecisionChange(
                    recorded: index < gone.count ? gone[index] : nil, replayed: index < new.count ? new[index] : nil))
        }
    }

    private func isOrder(_ record: SentRecord) -> Bool {
        guard record.key == taskKey, let value = record.value else { return false }
        // A recipient may have the same name.
        return value.withUnsafeBytes { (try? reader.read($0))?.kind == .order }
    }

    private func decision(_ line: [UInt8]) -> PlanDecision? {
        line.withUnsafeBytes { bytes in
            if case .plan(let decision)? = (try? reader.read(bytes))?.kind { return decision }
            return nil
        }
    }

    /// Lines that the replay wrote nothing for, and records that the part did not take.
    private func close(_ part: RecordedPart) {
        skips = [:]
        for (topic, end) in part.ends {
            let index = Int(topic.rawValue)
            queues[index].drop(queues[index].count(below: end))
            ends[topic] = max(ends[topic] ?? 0, end)
        }
        for (cause, lines) in part.lines.sorted(by: { ($0.value.first?.offset ?? 0) < ($1.value.first?.offset ?? 0) }) {
            if cause.offset < firsts[cause.topic] ?? 0 {
                unreplayable += lines.count
                continue
            }
            add(
                ReplayDifference(
                    .decision, partition, at: now,
                    "\(cause.topic.topic.name)-\(cause.partition)@\(cause.offset)",
                    recorded: lines.map { String(decoding: $0.bytes, as: UTF8.self) }))
            for line in lines { add(DecisionChange(recorded: line.decision, replayed: nil)) }
        }
        for slice in part.slices {
            add(
                ReplayDifference(
                    .decision, partition, at: now, "a slice of \(Topic.fanout.name)-\(partition)",
                    recorded: slice.map { String(decoding: $0.bytes, as: UTF8.self) }))
            for line in slice { add(DecisionChange(recorded: line.decision, replayed: nil)) }
        }
    }

    /// What this partition's replay found, with what it could not do.
    func finished() -> ReplayReport {
        var report = report
        for (topic, count) in deleted.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            report.doubts.append(
                "\(count) records of \(topic.topic.name)-\(partition) that were planned are deleted by retention")
        }
        if unreplayable > 0 {
            report.doubts.append("\(unreplayable) lines of plan-\(partition) have a deleted cause")
        }
        if let foreignKey {
            report.doubts.append(
                "\(incomparable) lines of plan-\(partition) are not compared: names stand in them as pseudonyms of the key "
                    + "\(foreignKey), \(LedgerNames.given(setup.pseudonymKey))")
        }
        return report
    }

    /// Whether the record that a push names as its cause was replayed.
    func hasReplayed(_ cause: CauseWord) -> Bool {
        guard let start = starts[cause.topic], let end = ends[cause.topic] else { return false }
        return (start..<max(start, end)).contains(cause.offset)
    }
}
