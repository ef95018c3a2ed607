import HushAPNs
import HushBase
import HushCore
public import HushStream
public import HushWorkers

/// How letters are sent again.
public struct RedriveOptions: Sendable {
    public var names = TopicNames()
    /// Names this run in headers and in the ledger.
    public var run: String
    /// Letters a second; nil: as fast as it goes.
    public var rate: Double? = 100
    /// A letter that was redriven so often stays.
    public var attemptsMax = 3
    /// Letters of one transaction.
    public var lettersMax = 200
    public var build = Build.version
    /// Under which recipients stand in the ledger; nil: in clear.
    public var pseudonymKey: PseudonymKey?
    /// Values that take the place of the letters' own, by the place at which they died.
    public var mended: [TopicPlace: [UInt8]] = [:]
    /// Names the one redrive that may run.
    public var transactionalID = "hush-redrive"
    /// Whether to send nothing more; asked all the time while the rate holds letters back.
    public var isStopped: @Sendable () -> Bool = { false }
    /// For tests: runs before each commit, and ends the run as a crash would where it throws.
    package var beforeCommit: (@Sendable () throws -> Void)?

    public init(run: String) {
        self.run = run
    }
}

/// What a redrive did.
public struct RedriveSummary: Sendable {
    public var redriven = 0
    /// Were redriven before.
    public var already = 0
    public var parked = 0
    /// None that hush wrote.
    public var foreign = 0
    /// Letters that could not be sent, and why; they stay as they are.
    public var refused: [(letter: Letter, why: String)] = []

    public init() {}
}

/// Sends dead letters again, each once, however often it is called and wherever it dies.
///
/// One transaction holds the redriven records, their lines in the ledger and their marks in `hush.redrives`. The
/// transactional id is one for all: a second redrive fences the first, whose open transaction is aborted before the
/// second reads the marks. Of one thread at a time.
public final class Redriver {
    private let kafka: KafkaConfiguration
    private let options: RedriveOptions
    private let log: StreamLog
    private let producer: TransactionalProducer
    private let drafter: RedriveDrafter
    private let book: LedgerBook
    private var marks: RedriveMarks
    private var pacer: RatePacer
    private var waiting: [RedriveDraft] = []
    private var waitingPlaces: Set<TopicPlace> = []
    private var waitingBytes = 0
    public private(set) var summary = RedriveSummary()

    /// What letters can have died in.
    public static let origins: [Topic] = Topic.plannerInputs + [.pushes]
    /// A transaction ends when its records have so many bytes.
    static let transactionBytesMax = 4 << 20
    /// How often a transaction that was aborted is tried.
    static let triesMax = 5
    /// How often somebody who waits asks whether to stop.
    static let stopInterval = Duration.milliseconds(100)
    /// The largest record that is sent: an input, and the headers of its history.
    static let recordBytesMax = TopicPlan.inputBytesMax + DeadLetter.bytesMax

    /// Takes over from a redrive that still runs, and reads what was redriven before.
    /// - Throws: `StreamFault.refused` where a topic is missing.
    public init(_ kafka: KafkaConfiguration, _ options: RedriveOptions, log: StreamLog = .silent) throws {
        self.kafka = kafka
        self.options = options
        self.log = log
        let names = options.names
        let counts = try Self.partitionCounts(kafka, names, log)
        drafter = RedriveDrafter(partitionCounts: counts, run: options.run)
        producer = try TransactionalProducer(
            kafka, id: options.transactionalID, topics: (Self.origins + [.ledger, .redrives]).map(names.name),
            recordBytesMax: Self.recordBytesMax, log: log)
        try producer.start()
        marks = try RedriveMarks.read(kafka, names: names, log: log, isStopped: options.isStopped)
        let hash = SHA256Digest()
        hash.update(Array("\(options.attemptsMax)".utf8))
        book = LedgerBook(
            task: LedgerBook.redriveTask, stage: LedgerBook.redriveStage,
            config: Bytes(Hex.encode(hash.finish().prefix(8))), build: Bytes(options.build),
            pseudonymKey: options.pseudonymKey, state: marks.ledger)
        pacer = RatePacer(perSecond: options.rate, now: .now())
    }

    static func partitionCounts(
        _ kafka: KafkaConfiguration, _ names: TopicNames, _ log: StreamLog
    ) throws -> [Topic: Int32] {
        let topics = Self.origins + [.ledger, .redrives, .dead]
        let found = try TopicAdmin(kafka, log: log).partitionCounts(of: topics.map(names.name))
        var counts: [Topic: Int32] = [:]
        for topic in topics {
            guard let count = found[names.name(topic)] else {
                throw StreamFault.refused("\(names.name(topic)) is missing: run hush topics create")
            }
            counts[topic] = count
        }
        return counts
    }

    /// Sends a letter again, where it may be; it leaves with its transaction, at the latest with `finish`.
    /// - Returns: whether it goes.
    public func take(_ letter: Letter) throws -> Bool {
        let isRedriven = letter.origin.map { marks.redriven.contains($0) || waitingPlaces.contains($0) } ?? false
        switch LetterState(letter, isRedriven: isRedriven, attemptsMax: options.attemptsMax) {
        case .foreign: summary.foreign += 1
        case .redriven: summary.already += 1
        case .parked: summary.parked += 1
        case .waiting:
            guard let origin = letter.origin else { return false }
            let mended = options.mended[origin]
            let value: [UInt8]?
            if let mended {
                value = mended
            } else {
                switch Original.value(of: letter, origin, kafka, options.names, log, options.isStopped) {
                case .success(let found): value = found
                case .failure(let why):
                    if options.isStopped() { return false }
                    summary.refused.append((letter, why.description))
                    return false
                }
            }
            let draft = drafter.draft(letter, origin: origin, value: value, isMended: mended != nil)
            return try add(draft)
        }
        return false
    }

    /// Sends what still waits; where the redrive is stopped, it stays in `hush.dead` like all that was not taken.
    public func finish() throws -> RedriveSummary {
        if !options.isStopped() { try flush() }
        return summary
    }

    /// - Returns: false where the redrive was stopped before it was this letter's time.
    private func add(_ draft: RedriveDraft) throws -> Bool {
        let pause = pacer.take(.now())
        // No transaction is open while we wait, so nobody waits with us.
        if pause > .milliseconds(200) { try flush() }
        let deadline = MonotonicTime.now() + pause
        while MonotonicTime.now() < deadline {
            if options.isStopped() { return false }
            producer.poll(atMost: min(deadline - MonotonicTime.now(), Self.stopInterval))
        }
        waiting.append(draft)
        waitingPlaces.insert(draft.origin)
        waitingBytes += draft.size
        if waiting.count >= options.lettersMax || waitingBytes >= Self.transactionBytesMax { try flush() }
        return true
    }

    private func flush() throws {
        let batch = waiting
        waiting.removeAll(keepingCapacity: true)
        waitingPlaces.removeAll(keepingCapacity: true)
        waitingBytes = 0
        guard !batch.isEmpty else { return }
        if try send(batch) == nil { return }
        // One of them is refused for what it is: alone, each is known.
        for draft in batch {
            if let why = try send([draft]) { summary.refused.append((draft.letter, why)) }
        }
    }

    /// One transaction, tried again where that may help; why a record of it is refused, nil where it is committed.
    private func send(_ batch: [RedriveDraft]) throws -> String? {
        var tries = 0
        while true {
            do throws(StreamFault) {
                try write(batch)
                try options.beforeCommit.map { hook throws(StreamFault) in
                    do { try hook() } catch { throw .refused("\(error)") }
                }
                try producer.commit()
                marks.committed(batch.map(\.origin), book.state)
                summary.redriven += batch.count
                return nil
            } catch {
                tries += 1
                if case .fenced = error {
                    throw StreamFault.refused("another redrive took over (\(error)); what this one had committed stays")
                }
                if case .refused = error { throw error }
                try producer.abort()
                book.restore(marks.ledger)
                if error.isRefusalOfRecord { return "\(error)" }
                if tries >= Self.triesMax { throw error }
            }
        }
    }

    private func write(_ batch: [RedriveDraft]) throws(StreamFault) {
        let names = options.names
        try producer.begin()
        for (index, draft) in batch.enumerated() {
            try producer.send(
                names.name(draft.origin.topic), partition: draft.partition, key: draft.key, value: draft.value,
                headers: draft.headers, tag: index + 1)
        }
        let placed = try producer.flush()
        let now = Timestamp(millis: WallClock.nowMillis())
        var records: [(topic: Topic, partition: Int32?, key: [UInt8], value: [UInt8])] = []
        for (index, draft) in batch.enumerated() {
            guard let place = placed[index + 1] else {
                // A repeated batch may be acknowledged without offsets; the line must tell one.
                throw .retriable(KafkaCause(operation: "redrive", code: 0, name: "", message: "an offset is missing"))
            }
            let to = TopicPlace(topic: draft.origin.topic, partition: place.partition, offset: place.offset)
            let attempt = draft.letter.attempts + 1
            let line = RedriveLine(
                recipient: draft.recipient, id: draft.id, code: Bytes(draft.letter.code), attempt: attempt,
                mended: draft.isMended ? Self.digest(draft.value) : nil, letter: draft.letter.place,
                origin: draft.origin, to: to, run: Bytes(options.run))
            book.took(.dead)
            let key = book.shown(recipient: draft.recipient)
            book.write(line, at: now) { records.append((.ledger, 0, key.raw, [UInt8]($0))) }
            let mark = RedriveMark.Redriven(at: now, attempt: attempt, to: to, run: Bytes(options.run))
            records.append((.redrives, nil, Array("\(draft.origin)".utf8), RedriveMark.value(mark)))
        }
        book.writeOrder(at: now) { records.append((.ledger, 0, LedgerBook.redriveTask.raw, [UInt8]($0))) }
        records.append((.redrives, nil, RedriveMark.bookKey, RedriveMark.value(book.state)))
        for record in records {
            try producer.send(
                names.name(record.topic), partition: record.partition, key: record.key, value: record.value)
        }
        _ = try producer.flush()
    }

    private static func digest(_ value: [UInt8]?) -> Bytes {
        let hash = SHA256Digest()
        hash.update(value ?? [])
        return Bytes(Hex.encode(hash.finish()))
    }
}
