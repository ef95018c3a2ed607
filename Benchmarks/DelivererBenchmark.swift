import Foundation
import HushAPNs
import HushBase
import HushCore
import HushSimulator
import HushStream
import HushWorkers
import Synchronization

/// CPU per push of the whole deliverer: from `hush.pushes` on a real Kafka to the simulated APNs, and its outcomes back.
///
/// Each address gets one create, so each record makes one push, one outcome line and two states of its row. The simulated
/// APNs runs in a process of its own; what is counted is this one: the slot, the APNs client and librdkafka's threads.
enum DelivererBenchmark {
    static let app: Bytes = "com.example.app"

    static func run(_ arguments: Arguments) throws -> Int32 {
        let count = try arguments.number("pushes", or: 50_000)
        let topics = try BenchmarkTopics(
            bootstrap: try arguments.text("bootstrap"), partitions: Int32(try arguments.number("partitions", or: 4)))
        let directory = FileManager.default.temporaryDirectory.path + "/hush-deliverer-\(topics.prefix)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        // Best effort: a leftover in the temporary directory harms nobody.
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let apns = try ChildProcess(
            CommandLine.arguments[0], ["simulated-apns", "--port", "PORT", "--directory", directory])
        defer { _ = apns.end() }
        let home = try StateHome(directory: directory + "/state")

        try topics.produce(to: .pushes, count: count) { record(bind($0), to: $0) }
        let binds = try slot(topics, home, try client(apns.port, directory))
        _ = try BenchmarkTopics.run(binds.slot, until: count)
        binds.transport.close()

        try topics.produce(to: .pushes, count: count) { record(create($0), to: $0) }
        let client = try client(apns.port, directory)
        let (slot, transport) = try slot(topics, home, client)
        let before = CopyLoop.cpuMicros()
        try slot.start()
        let deadline = ContinuousClock.now + .seconds(300)
        while transport.accepted < count, slot.status.phase != .stopped, ContinuousClock.now < deadline {
            usleep(20_000)
        }
        slot.stop()
        if let fault = slot.join() { throw fault }
        let micros = (CopyLoop.cpuMicros() - before) / Double(count)
        transport.close()
        guard transport.accepted == count else {
            throw ChildProcess.Fault(description: "\(transport.accepted) of \(count) pushes were accepted")
        }
        let status = slot.status
        print(
            "deliverer: \(String(format: "%.2f", micros)) µs CPU/push, Kafka to APNs and back to the ledger (\(count) pushes, "
                + "\(String(format: "%.2f", Double(status.recordsOut) / Double(count))) records out each, "
                + "\(status.transactions) transactions)")
        return 0
    }

    /// The child: a simulated APNs until it is ended.
    static func serve(_ arguments: Arguments) throws -> Int32 {
        var options = SimulatedAPNsOptions(directory: try arguments.text("directory"), topics: [app])
        options.port = UInt16(clamping: try arguments.number("port", or: 0))
        let apns = try SimulatedAPNs(options) { _ in }
        // Until the parent ends it: no signal comes whose wait this is.
        while sleep(3600) == 0 {}
        apns.close()
        return 0
    }

    private static func slot(
        _ topics: BenchmarkTopics, _ home: StateHome, _ client: APNsClient
    ) throws -> (slot: StreamSlot<DelivererApplication>, transport: CountingTransport) {
        let stream = topics.own(
            DelivererConfiguration.stream(
                slotName: "bench", partitionCount: topics.partitions, plannerPartitionCount: topics.partitions))
        var policy = Policy()
        policy.wakeUpBurst = 0
        let configuration = DelivererConfiguration(
            policy: policy, build: "bench", routes: [.init(environment: .production, index: 0)])
        let transport = CountingTransport(client)
        let slot = try StreamSlot(stream, kafka: topics.kafka, home: home, log: .silent) {
            DelivererApplication(configuration, transport: transport)
        }
        return (slot, transport)
    }

    private static func client(_ port: UInt16, _ directory: String) throws -> APNsClient {
        let options = SimulatedAPNsOptions(directory: directory, topics: [])
        return try APNsClient(
            APNsConfiguration(routes: [
                APNsConfiguration.Route(
                    host: "127.0.0.1", port: port, trust: .file(directory + "/ca.pem"),
                    credential: .token(
                        keyFile: directory + "/AuthKey_HUSHTEST01.p8", keyID: options.keyID, teamID: options.teamID))
            ]))
    }

    private static func address(_ number: Int) -> (token: Bytes, key: [UInt8]) {
        let digits = Hex.encode(UInt64(number))
        let token = Bytes(Array(repeating: UInt8(ascii: "a"), count: 48) + digits)
        return (token, Address(app: app, environment: .production, token: token).key.raw)
    }

    private static func record(_ record: PushRecord, to number: Int) -> (key: [UInt8], value: [UInt8]) {
        var json = JSONWriter()
        PushRecordWriter.write(record, into: &json)
        return (address(number).key, json.bytes)
    }

    private static func bind(_ number: Int) -> PushRecord {
        let version = BindingVersion(at: Timestamp(millis: 1), partition: 0, offset: Int64(number))
        let binding = Binding(
            owner: owner(number), device: "phone", install: "install", token: address(number).token, app: app,
            environment: .production, dialect: .hush, acks: false, version: version)
        return .bind(binding, fresh: true, cause: cause(.devices, number))
    }

    private static func create(_ number: Int) -> PushRecord {
        let op = Op(
            kind: .create, id: Bytes("order-\(number)"), revision: 1, first: true,
            content: Content(
                json:
                    #"{"title":"Your parcel is on its way","body":"It leaves the depot at noon and is with you by five."}"#
            ))
        return .ops(owner: owner(number), ops: [op], cause: cause(.intents, number))
    }

    private static func cause(_ topic: InputTopic, _ number: Int) -> Position {
        Position(topic: topic, partition: 0, offset: Int64(number))
    }

    private static func owner(_ number: Int) -> Bytes { Bytes("recipient-\(number)") }
}

/// The APNs client, with a count of what was accepted; used on the slot's thread, but for the count.
private final class CountingTransport: PushTransport, Sendable {
    private let client: APNsClient
    private let count = Atomic(0)

    init(_ client: APNsClient) {
        self.client = client
    }

    var accepted: Int { count.load(ordering: .relaxed) }

    func close() { client.close(deadline: .seconds(2)) }

    func submit(_ batch: [PushRequest]) -> Int { client.submit(batch) }

    func drain(into answers: inout [PushAnswer]) {
        client.drain(into: &answers)
        var accepted = 0
        for answer in answers {
            if case .answered(200, _, _, _) = answer.outcome { accepted += 1 }
        }
        if accepted > 0 { count.add(accepted, ordering: .relaxed) }
    }

    var wakeUp: WakeUp { client.wakeUp }
    var capacity: Int { client.capacity }
    var isHalted: Bool { client.isHalted }
    func resume() { client.resume() }
    func dropConnections() { client.dropConnections() }
}
