import CRdKafka
import HushBase
import Synchronization

/// The thread of a slot: everything here happens on it, the rebalance callbacks included, for they come from polling.
final class SlotRunner<Application: StreamApplication> {
    typealias Member = SlotMember<Application.Task>

    let configuration: StreamConfiguration
    let kafka: KafkaConfiguration
    let home: StateHome
    let log: StreamLog
    let control: SlotControl
    let wakeUp: WakeUp
    let watchdog: Watchdog
    let outlet: Outlet
    let events: GroupEvents
    let consumer: Consumer
    let application: Application
    let restorer: Restorer
    private var poller: Poller
    private let wakeUps: [WakeUp]

    var producer: OpenProducer?
    /// By partition; nil where it is not ours.
    var members: [Member?]
    /// What the application sees: restored tasks.
    var tasks: [Int32: (task: Application.Task, context: TaskContext)] = [:]
    /// Stores that were given back warm in the last revocation.
    var warmNames: [String] = []
    /// Which input a topic handle of librdkafka is; forgotten at every rebalance, for handles may be used again.
    private var inputs: [(topic: OpaquePointer, input: Int)] = []
    /// What went wrong in a callback, thrown where the loop goes on.
    var callbackFault: StreamFault?

    var freeze: FreezeWatch
    var isHeld = false
    var isBegun = false
    var isPaused = false
    /// Partitions are on their way out: an abort does not read them again.
    var isRevoking = false
    /// When the first thing of this transaction was done; nil where there is nothing to commit.
    var dirtySince: MonotonicTime?
    var recordsRead = 0
    var hunt = RecordHunt()
    var lastTaken: RecordHunt.Place?
    var bytesRead = 0
    /// An EndTxn was slow or repeated: it may still arrive and would end the next transaction (librdkafka #5423).
    var isProducerDoubtful = false
    /// Since the last commit, and for no reason that a record gives.
    var abortsInRow = 0
    var lastLag = MonotonicTime.now()

    static func run(
        _ configuration: StreamConfiguration, kafka: KafkaConfiguration, home: StateHome, log: StreamLog,
        control: SlotControl, wakeUp: WakeUp, makeApplication: () -> Application
    ) -> StreamFault? {
        var watchdog: Watchdog?
        // Behind the runner's end, for destroying its consumer may hang too (librdkafka #4674, #4362).
        defer { watchdog?.stop() }
        do throws(StreamFault) {
            let runner = try SlotRunner(
                configuration, kafka: kafka, home: home, log: log, control: control, wakeUp: wakeUp,
                application: makeApplication())
            watchdog = runner.watchdog
            return runner.run()
        } catch {
            log.error("slot \(configuration.slotName) ends: \(error)")
            return error
        }
    }

    private init(
        _ configuration: StreamConfiguration, kafka: KafkaConfiguration, home: StateHome, log: StreamLog,
        control: SlotControl, wakeUp: WakeUp, application: Application
    ) throws(StreamFault) {
        self.configuration = configuration
        self.kafka = kafka
        self.home = home
        self.log = log
        self.control = control
        self.wakeUp = wakeUp
        self.application = application
        wakeUps = [wakeUp] + application.wakeUps
        members = Array(repeating: nil, count: Int(configuration.partitionCount))
        outlet = Outlet(
            partitionCounts: configuration.outputs.map(\.partitionCount), recordBytesMax: configuration.recordBytesMax,
            collects: false)
        events = GroupEvents(name: configuration.slotName, log: log)
        consumer = try Self.makeConsumer(configuration, kafka, events)
        restorer = try Restorer(configuration, kafka: kafka, log: log, wakeUp: wakeUp)
        freeze = FreezeWatch(limit: configuration.sessionTimeout / 2)
        do throws(SystemFault) {
            watchdog = try Watchdog(slot: configuration.slotName, log: log)
            poller = try Poller()
            for (index, wakeUp) in wakeUps.enumerated() {
                try poller.add(wakeUp.descriptor, for: .read, tag: UInt64(index))
            }
        } catch {
            throw .state("\(error)")
        }
        consumer.signal(wakeUp.descriptor)
        outlet.begin = { [unowned self] in beginFromOutlet() }
    }

    private static func makeConsumer(
        _ configuration: StreamConfiguration, _ kafka: KafkaConfiguration, _ events: GroupEvents
    ) throws(StreamFault) -> Consumer {
        try Consumer(kafka, name: configuration.slotName, events: events) { (settings) throws(StreamFault) in
            try settings.set("group.id", configuration.groupID)
            try settings.set("partition.assignment.strategy", "range")
            try settings.set("session.timeout.ms", "\(configuration.sessionTimeout.wholeMilliseconds)")
            try settings.set("heartbeat.interval.ms", "\(configuration.sessionTimeout.wholeMilliseconds / 5)")
            try settings.set("max.poll.interval.ms", "\(configuration.pollInterval.wholeMilliseconds)")
            try settings.set("queued.min.messages", "\(configuration.fetchQueueRecords)")
            try settings.set("queued.max.messages.kbytes", "\(configuration.fetchQueueBytes >> 10)")
            try settings.limitFetches(configuration, kafka)
            if kafka.properties["fetch.wait.max.ms"] == nil { try settings.set("fetch.wait.max.ms", "100") }
            if configuration.isStaticMember { try settings.set("group.instance.id", configuration.slotName) }
        }
    }

    /// Runs to the end; nil where it was asked to end.
    private func run() -> StreamFault? {
        events.rebalance = { [unowned self] change, list in rebalanced(change, list) }
        var fault: StreamFault?
        do throws(StreamFault) {
            try start()
            while !isStopping { try turn() }
            try shutDown()
        } catch {
            fault = error
            // At once, for what follows may hang, and then the watchdog has the last word.
            log.error("slot \(configuration.slotName) ends: \(error)")
            abandon()
        }
        // From here on nothing is left to wait for but librdkafka's own threads.
        watchdog.begin("destroying the clients", atMost: configuration.callLimit)
        events.rebalance = nil
        outlet.close()
        outlet.begin = nil
        producer = nil
        return fault
    }

    var isStopping: Bool { control.isStopping.load(ordering: .acquiring) }

    func update(_ change: (inout SlotStatus) -> Void) {
        control.status.withLock { change(&$0) }
    }

    private func start() throws(StreamFault) {
        try checkTopics()
        if isStopping { return }
        try openProducer()
        if isStopping { return }
        update { $0.phase = .idle }
        try consumer.subscribe(configuration.inputs)
    }

    /// One turn of the loop: answers of other threads, records, timers, the transaction, then rest.
    private func turn() throws(StreamFault) {
        watchdog.begin("a turn of the loop", atMost: configuration.pollInterval)
        control.lastTurnNanos.store(MonotonicTime.now().nanos, ordering: .relaxed)
        noticeFreeze()
        application.turn(tasks)
        let isDrained = try pollRecords()
        try wakeTasks()
        let isRestoring = try restore()
        try balanceIntake()
        if let callbackFault { throw callbackFault }
        let now = MonotonicTime.now()
        noteDirt(now)
        if isCommitDue(now) { try commit() }
        publishPositions(now)
        if isDrained, !isRestoring { try waitForWork() }
    }

    /// Polls until nothing is there, the application is full or a commit is due; true in the first case.
    private func pollRecords() throws(StreamFault) -> Bool {
        for polled in 1...1000 {
            guard let message = rd_kafka_consumer_poll(consumer.raw, 0) else {
                if let callbackFault { throw callbackFault }
                return true
            }
            defer { rd_kafka_message_destroy(message) }
            if let callbackFault { throw callbackFault }
            if message.pointee.err != RD_KAFKA_RESP_ERR_NO_ERROR {
                try notice(UnsafePointer(message))
            } else {
                try take(UnsafePointer(message))
                if application.isSaturated || isTransactionFull { return false }
                // Tasks may be slow: a transaction must not grow old while they work through what is there.
                if polled & 15 == 0, isCommitDue(MonotonicTime.now()) { return false }
            }
        }
        return false
    }

    private func take(_ message: UnsafePointer<rd_kafka_message_t>) throws(StreamFault) {
        let partition = message.pointee.partition
        guard let member = members[Int(partition)], member.isRestored else {
            throw .fatal(
                KafkaCause("poll", RD_KAFKA_RESP_ERR__STATE, "a record of partition \(partition), which has no task"))
        }
        let input = try input(of: message.pointee.rkt)
        let context = member.context
        // After a seek the old fetch may still show records that were taken already.
        if message.pointee.offset < context.positions[input] { return }
        var kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let time = rd_kafka_message_timestamp(message, &kind)
        context.state.advance(to: time)
        context.positions[input] = message.pointee.offset + 1
        context.isTouched = true
        recordsRead += 1
        bytesRead += message.pointee.len + message.pointee.key_len
        if dirtySince == nil { dirtySince = MonotonicTime.now() }
        let record = InputRecord(
            input: input, partition: partition, offset: message.pointee.offset, appendTimeMillis: time,
            key: message.pointee.key.map { UnsafeRawBufferPointer(start: $0, count: message.pointee.key_len) },
            value: message.pointee.payload.map { UnsafeRawBufferPointer(start: $0, count: message.pointee.len) },
            headers: InputHeaders(message))
        let place = RecordHunt.Place(input: input, partition: partition, offset: record.offset)
        lastTaken = place
        if let found = hunt.found, found.place == place {
            try guarded { () throws(TaskFailure) in try member.task.setAside(record, found.reason, context) }
        } else {
            try guarded { () throws(TaskFailure) in try member.task.process(record, context) }
        }
    }

    func guarded(_ body: () throws(TaskFailure) -> Void) throws(StreamFault) {
        do throws(TaskFailure) {
            try body()
        } catch {
            throw .task(error)
        }
    }

    private func input(of topic: OpaquePointer?) throws(StreamFault) -> Int {
        for known in inputs where known.topic == topic { return known.input }
        guard let topic, let input = configuration.inputs.firstIndex(of: String(cString: rd_kafka_topic_name(topic)))
        else { throw .fatal(KafkaCause("poll", RD_KAFKA_RESP_ERR__STATE, "a record of a topic that is no input")) }
        inputs.append((topic, input))
        return input
    }

    func forgetTopicHandles() {
        inputs.removeAll(keepingCapacity: true)
    }

    /// What polling shows beside records: ends of partitions, and errors.
    private func notice(_ message: UnsafePointer<rd_kafka_message_t>) throws(StreamFault) {
        let code = message.pointee.err
        let partition = message.pointee.partition
        if code == RD_KAFKA_RESP_ERR__PARTITION_EOF {
            // Behind the end are at most transaction markers; committing it leaves no lag.
            if let member = members[Int(partition)], member.isRestored {
                let input = try input(of: message.pointee.rkt)
                member.context.positions[input] = max(member.context.positions[input], message.pointee.offset)
                member.readTo(message.pointee.offset, input)
            }
            return
        }
        let words = rd_kafka_message_errstr(message).map { String(cString: $0) } ?? ""
        let topic = message.pointee.rkt.map { String(cString: rd_kafka_topic_name($0)) }
        let place = topic.map { "\($0)-\(partition)" } ?? "group \(configuration.groupID)"
        if let fault = PollErrors.judge(code, place: place, words: words, group: configuration.groupID) {
            throw fault
        }
        log.warning("slot \(configuration.slotName): \(place): \(words) (\(String(cString: rd_kafka_err2name(code))))")
    }

    func wakeTasks() throws(StreamFault) {
        let nowMillis = WallClock.nowMillis()
        for case let member? in members where member.isRestored && member.context.takeWake(nowMillis: nowMillis) {
            member.context.isTouched = true
            try guarded { () throws(TaskFailure) in try member.task.woken(member.context) }
        }
    }

    /// Pauses what we read while the application is full, and goes on when it is not.
    private func balanceIntake() throws(StreamFault) {
        let isSaturated = application.isSaturated
        guard isSaturated != isPaused else { return }
        isPaused = isSaturated
        update { status in
            status.isWaiting = isSaturated
            if isSaturated { status.waits += 1 }
        }
        let list = TopicPartitionList()
        for case let member? in members where member.isRestored {
            for topic in configuration.inputs { list.add(topic, member.partition) }
        }
        guard list.count > 0 else { return }
        if isSaturated { try consumer.pause(list) } else { try consumer.resume(list) }
    }

    private func waitForWork() throws(StreamFault) {
        let now = MonotonicTime.now()
        var limit = isPaused ? Duration.milliseconds(50) : .seconds(1)
        if let dirtySince { limit = min(limit, dirtySince + configuration.commitInterval - now) }
        if let wakeAtMillis = members.compactMap({ $0?.context.wakeAtMillis }).min() {
            limit = min(limit, .milliseconds(max(0, wakeAtMillis - WallClock.nowMillis())))
        }
        try wait(atMost: max(.zero, limit))
    }

    func wait(atMost limit: Duration) throws(StreamFault) {
        do throws(SystemFault) {
            try poller.wait(atMost: limit) { [wakeUps] tag, _ in wakeUps[Int(tag)].clear() }
        } catch {
            throw .state("\(error)")
        }
    }

    func noticeFreeze() {
        guard freeze.tick() else { return }
        log.warning("slot \(configuration.slotName) was stopped for longer than half its session")
        isHeld = true
        for case let member? in members {
            member.context.isHeld = true
            member.forgetBlocks()
        }
        application.wasFrozen()
    }
}
