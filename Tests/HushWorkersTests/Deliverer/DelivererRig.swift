import HushAPNs
import HushBase
import HushCore
import Synchronization

@testable import HushStream
@testable import HushWorkers

/// A transport that keeps what it is given until the test answers.
final class FakeTransport: PushTransport {
    var capacity = 1000
    var isHalted = false
    var sent: [PushRequest] = []
    var drops = 0
    var credentialVersions: [UInt64] = []
    let wakeUp: WakeUp
    private var answers: [PushAnswer] = []
    private var open = 0

    init() throws {
        wakeUp = try WakeUp()
    }

    func submit(_ batch: [PushRequest]) -> Int {
        if isHalted { return 0 }
        let taken = min(batch.count, capacity - open)
        sent += batch.prefix(taken)
        open += taken
        return taken
    }

    func drain(into answers: inout [PushAnswer]) {
        answers = self.answers
        open -= answers.count
        self.answers = []
    }

    func credentialVersion(route: Int) -> UInt64 {
        credentialVersions.indices.contains(route) ? credentialVersions[route] : 0
    }

    func resume() { isHalted = false }
    func dropConnections() { drops += 1 }

    /// Answers the first push that has no answer yet, and takes it out.
    @discardableResult
    func answer(_ outcome: PushAnswer.Outcome) -> PushRequest {
        let request = sent.removeFirst()
        answers.append(PushAnswer(tag: request.tag, outcome: outcome))
        return request
    }

    func accept() {
        answer(.answered(status: 200, reason: [], retryAfterSeconds: nil, timestampMillis: nil))
    }

    func refuse(_ status: UInt16, _ reason: String) {
        answer(
            .answered(
                status: status, reason: Array(reason.utf8), retryAfterSeconds: nil, timestampMillis: 1_764_583_199_000))
    }
}

/// Drives a deliverer task as a slot does, without Kafka and without a network.
final class DelivererRig {
    /// Milliseconds that the test moves.
    final class Clock: Sendable {
        let millis = Mutex<Int64>(1_764_583_200_000)
    }

    static let partition: Int32 = 2
    let clock = Clock()
    let transport: FakeTransport
    let application: DelivererApplication
    let driver: InMemoryTask
    var task: DelivererTask
    private var offset: Int64 = 0

    init(
        policy: Policy = Policy(), cacheBytesMax: Int = 100_000,
        routes: [DelivererConfiguration.Route] = [.init(environment: .production, index: 0)]
    ) throws {
        let clock = clock
        transport = try FakeTransport()
        application = DelivererApplication(
            DelivererConfiguration(
                policy: policy, build: "test", routes: routes,
                cacheBytesMax: cacheBytesMax,
                now: { Timestamp(millis: clock.millis.withLock { $0 }) }), transport: transport)
        driver = InMemoryTask(
            DelivererConfiguration.stream(slotName: "t", partitionCount: 4, plannerPartitionCount: 4),
            partition: Self.partition)
        task = application.makeTask(partition: Self.partition)
        try task.restored(driver.context)
    }

    var now: Timestamp { Timestamp(millis: clock.millis.withLock { $0 }) }

    func address(_ name: String, app: Bytes = "com.example.app") -> Address {
        Address(app: app, environment: .production, token: Bytes(name))
    }

    func feed(_ value: String, key: [UInt8]?) throws {
        try driver.process(
            task, input: 0, offset: offset, appendMillis: now.millis, key: key,
            value: Array(value.utf8))
        offset += 1
    }

    func feed(_ record: PushRecord, _ name: String = "aa11", app: Bytes = "com.example.app") throws {
        var json = JSONWriter()
        PushRecordWriter.write(record, into: &json)
        try feed(String(decoding: json.bytes, as: UTF8.self), key: address(name, app: app).key.raw)
    }

    func bind(_ name: String = "aa11", app: Bytes = "com.example.app", acks: Bool = false) throws {
        let binding = Binding(
            owner: "ada", device: "ada-phone", install: nil, token: Bytes(name), app: app,
            environment: .production, dialect: .crt, acks: acks,
            version: BindingVersion(at: Timestamp(millis: 1), partition: 0, offset: 0))
        try feed(.bind(binding, fresh: true, cause: Position(topic: .devices, partition: 0, offset: 0)), name, app: app)
    }

    func create(_ id: Bytes, _ name: String = "aa11", app: Bytes = "com.example.app") throws {
        let op = Op(kind: .create, id: id, revision: 1, first: true, content: Content(json: #"{"title":"T"}"#))
        try feed(
            .ops(owner: "ada", ops: [op], cause: Position(topic: .intents, partition: 3, offset: 1201)), name, app: app)
    }

    /// One turn of the slot's loop without records.
    func turn() throws {
        application.turn([Self.partition: (task, driver.context)])
        while try driver.wake(task, nowMillis: now.millis) {}
    }

    /// Commits; returns what was written to one topic, as text.
    @discardableResult
    func commit(_ output: DelivererConfiguration.Output = .ledger) throws -> [String] {
        try driver.commit(task).filter { $0.output == output.rawValue }
            .map { String(decoding: $0.value ?? [], as: UTF8.self) }
    }

    func pass(_ seconds: Int64) throws {
        clock.millis.withLock { $0 += seconds * 1000 }
        try turn()
    }

    /// The process dies, and another takes the partition over with the state as committed.
    func restart() throws {
        driver.abort(task)
        task.closed()
        task = application.makeTask(partition: Self.partition)
        try task.restored(driver.context)
        try turn()
    }

    func left() -> [String] { transport.sent.map { String(decoding: $0.payload, as: UTF8.self) } }
    func ids() -> [String] { transport.sent.map { String(decoding: $0.apnsID, as: UTF8.self) } }
}
