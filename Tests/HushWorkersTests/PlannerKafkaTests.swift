import Foundation
import HushCore
import Testing

@testable import HushStream
@testable import HushWorkers

private let bootstrap = ProcessInfo.processInfo.environment["HUSH_TEST_KAFKA"]

@Suite(
    "Planner on Kafka", .serialized, .enabled(if: bootstrap != nil, "needs a real Kafka: scripts/test"))
struct PlannerKafkaTests {
    private let kafka: KafkaConfiguration
    private let name = "plan-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
    private let partitions: Int32 = 3
    private let directory: String

    init() throws {
        kafka = try KafkaConfiguration(bootstrapServers: bootstrap ?? "")
        directory = FileManager.default.temporaryDirectory.appending(path: "hush-\(name)").path
        let stamps = ["message.timestamp.type": "LogAppendTime"]
        let topics = Topic.plannerInputs + [.pushes, .ledger, .dead]
        let compacted = ["cleanup.policy": "compact"]
        let shapes = topics.map { ($0, stamps) } + [(.plannerMarks, compacted), (.plannerRows, compacted)]
        try TopicAdmin(kafka).create(
            shapes.map { TopicDefinition(name: topic($0.0), partitionCount: partitions, configuration: $0.1) })
        // A topic that was just made may have no leader yet.
        let deadline = ContinuousClock.now + .seconds(20)
        while true {
            do throws(StreamFault) {
                _ = try GroupOffsets.commitStart(
                    of: Topic.plannerInputs.map(topic), group: name, kafka: kafka)
                break
            } catch {
                guard case .retriable = error, ContinuousClock.now < deadline else { throw error }
                usleep(50_000)
            }
        }
    }

    private func topic(_ topic: Topic) -> String { "\(name)-\(topic.name)" }

    private func slot() throws -> StreamSlot<PlannerApplication> {
        var stream = PlannerConfiguration.stream(
            slotName: "s0", partitionCount: partitions, pushesPartitionCount: partitions)
        stream.groupID = name
        stream.transactionalIDPrefix = name
        stream.inputs = stream.inputs.map { "\(name)-\($0)" }
        for index in stream.outputs.indices { stream.outputs[index].topic = "\(name)-\(stream.outputs[index].topic)" }
        for index in stream.tables.indices {
            stream.tables[index].changelog = "\(name)-\(stream.tables[index].changelog)"
        }
        let slot = try StreamSlot(stream, kafka: kafka, home: try StateHome(directory: directory), log: .silent) {
            var policy = Policy()
            policy.sliceRate = 1000
            return PlannerApplication(PlannerConfiguration(policy: policy, build: "test"))
        }
        try slot.start()
        return slot
    }

    /// Writes values under their recipients' keys, or under a wrong key so that most stand in a foreign partition.
    private func produce(_ topic: Topic, _ records: [(recipient: String, value: String)], misroute: Bool = false) throws
    {
        let deliveries = Deliveries(name: "test", log: .silent)
        let producer = try Producer(
            kafka, name: "test", topics: [self.topic(topic)], transactional: nil, deliveries: deliveries)
        for record in records {
            Array((misroute ? "wrong" : record.recipient).utf8).withUnsafeBytes { key in
                Array(record.value.utf8).withUnsafeBytes { value in
                    _ = producer.produce(0, partition: -1, key: key, value: value, tag: 0)
                }
            }
        }
        try producer.flush(timeoutMillis: 20_000)
        #expect(deliveries.acknowledged == records.count)
    }

    private func lines(of topic: Topic) throws -> [[String: Any]] {
        try RecordReader(kafka, topics: [self.topic(topic)]).readToEnd().compactMap { record in
            try record.value.flatMap { try JSONSerialization.jsonObject(with: Data($0)) as? [String: Any] }
        }
    }

    private func planLines() throws -> [[String: Any]] {
        try lines(of: .ledger).filter { $0["decision"] != nil }
    }

    @Test("every record has one plan line and every notification one create, over a stop and a start with lost state")
    func books() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let recipients = (0..<40).map { "r\($0)" }
        try produce(.devices, recipients.map { ($0, #"{"device":"phone","token":"\#(tokenHex($0))","app":"chat"}"#) })
        let intents = (0..<400).map { number in
            let recipient = recipients[number % recipients.count]
            return (recipient, #"{"id":"n\#(number)","recipient":"\#(recipient)","title":"t"}"#)
        }
        let first = try slot()
        try produce(.intents, intents)
        let deadline = ContinuousClock.now + .seconds(60)
        while try planLines().count < 100, ContinuousClock.now < deadline { usleep(50_000) }
        first.stop()
        #expect(first.join() == nil)
        try FileManager.default.removeItem(atPath: directory)
        let second = try slot()
        // All again, under a key that is not the recipient's: to move them is one record more for most.
        try produce(.intents, intents, misroute: true)
        let wrong = Murmur2.partition(of: Array("wrong".utf8), count: partitions)
        let moved = intents.filter { Murmur2.partition(of: Array($0.0.utf8), count: partitions) != wrong }.count
        let expected = recipients.count + 2 * intents.count + moved
        while try planLines().count < expected, ContinuousClock.now < deadline { usleep(200_000) }
        second.stop()
        #expect(second.join() == nil)

        let lines = try planLines()
        #expect(lines.count == expected)
        #expect(Set(lines.map { "\($0["cause"] ?? "")\($0["id"] ?? "")" }).count == expected)
        let decisions = Dictionary(grouping: lines) { $0["decision"] as? String ?? "" }.mapValues(\.count)
        #expect(decisions["rekeyed"] == moved)
        #expect(decisions["duplicate"] == intents.count)
        #expect(decisions["registered"] == recipients.count)
        #expect((decisions["planned"] ?? 0) + (decisions["waiting"] ?? 0) == intents.count)
        try checkPushes(intents.count)
        try checkChains()
    }

    @Test("an audience of 3,000 devices gets one create each, over a stop in its midst and a start with lost state")
    func audience() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let recipients = (0..<3000).map { "r\($0)" }
        try produce(
            .devices,
            recipients.enumerated().map { number, name in
                let tags = number % 3 == 0 ? #"["ios","muted"]"# : #"["ios"]"#
                return (name, #"{"device":"phone","token":"\#(tokenHex(name))","app":"chat","tags":\#(tags)}"#)
            })
        let first = try slot()
        let deadline = ContinuousClock.now + .seconds(120)
        while try planLines().count < recipients.count, ContinuousClock.now < deadline { usleep(50_000) }
        let intent = #"{"id":"promo","audience":{"all":["ios"],"none":["muted"]},"title":"t"}"#
        try produce(.intents, [("promo", intent)])
        func slices() throws -> [[String: Any]] { try planLines().filter { $0["decision"] as? String == "sliced" } }
        while try slices().isEmpty, ContinuousClock.now < deadline { usleep(20_000) }
        first.stop()
        #expect(first.join() == nil)
        try FileManager.default.removeItem(atPath: directory)
        let second = try slot()
        while try slices().count(where: { $0["last"] != nil }) < Int(partitions), ContinuousClock.now < deadline {
            usleep(100_000)
        }
        second.stop()
        #expect(second.join() == nil)

        let taken = try slices()
        #expect(taken.compactMap { $0["count"] as? Int }.reduce(0, +) == 2000)
        #expect(taken.compactMap { $0["recipients"] as? Int }.reduce(0, +) == 2000)
        // Each walk begins where the one before it ended, whichever worker took it.
        for (_, lines) in Dictionary(grouping: taken, by: { $0["task"] as? String ?? "" }) {
            #expect(
                lines.compactMap { $0["after"] as? String } == lines.dropLast().compactMap { $0["through"] as? String })
        }
        var creates: [String: Int] = [:]
        for record in try lines(of: .pushes) where record["kind"] as? String == "ops" {
            creates[record["owner"] as? String ?? "", default: 0] += 1
        }
        #expect(creates.count == 2000)
        #expect(creates.values.allSatisfy { $0 == 1 })
        #expect(creates.keys.allSatisfy { (Int($0.dropFirst()) ?? 0) % 3 != 0 })
        try checkChains()
    }

    /// One create for each notification, whether its intent or the register that it waited for caused it.
    private func checkPushes(_ count: Int) throws {
        var creates: [String: Int] = [:]
        for record in try lines(of: .pushes) {
            for op in record["ops"] as? [[String: Any]] ?? [] where op["op"] as? String == "create" {
                creates["\(record["owner"] ?? "")/\(op["id"] ?? "")", default: 0] += 1
            }
        }
        #expect(creates.count == count)
        #expect(creates.values.allSatisfy { $0 == 1 })
    }

    /// Each task's numbers have no gap, and each order line names the digest before it.
    private func checkChains() throws {
        for (_, lines) in Dictionary(grouping: try lines(of: .ledger), by: { $0["task"] as? String ?? "" }) {
            #expect(lines.compactMap { $0["n"] as? Int } == Array(0..<lines.count))
            let orders = lines.filter { $0["order"] != nil }
            let digests = orders.map { $0["digest"] as? String ?? "" }
            let previous = orders.map { $0["previous"] as? String ?? "" }
            #expect(previous == [String(repeating: "0", count: 64)] + digests.dropLast())
        }
    }

    private func tokenHex(_ recipient: String) -> String {
        String(decoding: Hex.encode(Array(recipient.utf8)), as: UTF8.self)
    }
}
