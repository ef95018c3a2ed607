import HushBase
package import HushCore
public import HushStream

/// The planner's work on one partition: decodes, decides by `Planner`, and writes pushes, ledger and dead letters.
///
/// Everything joins the transaction of the records it comes from, so each record counts exactly once.
public final class PlannerTask: PartitionTask {
    typealias Output = PlannerConfiguration.Output

    let partition: Int32
    let book: LedgerBook
    /// The highest append time of the records taken; goes back with an abort, so that a replay sees the same.
    private(set) var now = Timestamp.distantPast
    let planner: Planner
    private static let inputs = InputTopic.allCases
    private let cacheBytesMax: Int
    private let decoder: InputDecoder
    private let metrics: PlannerMetrics
    private let jobs: Gauge
    let slices: SlicePace
    var store: PlannerStore?
    private var committed = TaskRow()
    private var effects = PlanEffects()
    private var json = JSONWriter(reserving: 4096)
    private var writer = RowWriter()
    /// Of the record that is being taken; none between records.
    private var trace = RecordTrace()
    var tally = PlannerTally()

    /// The number of the next line in the ledger: from where on this task's state decides.
    package var nextLine: Int64 { book.state.next }

    /// Writes names to the ledger under another key, for a replay of what was written under it.
    package func write(under key: PseudonymKey?) { book.write(under: key) }

    /// What the ledger has of this task up to its last commit.
    var committedLedger: LedgerState { committed.ledger }

    /// Decoder and pace are shared by all tasks of a thread.
    init(
        partition: Int32, _ configuration: PlannerConfiguration, decoder: InputDecoder, metrics: PlannerMetrics,
        slices: SlicePace
    ) {
        self.partition = partition
        self.decoder = decoder
        self.metrics = metrics
        jobs = metrics.jobs(of: partition)
        self.slices = slices
        planner = Planner(policy: configuration.policy)
        cacheBytesMax = configuration.cacheBytesMax
        book = LedgerBook(
            task: Bytes("plan-\(partition)"), stage: .plan, config: configuration.digest, build: configuration.build,
            pseudonymKey: configuration.pseudonymKey)
    }

    public func restored(_ context: TaskContext) throws(TaskFailure) {
        store = PlannerStore(context, markLifeMillis: planner.markLifeMillis, cacheBytesMax: cacheBytesMax)
        committed = try TaskRow.read(context)
        book.restore(committed.ledger)
        now = committed.now
        if try store?.turns().isEmpty == false { slices.begin(partition, context) }
        countJobs()
    }

    private func countJobs() {
        if let count = store?.knownTurns?.count { jobs.set(count) }
    }

    public func process(_ record: InputRecord, _ context: TaskContext) throws(TaskFailure) {
        now = max(now, Timestamp(millis: record.appendTimeMillis))
        trace = RecordTrace(record)
        defer { trace = RecordTrace() }
        let topic = Topic.plannerInputs[record.input]
        book.took(topic, offset: record.offset)
        let input = Self.inputs[record.input]
        switch decode(record, input) {
        case .success(let decoded): try take(decoded.event, record, input, context)
        case .failure(let reason): bury(record, input, reason, ids: [nil], context)
        }
        if book.isOrderDue { writeOrder(context) }
    }

    public func setAside(_ record: InputRecord, _ reason: String, _ context: TaskContext) {
        now = max(now, Timestamp(millis: record.appendTimeMillis))
        trace = RecordTrace(record)
        defer { trace = RecordTrace() }
        book.took(Topic.plannerInputs[record.input], offset: record.offset)
        let input = Self.inputs[record.input]
        var ids: [Bytes?] = [nil]
        if case .success(let decoded) = decode(record, input) { ids = decoded.event.lineIDs }
        bury(record, input, DeadReason(.unwritable, reason), ids: ids, context)
    }

    public func prepareCommit(_ context: TaskContext) throws(TaskFailure) {
        guard book.isOpen else { return }
        writeOrder(context)
        TaskRow(ledger: book.state, now: now).write(context, &writer)
    }

    public func committed(_ context: TaskContext) {
        committed = TaskRow(ledger: book.state, now: now)
        metrics.count(tally)
        countJobs()
        tally.removeAll()
    }

    public func aborted(_ context: TaskContext) {
        store?.aborted()
        book.restore(committed.ledger)
        now = committed.now
        tally.removeAll()
        // There may be jobs again that had ended, and a wake-up that was asked for is gone.
        slices.begin(partition, context)
    }

    public func woken(_ context: TaskContext) throws(TaskFailure) {
        try takeSlice(context)
    }

    public func drain(_ context: TaskContext) -> Bool { true }

    public func closed() {
        store = nil
        jobs.set(0)
    }

    private func decode(_ record: InputRecord, _ input: InputTopic) -> Result<DecodedInput, DeadReason> {
        func decode(
            _ type: UnsafeRawBufferPointer?, _ time: UnsafeRawBufferPointer?
        ) -> Result<DecodedInput, DeadReason> {
            let message = InputMessage(
                topic: input, key: record.key, value: record.value, contentType: type, eventTime: time)
            do throws(DeadReason) {
                return .success(try decoder.decode(message))
            } catch {
                return .failure(error)
            }
        }
        if record.headers.isEmpty { return decode(nil, nil) }
        return record.headers.withValue(of: "content-type") { type in
            record.headers.withValue(of: "ce_time") { time in decode(type, time) }
        }
    }

    private func take(
        _ event: PlannerEvent, _ record: InputRecord, _ input: InputTopic, _ context: TaskContext
    ) throws(TaskFailure) {
        let position = Position(topic: input, partition: record.partition, offset: record.offset)
        let origin = RecordOrigin.read(record)
        if input == .fanout {
            if case .audience(let addressed) = event, try lacksRoom(for: addressed) {
                let reason = DeadReason(
                    .tooManyAudiences,
                    "partition \(partition) asks for the tags of \(planner.policy.audiencesMax) audiences already")
                return bury(record, input, reason, ids: event.lineIDs, context)
            }
            try decide(event, position, origin, record, context)
            return slices.begin(partition, context)
        }
        let home = Murmur2.partition(of: event.recipient.raw, count: context.partitionCount(Output.ledger.rawValue))
        guard home == partition else {
            if origin == nil { return move(event, record, position, to: home, context) }
            let reason = DeadReason(
                .misrouted, "the record was moved once, and its recipient's partition is \(home), not \(partition)")
            return bury(record, input, reason, ids: event.lineIDs, context)
        }
        if case .audience(let addressed) = event {
            return fanOut(addressed, record, position, isMoved: origin != nil, context)
        }
        try decide(event, position, origin, record, context)
    }

    private func decide(
        _ event: PlannerEvent, _ position: Position, _ origin: BindingVersion?, _ record: InputRecord,
        _ context: TaskContext
    ) throws(TaskFailure) {
        var arrival = Arrival(position: position, appended: Timestamp(millis: record.appendTimeMillis), now: now)
        if let origin { arrival.origin = origin }
        guard var store else { throw TaskFailure("planner task \(partition) got a record before its state") }
        // Taken out of the task, here and below, so that its use is checked once.
        var effects = PlanEffects()
        swap(&effects, &self.effects)
        defer { swap(&effects, &self.effects) }
        effects.removeAll()
        try planner.step(event, arrival, &store, &effects)
        send(&effects, context)
        effects.drainLines { write($0, context) }
    }

    func send(_ effects: inout PlanEffects, _ context: TaskContext) {
        var json = JSONWriter(reserving: 0)
        swap(&json, &self.json)
        defer { swap(&json, &self.json) }
        tally.pushes += effects.pushes.count
        effects.drainPushes { push in
            if !push.repeatsPrevious {
                json.removeAll()
                PushRecordWriter.write(push.record, into: &json)
            }
            push.address.key.raw.withUnsafeBytes { key in
                json.withUnsafeBytes {
                    context.send(Output.pushes.rawValue, key: key, value: $0, headers: trace.headers)
                }
            }
        }
    }

    /// Sends a record on to its recipient's partition, with the place it came from; once.
    private func move(
        _ event: PlannerEvent, _ record: InputRecord, _ position: Position, to home: Int32, _ context: TaskContext
    ) {
        let headers = RecordOrigin.headers(of: record)
        let size = headers.reduce(event.recipient.count + (record.value?.count ?? 0)) {
            $0 + $1.name.utf8.count + $1.value.count
        }
        guard size <= Self.movedBytesMax else {
            let reason = DeadReason(
                .tooLarge, "the record stands in partition \(partition), and is too large to be moved to \(home)")
            return bury(record, position.topic, reason, ids: event.lineIDs, context)
        }
        event.recipient.raw.withUnsafeBytes { key in
            context.send(
                Output(position.topic).rawValue, partition: home, key: key, value: record.value, headers: headers)
        }
        for id in event.lineIDs {
            write(PlanLine(decision: .rekeyed, recipient: event.recipient, id: id, cause: position), context)
        }
    }

    /// Keeps an unusable record as it is, with the reason, and goes on.
    func bury(
        _ record: InputRecord, _ input: InputTopic, _ reason: DeadReason, ids: [Bytes?], _ context: TaskContext
    ) {
        DeadLetter.send(
            record, of: input.topic.name, stage: .plan, reason: reason, to: Output.dead.rawValue, keyless: partition,
            context)
        let key = record.key.map { Bytes(copying: $0) } ?? Bytes([])
        let recipient = UTF8Check.isValid(key) ? key : Bytes([])
        let position = Position(topic: input, partition: record.partition, offset: record.offset)
        for id in ids {
            write(PlanLine(decision: .dead, recipient: recipient, id: id, cause: position), context)
        }
    }

    /// All lines of a task go to its own partition, so that the chain of digests is one sequence of records.
    func write(_ line: PlanLine, _ context: TaskContext) {
        tally.count(line.decision)
        // A closure that uses the line would hold a copy of it whole. A line of an audience has no recipient.
        let key = line.recipient.isEmpty ? line.id ?? line.recipient : book.shown(recipient: line.recipient)
        book.write(line, at: now, trace: trace.id) { value in
            key.raw.withUnsafeBytes { key in
                context.send(Output.ledger.rawValue, partition: partition, key: key, value: value)
            }
        }
    }

    func writeOrder(_ context: TaskContext) {
        book.writeOrder(at: now) { value in
            Array("plan-\(partition)".utf8).withUnsafeBytes { key in
                context.send(Output.ledger.rawValue, partition: partition, key: key, value: value)
            }
        }
    }

    /// The largest record that is moved: below a topic's default limit by what the batch around it takes.
    static let movedBytesMax = 1_000_000
}

extension PlannerEvent {
    /// The ids that get a plan line each; nil stands for a line without one.
    package var lineIDs: [Bytes?] {
        switch self {
        case .intent(let intent): [intent.id]
        case .read(let read): read.ids
        case .register, .unregister: [nil]
        case .signal(let signal): signal.hello == nil ? [] : [nil]
        case .audience(let addressed): [addressed.intent.id]
        }
    }
}
