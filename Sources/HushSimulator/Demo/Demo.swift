public import HushBase
import HushCore
import HushKit
import HushStream
import HushWorkers
import Synchronization

/// `hush demo`: the whole path in one process, a simulated world around it, and a verdict.
public struct DemoOptions: Sendable {
    public var workload = WorkloadOptions()
    /// `host:port` of a real Kafka; nil: the embedded broker.
    public var bootstrap: String?
    /// Properties of librdkafka for a real Kafka.
    public var properties: [String: String] = [:]
    /// An existing directory for state and certificates, which the caller removes.
    public var directory: String
    /// When the demo gives up on what is still wrong.
    public var timeLimit: Duration = .seconds(55)
    /// How APNs behaves.
    public var faults = Demo.faults
    /// What befalls the phones.
    public var trouble = WorldTrouble.none
    /// Whether planner and deliverer run in this process; else others work on the topics, on a real Kafka.
    public var hasWorkers = true
    /// Takes each line of the log of pushes, newline included.
    public var onPushLine: (@Sendable ([UInt8]) -> Void)?
    /// For tests that want the phones to merge wrongly.
    package var filter: SimulatedPhone.Filter?

    public init(directory: String) {
        self.directory = directory
    }
}

/// A demo under way. Of one thread, beside those of its workers and its APNs.
public final class Demo {
    /// Of how many wrong screens the log says what is wrong.
    private static let wrongToldMax = 10

    /// An APNs that is in some trouble all the time.
    public static let faults: APNsFaults = {
        var faults = APNsFaults()
        faults.tooManyRequests = 0.01
        faults.internalError = 0.005
        faults.unavailable = 0.01
        faults.reset = 0.005
        faults.silence = 0.002
        faults.goAwayEvery = 2000
        faults.latency = .milliseconds(2) ... .milliseconds(20)
        return faults
    }()

    /// The same with more of it, and connections that end every few seconds.
    public static let harsherFaults: APNsFaults = {
        var faults = Demo.faults
        faults.internalError = 0.01
        faults.reset = 0.01
        faults.silence = 0.005
        faults.goAwayEvery = 500
        return faults
    }()

    /// Pushes on their way from APNs to the phones.
    private static let deliveriesMax = 1 << 17
    /// How long nothing may have changed before the verdict.
    private static let settleTime: Duration = .seconds(2)
    /// How often all screens are judged, but for no more than a tenth of the time.
    private static let judgeInterval: Duration = .milliseconds(250)
    /// How long brokers may be away before records of the demo are given up.
    private static let outageMax: Duration = .seconds(300)
    /// Broken connections that wait to be logged.
    private static let breaksMax = 4096

    /// What a live view shows.
    public struct Progress: Sendable {
        public var elapsed: Duration
        public var published: World.Published
        public var tally: LedgerTally
        public var apns: APNsService.Counts
        public var screens: Int
        public var screensRight: Int
    }

    public var phoneCount: Int { world.phones.count }

    private let options: DemoOptions
    private let log: Log
    private let world: World
    /// What each screen must show at the end.
    private let expected: [[Bytes: ScreenEntry]]
    public let apns: SimulatedAPNs
    private let deliveries: Mailbox<AcceptedPush>
    private let breaks: Mailbox<BrokenConnection>
    private let lostDeliveries: LostDeliveries
    private let wakeUp: WakeUp
    private let ending: Ending
    private let broker: EmbeddedBroker?
    private let producer: RecordProducer
    private let ledger: RecordReader
    private let pipeline: DemoPipeline?
    private let reader = PayloadReader()
    private var tally = LedgerTally()
    private var batch: [AcceptedPush] = []
    private var brokenBatch: [BrokenConnection] = []
    private var screensRight = 0
    private var order = RegistrationOrder()
    private var changedAt = MonotonicTime.now()

    /// Makes the broker or reaches it, the topics, APNs, the workers and the world; nothing runs yet.
    /// - Throws: what cannot be made, as a sentence.
    public init(_ options: DemoOptions, log: Log) throws {
        self.options = options
        self.log = log
        let workload = Workload(options.workload)
        world = World(workload, seed: options.workload.seed, trouble: options.trouble, filter: options.filter)
        let oracle = Oracle(workload)
        let lastExpiry = workload.lastExpiry
        expected = workload.phones.indices.map { oracle.screen(of: $0, at: lastExpiry) }

        let wakeUp = try WakeUp()
        let deliveries = Mailbox<AcceptedPush>(capacity: Self.deliveriesMax, wakeUp: wakeUp)
        let breaks = Mailbox<BrokenConnection>(capacity: Self.breaksMax, wakeUp: wakeUp)
        let lost = LostDeliveries()
        var apnsOptions = SimulatedAPNsOptions(directory: options.directory, topics: [World.app])
        apnsOptions.faults = options.faults
        apnsOptions.seed = options.workload.seed
        apns = try SimulatedAPNs(
            apnsOptions,
            onAccept: { if !deliveries.offer($0) { lost.count.add(1, ordering: .relaxed) } },
            onBreak: { if !breaks.offer($0) { lost.count.add(1, ordering: .relaxed) } })
        self.wakeUp = wakeUp
        self.deliveries = deliveries
        self.breaks = breaks
        lostDeliveries = lost

        let policy = DemoPipeline.policy(in: options.trouble)
        var plan = TopicPlan(policy: policy)
        let ending = Ending()
        self.ending = ending
        // Only what a person must know; and nothing once the embedded broker may be gone.
        let streamLog = StreamLog { level, message in
            guard level >= .warning, !ending.isOver.load(ordering: .acquiring) else { return }
            log.write(level == .error ? .error : .warn, "stream", ["detail": .text(message)])
        }
        let kafka: KafkaConfiguration
        if let bootstrap = options.bootstrap {
            broker = nil
            kafka = try KafkaConfiguration(bootstrapServers: bootstrap, properties: options.properties)
            let outcome = try TopicSetup.create(plan, kafka: kafka, log: streamLog)
            if let problem = outcome.problems.first { throw StreamFault.refused(problem) }
        } else {
            plan.plannerPartitions = 6
            plan.delivererPartitions = 6
            let embedded = try EmbeddedBroker(log: streamLog)
            for topic in Topic.allCases {
                try embedded.create(topic.name, partitionCount: plan.partitionCount(of: topic))
            }
            broker = embedded
            kafka = try KafkaConfiguration(bootstrapServers: embedded.bootstrapServers)
            for (group, topics) in WorkerGroup.all {
                _ = try GroupOffsets.commitStart(of: topics.map(\.name), group: group, kafka: kafka, log: streamLog)
            }
        }
        producer = try RecordProducer(
            kafka, topics: InputTopic.allCases.map(\.topic.name), name: "hush-demo",
            deliveryTimeout: Self.outageMax, log: streamLog)
        ledger = try RecordReader(kafka, topics: [Topic.ledger.name], from: .end, name: "hush-demo", log: streamLog)
        pipeline =
            options.hasWorkers
            ? try DemoPipeline(
                policy, kafka: kafka, plan: plan, apns: apns, directory: options.directory, streamLog: streamLog,
                log: log)
            : nil
    }

    /// Plays the workload to its end and judges; `show` is called a few times a second.
    public func run(show: (Progress) -> Void, isStopped: () -> Bool = { false }) throws -> DemoReport {
        let started = MonotonicTime.now()
        try pipeline?.start()
        defer {
            pipeline?.stop()
            apns.close()
            ending.isOver.store(true, ordering: .releasing)
        }
        while let pipeline, !pipeline.isReady, pipeline.fault == nil,
            MonotonicTime.now() - started < options.timeLimit / 2
        {
            if isStopped() { break }
            _ = wakeUp.wait(atMost: .milliseconds(20))
        }
        let begin = MonotonicTime.now()
        changedAt = begin
        var judgeAt = begin
        while !isStopped(), pipeline?.fault == nil {
            let now = MonotonicTime.now()
            if now - started > options.timeLimit { break }
            try turn(elapsed: now - begin)
            if now >= judgeAt {
                judge()
                show(progress(now - started))
                if isSettled(now) { break }
                let judged = MonotonicTime.now()
                judgeAt = max(now + Self.judgeInterval, judged + (judged - now) * 10)
            }
            _ = wakeUp.wait(atMost: .milliseconds(10))
        }
        judge()
        return report(elapsed: MonotonicTime.now() - started)
    }

    /// One turn: what is due happens, pushes reach phones, what senders and phones say is published, the ledger is read.
    private func turn(elapsed: Duration) throws(StreamFault) {
        let now = Timestamp(millis: WallClock.nowMillis())
        try publish(world.play(until: elapsed, eventsMax: 512, now: now))
        for dead in world.takeDead() { apns.bury(dead.token, at: dead.since) }
        wakeUp.clear()
        breaks.takeAll(into: &brokenBatch)
        deliveries.takeAll(into: &batch)
        if let onPushLine = options.onPushLine {
            for push in batch { onPushLine(PushLog.line(push)) }
            for broken in brokenBatch { onPushLine(PushLog.line(broken)) }
        }
        if !batch.isEmpty { changedAt = MonotonicTime.now() }
        for push in batch { try publish(world.deliver(push.delivered, now: now)) }
        producer.poll()
        for _ in 0..<2000 {
            guard let record = try ledger.next(within: .zero) else { break }
            tally.take(record.value.flatMap(reader.read) ?? .null)
        }
    }

    private func publish(_ messages: [PhoneMessage]) throws(StreamFault) {
        for message in messages {
            if let token = message.registeredToken, order.mustSettle(before: token) { try producer.settle() }
            try producer.send(message.topic.topic.name, key: message.key.raw, value: message.value.raw)
        }
    }

    private func judge() {
        world.expire(now: Timestamp(millis: WallClock.nowMillis()))
        let right = world.screensRight(expected)
        if right != screensRight { changedAt = MonotonicTime.now() }
        screensRight = right
    }

    /// Inputs that have no decision yet.
    private var undecided: Int {
        let published = world.published
        let wanted: [(InputTopic, Int)] = [
            (.intents, published.intents), (.reads, published.reads), (.devices, published.devices),
            (.signals, published.hellos),
        ]
        return wanted.reduce(0) { $0 + max(0, $1.1 - tally.decided(of: Bytes($1.0.topic.name))) }
    }

    /// Whether all has happened, is decided and right, and nothing has moved for a while.
    private func isSettled(_ now: MonotonicTime) -> Bool {
        world.isOver && Timestamp(millis: WallClock.nowMillis()) > world.lastExpiry && undecided == 0
            && screensRight == world.phones.count && now - changedAt > Self.settleTime
    }

    private func progress(_ elapsed: Duration) -> Progress {
        Progress(
            elapsed: elapsed, published: world.published, tally: tally, apns: apns.counts, screens: world.phones.count,
            screensRight: screensRight)
    }

    private func report(elapsed: Duration) -> DemoReport {
        let counts = apns.counts
        let published = world.published
        var report = DemoReport()
        report.seed = options.workload.seed
        report.intents = published.intents - published.duplicates
        report.duplicates = published.duplicates
        report.duplicatesDropped = tally.decisions["duplicate"] ?? 0
        report.reads = published.reads
        report.readsBeforeCreate = tally.decisions["suppressed"] ?? 0
        report.held = tally.outcomes["held"] ?? 0
        report.retried = (tally.outcomes["retry"] ?? 0) + (tally.outcomes["unknown"] ?? 0)
        report.pushes = counts.accepted
        let hours = Double(elapsed.wholeMillis) / 3_600_000 * Double(max(world.phones.count, 1))
        report.wakeUpsPerDeviceHour = hours > 0 ? Double(world.wakeUps) / hours : 0
        report.readToClearP99 = .nanoseconds(world.clearDelays.nanos(atQuantile: 0.99))
        report.troubles = world.troubles
        report.screens = world.phones.count
        report.screensRight = screensRight
        report.elapsed = elapsed
        report.violate("not_played", world.workload.events.count - world.played)
        report.violate("undecided", undecided)
        report.violate("decided_twice", tally.decidedTwice)
        report.violate("dead_letters", tally.decisions["dead"] ?? 0)
        report.violate("ledger_malformed", tally.malformed)
        report.violate("rang_twice", world.rangTwice)
        report.violate("shown_to_others", world.shownToOthers)
        report.violate("refused_by_apns", Self.refusals(counts))
        report.violate("deliveries_lost", lostDeliveries.count.load(ordering: .relaxed))
        report.violate("not_published", producer.failed)
        for (phone, expected) in zip(world.phones, expected).lazy.filter({ !$0.shows($1) }).prefix(Self.wrongToldMax) {
            log.error(
                "a screen is wrong",
                [
                    "device": "\(phone.device)", "recipient": "\(phone.owner)", "dialect": "\(phone.dialect.name)",
                    "wrong": "\(phone.difference(from: expected))",
                ])
        }
        if let fault = pipeline?.fault {
            log.error("a worker ended", ["fault": LogValue(fault)])
            report.violate("workers_ended", 1)
        }
        return report
    }

    /// What APNs refused that no fault of the plan explains: a mistake of the sender.
    private static func refusals(_ counts: APNsService.Counts) -> Int {
        let planned: Set<Bytes> = ["TooManyRequests", "InternalServerError", "ServiceUnavailable", "Unregistered"]
        return counts.rejected.filter { !planned.contains($0.key) }.values.reduce(0, +)
    }

    private final class Ending: Sendable {
        let isOver = Atomic(false)
    }

    private final class LostDeliveries: Sendable {
        let count = Atomic(0)
    }
}
