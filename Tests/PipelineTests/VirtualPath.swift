import HushAPNs
import HushBase
import HushCore
import HushKit
import HushSimulator
import HushStream
import HushWorkers
import Synchronization
import Testing

/// The whole path in one thread and in virtual time: planner and deliverer tasks on state in memory, topics as lists,
/// the simulated APNs' rules and simulated phones. Each test says what comes when, and who crashes.
final class VirtualPath {
    struct Record {
        var key: [UInt8]?
        var value: [UInt8]?
        var headers: [RecordHeader] = []
        var millis: Int64
    }

    /// One task with its state, and how far it has read each of its inputs.
    private final class Member<Task: PartitionTask> {
        var task: Task
        let driver: InMemoryTask
        var next: [Int]
        var committed: [Int]

        init(_ task: Task, _ stream: StreamConfiguration, partition: Int32) throws {
            self.task = task
            driver = InMemoryTask(stream, partition: partition)
            next = Array(repeating: 0, count: stream.inputs.count)
            committed = next
            try task.restored(driver.context)
        }
    }

    private final class Clock: Sendable {
        let millis = Mutex<Int64>(1_764_583_200_000)
    }

    static let app: Bytes = "com.example.hush"
    static let otherApp: Bytes = "com.example.shop"
    static let partitionCount: Int32 = 4

    let apns: VirtualAPNs
    private(set) var phones: [SimulatedPhone] = []
    /// Whose phones they are, where a workload is played; `phones` is empty then.
    let world: World?
    /// What phones published while `isDetained`; `settle` leaves it alone.
    private(set) var detained: [PhoneMessage] = []
    var isDetained = false
    /// Phones that get nothing; APNs keeps the newest push for each.
    private var offline: [Bytes: AcceptedPush?] = [:]
    /// Planner partitions that lag.
    private var lagging: Set<Int32> = []
    private var topics: [Topic: [[Record]]] = [:]
    private let clock = Clock()
    private let plannerStream = PlannerConfiguration.stream(
        slotName: "t", partitionCount: partitionCount, pushesPartitionCount: partitionCount)
    private let delivererStream = DelivererConfiguration.stream(
        slotName: "t", partitionCount: partitionCount, plannerPartitionCount: partitionCount)
    private let planner: PlannerApplication
    private let deliverer: DelivererApplication
    private var planners: [Member<PlannerTask>] = []
    private var deliverers: [Member<DelivererTask>] = []

    init(
        policy: Policy = Policy(), world: World? = nil, plannerKey: PseudonymKey? = nil,
        delivererKey: PseudonymKey? = nil
    ) throws {
        self.world = world
        let clock = clock
        let now: @Sendable () -> Timestamp = { Timestamp(millis: clock.millis.withLock { $0 }) }
        apns = try VirtualAPNs(topics: [Self.app, Self.otherApp], now: now)
        planner = PlannerApplication(
            PlannerConfiguration(policy: policy, build: "test", pseudonymKey: plannerKey, now: now))
        deliverer = DelivererApplication(
            DelivererConfiguration(
                policy: policy, build: "test", routes: [.init(environment: .production, index: 0)],
                pseudonymKey: delivererKey, now: now),
            transport: apns)
        for topic in Topic.allCases { topics[topic] = Array(repeating: [], count: Int(Self.partitionCount)) }
        for partition in 0..<Self.partitionCount {
            planners.append(try Member(planner.makeTask(partition: partition), plannerStream, partition: partition))
            deliverers.append(
                try Member(deliverer.makeTask(partition: partition), delivererStream, partition: partition))
        }
    }

    var now: Timestamp { Timestamp(millis: clock.millis.withLock { $0 }) }

    // MARK: what comes in

    /// Appends a record; to its key's partition where none is given.
    func publish(
        _ topic: Topic, _ value: String, key: String = "ada", partition: Int32? = nil, headers: [RecordHeader] = []
    ) {
        append(
            topic, Record(key: Array(key.utf8), value: Array(value.utf8), headers: headers, millis: now.millis),
            partition)
    }

    private func append(_ topic: Topic, _ record: Record, _ partition: Int32?) {
        let chosen = partition ?? Murmur2.partition(of: record.key ?? [], count: Self.partitionCount)
        topics[topic]?[Int(chosen)].append(record)
    }

    func publish(_ messages: [PhoneMessage]) {
        if isDetained {
            detained += messages
            return
        }
        for message in messages {
            append(
                message.topic.topic, Record(key: message.key.raw, value: message.value.raw, millis: now.millis), nil)
        }
    }

    /// Publishes what was detained, in another order where one is given.
    func letGo(_ order: ([PhoneMessage]) -> [PhoneMessage] = { $0 }) {
        isDetained = false
        let messages = order(detained)
        detained = []
        publish(messages)
    }

    /// A phone whose app has registered; APNs knows it by the token `aa00…` and its number.
    func phone(
        _ owner: Bytes = "ada", dialect: Dialect = .hush, app: Bytes = VirtualPath.app, token: Bytes? = nil
    ) throws -> SimulatedPhone {
        let number = phones.count + 1
        let phone = SimulatedPhone(
            owner: owner, device: Bytes("d\(number)"), dialect: dialect, app: app,
            token: token ?? Bytes("aa00000\(number)"),
            install: Bytes("i\(number)"))
        phones.append(phone)
        publish(phone.launch(now: now))
        try settle()
        return phone
    }

    /// A phone that was set up from another's backup: it has that one's app and state, under a token of its own.
    func restore(_ phone: SimulatedPhone, token: Bytes, install: Bytes) throws -> SimulatedPhone {
        let restored = phone.restored(token: token)
        phones.append(restored)
        publish(restored.renew(token: token, install: install, now: now))
        try settle()
        return restored
    }

    func goOffline(_ phone: SimulatedPhone) { offline[phone.token] = .some(nil) }

    /// Everybody is online again.
    func comeOnline() throws {
        let kept = offline.sorted { $0.key < $1.key }
        offline = [:]
        for case (_, let push?) in kept { deliver(push) }
        try settle()
    }

    func comeOnline(_ phone: SimulatedPhone) throws {
        if let kept = offline.removeValue(forKey: phone.token), let push = kept { deliver(push) }
        try settle()
    }

    func partition(of recipient: Bytes) -> Int32 {
        Murmur2.partition(of: recipient.raw, count: Self.partitionCount)
    }

    /// The planner of a recipient stops reading, until it goes on.
    func lag(_ recipient: String) {
        lagging.insert(Murmur2.partition(of: Array(recipient.utf8), count: Self.partitionCount))
    }

    func catchUp() throws {
        lagging = []
        try settle()
    }

    // MARK: time and work

    /// Lets time pass, stopping wherever a task asked to be woken.
    func pass(_ duration: Duration, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let end = now + duration
        var wakes = 0
        while let next = nextWake, next <= end.millis {
            wakes += 1
            guard wakes < 1_000_000 else {
                Issue.record("tasks ask to be woken again and again", sourceLocation: sourceLocation)
                break
            }
            clock.millis.withLock { $0 = max($0, next) }
            try settle(sourceLocation: sourceLocation)
        }
        clock.millis.withLock { $0 = end.millis }
        world?.expire(now: end)
        for phone in phones { phone.expire(now: end) }
        try settle()
    }

    private var nextWake: Int64? {
        let awake = planners.enumerated().filter { !lagging.contains(Int32($0.offset)) }
        return (deliverers.compactMap(\.driver.wakeAtMillis) + awake.compactMap(\.element.driver.wakeAtMillis)).min()
    }

    /// Works until nothing is left to do at this moment.
    func settle(sourceLocation: SourceLocation = #_sourceLocation) throws {
        for _ in 0..<1000 {
            var isBusy = try plan()
            if try deliver() { isBusy = true }
            for push in apns.deliveries() {
                isBusy = true
                deliver(push)
            }
            if !isBusy { return }
        }
        Issue.record("the path does not come to rest", sourceLocation: sourceLocation)
    }

    private func deliver(_ push: AcceptedPush) {
        if offline[push.token] != nil {
            offline[push.token] = push
            return
        }
        if let world { publish(world.deliver(push.delivered, now: now)) }
        for phone in phones { publish(phone.receive(push.delivered, now: now)) }
    }

    private func plan() throws -> Bool {
        var isBusy = false
        for (partition, member) in planners.enumerated() where !lagging.contains(Int32(partition)) {
            let hasRead = try read(member, Topic.plannerInputs, partition)
            let isWoken = try wakePlanner(member)
            guard hasRead || isWoken else { continue }
            isBusy = true
            try commit(member, plannerStream)
        }
        return isBusy
    }

    /// Each task has a slot of its own here.
    private func wakePlanner(_ member: Member<PlannerTask>) throws -> Bool {
        planner.turn([:])
        return try member.driver.wake(member.task, nowMillis: now.millis)
    }

    private func deliver() throws -> Bool {
        var isBusy = false
        for (partition, member) in deliverers.enumerated() {
            if try read(member, [.pushes], partition) { isBusy = true }
        }
        if try wakeDeliverers() { isBusy = true }
        // A slot commits all its tasks in one transaction.
        if isBusy { for member in deliverers { try commit(member, delivererStream) } }
        return isBusy
    }

    private func wakeDeliverers() throws -> Bool {
        var tasks: [Int32: (task: DelivererTask, context: TaskContext)] = [:]
        for (partition, member) in deliverers.enumerated() {
            tasks[Int32(partition)] = (member.task, member.driver.context)
        }
        deliverer.turn(tasks)
        var isBusy = false
        for member in deliverers {
            while try member.driver.wake(member.task, nowMillis: now.millis) { isBusy = true }
        }
        return isBusy
    }

    private func read(_ member: Member<some PartitionTask>, _ inputs: [Topic], _ partition: Int) throws -> Bool {
        var isBusy = false
        for (input, topic) in inputs.enumerated() {
            let records = topics[topic]?[partition] ?? []
            while member.next[input] < records.count {
                let record = records[member.next[input]]
                try member.driver.process(
                    member.task, input: input, offset: Int64(member.next[input]), appendMillis: record.millis,
                    key: record.key, value: record.value, headers: record.headers)
                member.next[input] += 1
                isBusy = true
            }
        }
        return isBusy
    }

    private func commit(_ member: Member<some PartitionTask>, _ stream: StreamConfiguration) throws {
        for sent in try member.driver.commit(member.task) {
            guard let topic = Topic(rawValue: stream.outputs[sent.output].topic) else { continue }
            append(
                topic, Record(key: sent.key, value: sent.value, headers: sent.headers, millis: now.millis),
                sent.partition)
        }
        member.committed = member.next
    }

    // MARK: trouble

    /// The planners take what has come, and a slice, and their transaction aborts; one of two then starts anew.
    func abortPlanning() throws {
        for (partition, member) in planners.enumerated() where !lagging.contains(Int32(partition)) {
            _ = try read(member, Topic.plannerInputs, partition)
            _ = try wakePlanner(member)
            member.driver.abort(member.task)
            member.next = member.committed
            guard partition.isMultiple(of: 2) else { continue }
            member.task.closed()
            member.task = planner.makeTask(partition: Int32(partition))
            try member.task.restored(member.driver.context)
        }
    }

    /// The planners commit; the deliverers take what has come, and their transaction aborts; the records come again.
    func abortDelivery() throws {
        _ = try plan()
        for (partition, member) in deliverers.enumerated() {
            _ = try read(member, [.pushes], partition)
        }
        _ = try wakeDeliverers()
        for member in deliverers {
            member.driver.abort(member.task)
            member.next = member.committed
        }
    }

    /// The deliverers die, and others take over from what was committed.
    func crashDelivery() throws {
        for (partition, member) in deliverers.enumerated() {
            member.driver.abort(member.task)
            member.task.closed()
            member.task = deliverer.makeTask(partition: Int32(partition))
            member.next = member.committed
            try member.task.restored(member.driver.context)
        }
    }

    // MARK: what came of it

    /// All records of a topic as text, partition by partition.
    func values(_ topic: Topic) -> [String] {
        (topics[topic] ?? []).flatMap { $0 }.map { String(decoding: $0.value ?? [], as: UTF8.self) }
    }

    /// All records of a topic with their keys, partition by partition.
    func records(_ topic: Topic) -> [(key: [UInt8], value: [UInt8])] {
        (topics[topic] ?? []).flatMap { $0 }.map { ($0.key ?? [], $0.value ?? []) }
    }

    /// Payloads that left, in order.
    var left: [String] { apns.requests.map { String(decoding: $0.payload, as: UTF8.self) } }

    /// Plan lines' decisions of one notification, in order.
    func decisions(_ id: String) -> [String] {
        lines().compactMap { line in
            line["id"]?.id == Bytes(id) ? line["decision"]?.string?.text : nil
        }
    }

    /// All that a topic holds, by partition.
    func records(of topic: Topic) -> [[Record]] { topics[topic] ?? [] }

    func lines() -> [PayloadValue] {
        let reader = PayloadReader()
        return records(of: .ledger).flatMap { $0 }.compactMap { reader.read($0.value ?? []) }
    }
}

extension SimulatedPhone {
    /// The ids on the screen, in order.
    var shown: [String] { entries.keys.map(\.text).sorted() }

    /// Whether something rang twice for one content.
    var rangTwice: Bool { screen.rings.values.contains { $0.values.contains { $0 > 1 } } }
}
