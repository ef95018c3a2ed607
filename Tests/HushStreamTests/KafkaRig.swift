import Foundation
import HushBase
import Synchronization
import Testing

@testable import HushStream

/// The suites that need a real Kafka; one test at a time, for they share a broker and two cores.
@Suite(.enabled(if: KafkaRig.isThere, "needs a real Kafka: scripts/test"), .serialized, .timeLimit(.minutes(6)))
enum OnKafka {}

/// What slots logged.
final class LoggedLines: Sendable {
    private let lines = Mutex<[String]>([])

    func add(_ line: String) { lines.withLock { $0.append(line) } }

    func contain(_ words: String) -> Bool { count(words) > 0 }

    func count(_ words: String) -> Int { lines.withLock { $0.count { $0.contains(words) } } }
}

/// A real Kafka that tests run against, as `scripts/test` gives it.
struct KafkaRig: Sendable {
    static let bootstrap = ProcessInfo.processInfo.environment["HUSH_TEST_KAFKA"]
    static let isThere = bootstrap != nil
    static let brokerDirectory = ProcessInfo.processInfo.environment["HUSH_TEST_KAFKA_DIR"]
    static let script = ProcessInfo.processInfo.environment["HUSH_TEST_KAFKA_SCRIPT"]

    /// Runs a verb of the Kafka script.
    ///
    /// Not by Foundation's `Process`: it takes a child for running as long as the broker, a grandchild, holds its socket.
    static func control(_ arguments: String...) { run(arguments) }

    private static func run(_ arguments: [String]) {
        #expect(system("\(command(arguments)) >/dev/null 2>&1 </dev/null") == 0)
    }

    /// Runs a tool of Kafka's against the broker.
    static func tool(_ name: String, _ arguments: [String]) {
        run(["tool", brokerDirectory ?? "", name] + arguments)
    }

    /// Whether a tool of Kafka's succeeds and prints nothing: what it was asked to list is not there.
    static func listsNothing(_ arguments: String...) -> Bool {
        system("found=$(\(command(arguments)) 2>/dev/null </dev/null) && [ -z \"$found\" ]") == 0
    }

    private static func command(_ arguments: [String]) -> String {
        "bash " + ([script ?? ""] + arguments).map { "'\($0)'" }.joined(separator: " ")
    }

    let kafka: KafkaConfiguration
    /// Of this test alone: in the names of topics, groups and directories.
    let name: String
    let partitions: Int32
    let directory: String
    let log: StreamLog
    let logged = LoggedLines()

    var input: String { "\(name)-in" }
    var output: String { "\(name)-out" }
    var changelog: String { "\(name)-counts" }

    init(
        _ label: String, partitions: Int32 = 2, commitsOffsets: Bool = true, bootstrap: String? = KafkaRig.bootstrap,
        outputReplicas: Int32? = nil, outputSettings: [String: String] = [:]
    ) throws {
        try self.init(label, partitions, bootstrap ?? "")
        let stamps = ["message.timestamp.type": "LogAppendTime"]
        // Both, as the marks' is, for what is only compacted cannot be trimmed.
        let compacted = stamps.merging(["cleanup.policy": "compact,delete"]) { $1 }
        let topics = [
            (input, stamps), (output, stamps.merging(outputSettings) { $1 }), (changelog, compacted),
        ]
        try TopicAdmin(kafka).create(
            topics.map { (topic, settings) in
                TopicDefinition(
                    name: topic, partitionCount: partitions, replicationFactor: topic == output ? outputReplicas : nil,
                    configuration: settings)
            })
        if commitsOffsets { _ = try GroupOffsets.commitStart(of: [input], group: name, kafka: kafka) }
    }

    /// On librdkafka's mock cluster, which answers with errors when it is told to.
    init(_ label: String, on broker: EmbeddedBroker) throws {
        try self.init(label, 1, broker.bootstrapServers)
        for topic in [input, output, changelog] { try broker.create(topic, partitionCount: partitions) }
        _ = try GroupOffsets.commitStart(of: [input], group: name, kafka: kafka)
    }

    private init(_ label: String, _ partitions: Int32, _ bootstrap: String) throws {
        kafka = try KafkaConfiguration(bootstrapServers: bootstrap)
        name = "\(label)-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
        self.partitions = partitions
        directory = FileManager.default.temporaryDirectory.appending(path: "hush-\(name)").path
        let verbose = ProcessInfo.processInfo.environment["HUSH_TEST_VERBOSE"] != nil
        log = StreamLog { [logged] level, message in
            logged.add(message)
            if verbose { FileHandle.standardError.write(Data("\(level) \(message)\n".utf8)) }
        }
    }

    /// Deletes what a topic's first partition holds before an offset, as retention does.
    func trim(_ topic: String, before offset: Int64) throws {
        let file = directory + "-trim.json"
        defer { try? FileManager.default.removeItem(atPath: file) }
        let place = #"{"topic":"\#(topic)","partition":0,"offset":\#(offset)}"#
        try #"{"version":1,"partitions":[\#(place)]}"#.write(toFile: file, atomically: true, encoding: .utf8)
        Self.control("tool", Self.brokerDirectory ?? "", "delete-records", "--offset-json-file", file)
    }

    /// Where the first partition of a topic begins and ends.
    func watermarks(_ topic: String) throws -> (first: Int64, end: Int64) {
        let consumer = try Consumer(kafka, name: "test", events: ClientEvents(name: "test", log: .silent)) {
            (settings) throws(StreamFault) in
            try settings.set("group.id", "\(name)-marks")
        }
        return try consumer.watermarks(topic, 0, timeoutMillis: 10_000)
    }

    /// Opens the local state of partition 0 while no slot has it, and closes it again.
    func withStore<Result>(_ body: (StateStore) throws -> Result) throws -> Result {
        let home = try StateHome(directory: directory)
        let store = try home.acquire("\(name)/0", tables: configuration().tables)
        defer { store.close() }
        let result = try body(store)
        try store.flush(waits: true)
        return result
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: directory)
    }

    func configuration(slot: String = "s0") -> StreamConfiguration {
        CopyApplication.configuration(
            name: name, slot: slot, input: input, output: output, changelog: changelog, partitionCount: partitions)
    }

    func slot(
        _ slot: String = "s0", home: StateHome? = nil, kafka: KafkaConfiguration? = nil, log: StreamLog? = nil,
        beforeRecord: @escaping @Sendable (InputRecord) -> Void = { _ in },
        beforeCommit: @escaping @Sendable () -> Void = {}, isFull: @escaping @Sendable () -> Bool = { false },
        change: (inout StreamConfiguration) -> Void = { _ in }
    ) throws -> StreamSlot<CopyApplication> {
        var configuration = configuration(slot: slot)
        // Short, so that what waits for them is over soon.
        configuration.commitInterval = .milliseconds(100)
        configuration.drainLimit = .milliseconds(500)
        configuration.transactionTimeout = .milliseconds(1500)
        configuration.sessionTimeout = .seconds(3)
        change(&configuration)
        let home = try home ?? StateHome(directory: directory)
        return try StreamSlot(configuration, kafka: kafka ?? self.kafka, home: home, log: log ?? self.log) {
            CopyApplication(beforeRecord: beforeRecord, beforeCommit: beforeCommit, isFull: isFull)
        }
    }

    /// Runs a slot until it has committed `count` records, and stops it.
    func run(_ count: Int) throws {
        let slot = try slot()
        try slot.start()
        #expect(wait { slot.status.recordsIn == count || slot.status.phase == .stopped })
        slot.stop()
        #expect(slot.join() == nil)
    }

    /// Writes records `first..<last`, keyed by `key-<number % keys>`; the value is the number.
    func produce(_ range: Range<Int>, keys: Int = 10) throws {
        let deliveries = Deliveries(name: "test", log: .silent)
        let producer = try Producer(kafka, name: "test", topics: [input], transactional: nil, deliveries: deliveries)
        for number in range {
            // One that is refused is missing among the acknowledged.
            Array("key-\(number % keys)".utf8).withUnsafeBytes { key in
                Array("\(number)".utf8).withUnsafeBytes { value in
                    _ = producer.produce(0, partition: -1, key: key, value: value, tag: 0)
                }
            }
        }
        try producer.flush(timeoutMillis: 20_000)
        #expect(deliveries.failed == 0)
        #expect(deliveries.acknowledged == range.count)
    }

    /// Writes records of these values to partition 0, all under one key.
    func produce(_ values: [[UInt8]]) throws {
        let deliveries = Deliveries(name: "test", log: .silent)
        let producer = try Producer(kafka, name: "test", topics: [input], transactional: nil, deliveries: deliveries)
        for value in values {
            Array("large".utf8).withUnsafeBytes { key in
                value.withUnsafeBytes { _ = producer.produce(0, partition: 0, key: key, value: $0, tag: 0) }
            }
        }
        try producer.flush(timeoutMillis: 20_000)
        #expect(deliveries.acknowledged == values.count)
    }

    /// A transaction of somebody else's, with nothing in it yet.
    private func openTransaction(_ topics: [String]) throws -> OpenProducer {
        let producer = try Producer(
            kafka, name: "other", topics: topics,
            transactional: Producer.Transactional(id: "\(name)-other", timeoutMillis: 120_000),
            deliveries: Deliveries(name: "other", log: .silent))
        try producer.initTransactions(timeoutMillis: 30_000)
        try producer.begin()
        return OpenProducer(producer)
    }

    /// Leaves a transaction open that has written values to partition 0 of a topic, all under one key.
    func openTransaction(in topic: String, key: String, values: [String]) throws -> OpenProducer {
        let other = try openTransaction([topic])
        for value in values {
            Array(key.utf8).withUnsafeBytes { key in
                Array(value.utf8).withUnsafeBytes {
                    _ = other.producer.produce(0, partition: 0, key: key, value: $0, tag: 0)
                }
            }
        }
        try other.producer.flush(timeoutMillis: 20_000)
        return other
    }

    /// Leaves a transaction open that has committed an offset of the group.
    func holdOffsets() throws -> OpenProducer {
        let other = try openTransaction([])
        let consumer = try Consumer(kafka, name: "holder", events: ClientEvents(name: "holder", log: .silent)) {
            (settings) throws(StreamFault) in
            try settings.set("group.id", name)
        }
        let offsets = TopicPartitionList()
        offsets.add(input, 0, offset: 1)
        try other.producer.sendOffsets(offsets, of: consumer, isMember: false, timeoutMillis: 30_000)
        return other
    }

    struct Record: Hashable {
        var partition: Int32
        var key: String
        var value: [UInt8]
        var number: Int { Int(String(decoding: value, as: UTF8.self)) ?? -1 }
    }

    /// All committed records of a topic.
    func read(_ topic: String) throws -> [Record] {
        try RecordReader(kafka, topics: [topic]).readToEnd().map { record in
            Record(
                partition: record.partition, key: String(decoding: record.key ?? [], as: UTF8.self),
                value: record.value ?? [])
        }
    }

    /// How many records of the input the group has committed; nil where the brokers cannot say just now.
    func committed() throws -> Int? {
        let consumer = try Consumer(kafka, name: "test", events: ClientEvents(name: "test", log: .silent)) {
            (settings) throws(StreamFault) in
            try settings.set("group.id", name)
        }
        let offsets = TopicPartitionList()
        for partition in 0..<partitions { offsets.add(input, partition) }
        do throws(StreamFault) {
            try consumer.committed(offsets, timeoutMillis: 5000)
        } catch {
            guard case .retriable = error else { throw error }
            return nil
        }
        return (0..<offsets.count).reduce(0) { $0 + Int(max(0, offsets[$1].offset)) }
    }

    /// The counts in the changelog: the newest value of each key.
    func counts() throws -> [String: UInt64] {
        var counts: [String: UInt64] = [:]
        for record in try read(changelog) {
            counts[record.key] = UInt64(String(decoding: record.value, as: UTF8.self))
        }
        return counts
    }

    /// Looks again and again whether something has come true; false where it has not in time.
    func wait(atMost limit: Duration = .seconds(30), until isDone: () throws -> Bool) rethrows -> Bool {
        let deadline = ContinuousClock.now + limit
        while try !isDone() {
            if ContinuousClock.now > deadline { return false }
            usleep(20_000)
        }
        return true
    }

    /// Checks that `0..<count` came out once each, in order within each key, and that the counts say the same.
    func expectCopied(_ count: Int, keys: Int = 10) throws {
        let records = try read(output)
        #expect(records.count == count)
        let isComplete = Set(records.map(\.number)) == Set(0..<count)
        #expect(isComplete)
        for (key, group) in Dictionary(grouping: records, by: \.key) {
            let isOrdered = group.map(\.number) == group.map(\.number).sorted()
            #expect(isOrdered, "\(key)")
        }
        var expected: [String: UInt64] = [:]
        for number in 0..<count { expected["key-\(number % keys)", default: 0] += 1 }
        #expect(try counts() == expected)
    }
}
