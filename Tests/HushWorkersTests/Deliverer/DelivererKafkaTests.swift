import Foundation
import HushAPNs
import HushBase
import HushCore
import Synchronization
import Testing

@testable import HushStream
@testable import HushWorkers

/// Answers every push at once: most with 200, some not at all, so that they are unknown.
private final class EchoTransport: PushTransport {
    /// What all transports of a test sent: the apns-ids, in order.
    final class Record: Sendable {
        let sent = Mutex<[[UInt8]]>([])
    }

    let wakeUp: WakeUp
    let capacity = 200
    let isHalted = false
    private let record: Record
    private var answers: [PushAnswer] = []

    init(_ record: Record) throws {
        self.record = record
        wakeUp = try WakeUp()
    }

    func submit(_ batch: [PushRequest]) -> Int {
        let taken = batch.prefix(capacity - answers.count)
        let first = record.sent.withLock { sent in
            sent += taken.map(\.apnsID)
            return sent.count
        }
        for (index, request) in taken.enumerated() {
            answers.append(
                PushAnswer(
                    tag: request.tag,
                    outcome: (first + index) % 10 == 0
                        ? .unknown
                        : .answered(status: 200, reason: [], retryAfterSeconds: nil, timestampMillis: nil)))
        }
        if !answers.isEmpty { wakeUp.signal() }
        return taken.count
    }

    func drain(into answers: inout [PushAnswer]) {
        answers = self.answers
        self.answers = []
    }

    func resume() {}
    func dropConnections() {}
}

private let bootstrap = ProcessInfo.processInfo.environment["HUSH_TEST_KAFKA"]

@Suite(
    "Deliverer on Kafka", .serialized, .enabled(if: bootstrap != nil, "needs a real Kafka: scripts/test"))
struct DelivererKafkaTests {
    private let kafka: KafkaConfiguration
    private let name = "deliver-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
    private let partitions: Int32 = 3
    private let directory: String
    private let record = EchoTransport.Record()

    init() throws {
        kafka = try KafkaConfiguration(bootstrapServers: bootstrap ?? "")
        directory = FileManager.default.temporaryDirectory.appending(path: "hush-\(name)").path
        let stamps = ["message.timestamp.type": "LogAppendTime"]
        let shapes =
            ["pushes", "ledger", "devices", "dead"].map { ($0, stamps) } + [("rows", ["cleanup.policy": "compact"])]
        try TopicAdmin(kafka).create(
            shapes.map { TopicDefinition(name: "\(name)-\($0.0)", partitionCount: partitions, configuration: $0.1) })
        // A topic that was just made may have no leader yet.
        let deadline = ContinuousClock.now + .seconds(20)
        while true {
            do throws(StreamFault) {
                _ = try GroupOffsets.commitStart(of: ["\(name)-pushes"], group: name, kafka: kafka)
                break
            } catch {
                guard case .retriable = error, ContinuousClock.now < deadline else { throw error }
                usleep(50_000)
            }
        }
    }

    private func slot() throws -> StreamSlot<DelivererApplication> {
        var stream = DelivererConfiguration.stream(
            slotName: "s0", partitionCount: partitions, plannerPartitionCount: partitions)
        stream.groupID = name
        stream.transactionalIDPrefix = name
        stream.inputs = ["\(name)-pushes"]
        stream.outputs = ["ledger", "devices", "dead"].map {
            StreamOutput(topic: "\(name)-\($0)", partitionCount: partitions)
        }
        stream.tables[0].changelog = "\(name)-rows"
        var policy = Policy()
        policy.wakeUpBurst = 0
        policy.retryBase = .milliseconds(100)
        let configuration = DelivererConfiguration(
            policy: policy, build: "test", routes: [.init(environment: .production, index: 0)])
        let transport = record
        let slot = try StreamSlot(
            stream, kafka: kafka, home: try StateHome(directory: directory), log: .silent
        ) {
            do {
                return DelivererApplication(configuration, transport: try EchoTransport(transport))
            } catch {
                preconditionFailure("\(error)")
            }
        }
        try slot.start()
        return slot
    }

    /// Writes a bind, two creates, and a delete of the first, for each of some addresses.
    private func produce(_ addresses: Range<Int>) throws {
        let deliveries = Deliveries(name: "test", log: .silent)
        let producer = try Producer(
            kafka, name: "test", topics: ["\(name)-pushes"], transactional: nil, deliveries: deliveries)
        for number in addresses {
            let token = Bytes("aa\(1000 + number)")
            let address = Address(app: "app", environment: .production, token: token)
            let cause = Position(topic: .intents, partition: 0, offset: Int64(number))
            func op(_ kind: OpKind, _ id: Bytes) -> PushRecord {
                let op = Op(
                    kind: kind, id: id, revision: 1, first: kind == .create,
                    content: kind == .create ? Content(json: #"{"title":"T"}"#) : nil)
                return .ops(owner: "ada", ops: [op], cause: cause)
            }
            let binding = Binding(
                owner: "ada", device: Bytes("d\(number)"), install: nil, token: token, app: "app",
                environment: .production, dialect: .hush, acks: false,
                version: BindingVersion(at: Timestamp(millis: 1), partition: 0, offset: Int64(number)))
            let bind = PushRecord.bind(
                binding, fresh: false, cause: Position(topic: .devices, partition: 0, offset: Int64(number)))
            for record in [bind, op(.create, "a"), op(.create, "b"), op(.delete, "a")] {
                var json = JSONWriter()
                PushRecordWriter.write(record, into: &json)
                address.key.raw.withUnsafeBytes { key in
                    json.bytes.withUnsafeBytes { value in
                        _ = producer.produce(0, partition: -1, key: key, value: value, tag: 0)
                    }
                }
            }
        }
        try producer.flush(timeoutMillis: 20_000)
        #expect(deliveries.acknowledged == addresses.count * 4)
    }

    /// How often each op was told to be final.
    private func finals() throws -> [String: Int] {
        var found: [String: Int] = [:]
        for record in try RecordReader(kafka, topics: ["\(name)-ledger"]).readToEnd() {
            guard let value = record.value,
                let line = try JSONSerialization.jsonObject(with: Data(value)) as? [String: Any],
                line["final"] as? Bool == true, let ops = line["ops"] as? [[String: Any]]
            else { continue }
            for op in ops { found[op["op"] as? String ?? "", default: 0] += 1 }
        }
        return found
    }

    @Test("every op has one final outcome and no attempt leaves twice, also over a stop and a start with lost state")
    func books() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let first = try slot()
        try produce(0..<300)
        let deadline = ContinuousClock.now + .seconds(40)
        while record.sent.withLock({ $0.count }) < 50, ContinuousClock.now < deadline { usleep(5000) }
        first.stop()
        #expect(first.join() == nil)
        try FileManager.default.removeItem(atPath: directory)
        let second = try slot()
        try produce(300..<400)
        while try finals().count < 1600, ContinuousClock.now < deadline { usleep(200_000) }
        second.stop()
        #expect(second.join() == nil)
        let finals = try finals()
        #expect(finals.count == 1600)
        #expect(finals.values.allSatisfy { $0 == 1 })
        let sent = record.sent.withLock { $0 }
        #expect(sent.count == Set(sent).count)
    }
}
