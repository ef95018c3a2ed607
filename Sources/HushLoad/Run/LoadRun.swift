import HushBase
import HushCore
import HushSimulator
public import HushStream
import HushWorkers

/// A load test under way: people with devices, workers where it starts them, and an open loop that sends.
///
/// Of one thread, beside those of its APNs and of Kafka's client.
public final class LoadRun {
    /// What a status line shows.
    public struct Progress: Sendable {
        public var elapsed: Duration
        public var duration: Duration
        public var second: LoadTracker.Second
    }

    private let options: LoadOptions
    private let kafka: KafkaConfiguration
    private let log: StreamLog
    private let apns: LoadAPNs?
    private let workers = WorkerProcesses()
    private let producer: RecordProducer
    private let sender: LoadSender
    private let follower: LedgerFollower
    private var trial = 0

    /// How long workers may take to start, and people to be registered.
    private static let startLimit = Duration.seconds(120)
    /// Notifications that go before the first trial, each to another person and so to most partitions.
    private static let probes = 200
    /// How long the loop rests where nothing is due.
    private static let rest = Duration.milliseconds(1)

    /// Reaches Kafka, and starts the APNs; no worker runs yet.
    public init(_ options: LoadOptions, kafka: KafkaConfiguration, log: StreamLog = .silent) throws {
        self.options = options
        self.kafka = kafka
        self.log = log
        let topics = [Topic.intents, .reads, .devices, .pushes].map(\.name)
        guard try TopicAdmin(kafka, log: log).partitionCounts(of: topics + [Topic.ledger.name]).count == 5 else {
            throw LoadFault("topics are missing: run hush topics create")
        }
        apns = options.hasAPNs ? try LoadAPNs(options) : nil
        producer = try RecordProducer(
            kafka, topics: topics, name: "hush-load", queuedRecordsMax: 1_000_000, batching: .untilAnswered, log: log)
        sender = LoadSender(producer, isDeliveryOnly: options.isDeliveryOnly)
        follower = try LedgerFollower(
            kafka, records: LoadRecords(options.mix), run: options.mix.run, measuresAccepts: apns == nil, log: log)
    }

    /// Starts the workers, and registers everybody's device.
    public func prepare(isStopped: () -> Bool) throws {
        if let count = options.workers {
            try workers.start(
                program: options.program, stages: options.stages, count: count, directory: options.directory,
                arguments: options.workerArguments + (apns?.arguments ?? []))
        }
        let records = LoadRecords(options.mix)
        for number in 0..<options.mix.recipients { try sender.register(number, records) }
        try producer.flush(within: Self.startLimit)
        if let fault = producer.firstFault { throw fault }
        if !options.isDeliveryOnly {
            try wait(isStopped, until: { follower.registered >= options.mix.recipients }) {
                "of \(options.mix.recipients) devices \(follower.registered) were registered in time: do workers run?"
            }
        }
        try probe(isStopped)
    }

    /// Sends a few notifications of a trial that nobody measures: once they are delivered, both stages work.
    private func probe(_ isStopped: () -> Bool) throws {
        var mix = LoadMix.createsOnly(options.mix)
        mix.trial = 0
        let records = LoadRecords(mix)
        follower.records = records
        let count = min(Self.probes, mix.recipients)
        for number in 0..<count {
            try sender.send(LoadItem(kind: .create, subject: number, recipient: number), number, records)
        }
        try wait(isStopped, until: { follower.acceptedCreates >= count }) {
            "of \(count) notifications \(follower.acceptedCreates) were delivered in time: do deliverers run?"
        }
    }

    /// Follows the ledger until something is so; `complaint` is what is said where that takes too long.
    private func wait(_ isStopped: () -> Bool, until isDone: () -> Bool, complaint: () -> String) throws {
        var nothing = LoadTracker(ArrivalSchedule([]), warmUp: .zero, start: .now())
        let deadline = MonotonicTime.now() + Self.startLimit
        while !isDone(), !isStopped() {
            try follower.turn(&nothing)
            if let failure = workers.failure { throw LoadFault(failure) }
            guard MonotonicTime.now() < deadline else { throw LoadFault(complaint()) }
            producer.poll(timeout: .milliseconds(20))
        }
    }

    /// Sends by a schedule, waits for the rest, and tells what was measured; `show` is called each second.
    public func run(
        _ schedule: ArrivalSchedule, show: (Progress) -> Void, isStopped: () -> Bool
    ) throws -> LoadResult {
        trial += 1
        var mix = options.isDeliveryOnly ? LoadMix.createsOnly(options.mix) : options.mix
        mix.trial = trial
        let records = LoadRecords(mix)
        follower.records = records
        let before = workers.usage
        let decided = follower.decisions
        let delivered = follower.outcomes
        let start = MonotonicTime.now()
        var tracker = LoadTracker(schedule, warmUp: options.warmUp, start: start)
        var sentLate = Duration.zero
        var nextSecond = start + .seconds(1)
        var settleAt = start + schedule.duration
        let end = start + schedule.duration + options.drain
        while !isStopped() {
            let now = MonotonicTime.now()
            let due = schedule.count(until: now - start)
            if tracker.sent < due { sentLate = max(sentLate, now - start - schedule.time(of: tracker.sent)) }
            while tracker.sent < due {
                let index = tracker.sent
                let item = mix.item(index)
                try sender.send(item, index, records)
                let devices = item.kind == .audience ? mix.members(of: item.recipient) : 0
                tracker.sent(item, index: index, devices: devices)
                if options.isDeliveryOnly { tracker.planned(nil, isNew: false, at: now) }
            }
            producer.poll()
            apns?.turn(&tracker, trial: trial)
            try follower.turn(&tracker)
            if now >= nextSecond {
                tracker.endSecond()
                nextSecond = nextSecond + .seconds(1)
                show(progress(tracker, schedule, now - start))
                if let failure = workers.failure { throw LoadFault(failure) }
            }
            if now >= settleAt {
                if tracker.isSettled || now >= end { break }
                settleAt = now + .milliseconds(200)
            }
            if schedule.count(until: MonotonicTime.now() - start) == tracker.sent { producer.poll(timeout: Self.rest) }
        }
        let unanswered = tracker.finish(at: .now())
        return LoadResult(
            schedule: schedule, tracker: tracker, unanswered: unanswered, undelivered: producer.failed,
            cpu: options.workers == nil ? nil : workers.usage - before, workers: options.workers, sentLate: sentLate,
            decisions: follower.decisions.subtracting(decided), outcomes: follower.outcomes.subtracting(delivered),
            answers: apns?.apns.counts, measuresAnswers: apns != nil, isComplete: tracker.sent == schedule.count)
    }

    private func progress(_ tracker: LoadTracker, _ schedule: ArrivalSchedule, _ elapsed: Duration) -> Progress {
        Progress(
            elapsed: elapsed, duration: schedule.duration, second: tracker.seconds.last ?? LoadTracker.Second())
    }

    /// Ends workers and APNs.
    public func stop() {
        workers.stop()
        apns?.close()
    }
}

extension [String: Int] {
    /// What was counted since.
    fileprivate func subtracting(_ earlier: [String: Int]) -> [String: Int] {
        var rest = merging(earlier) { $0 - $1 }
        for (name, count) in rest where count == 0 { rest[name] = nil }
        return rest
    }
}
