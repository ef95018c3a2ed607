import Foundation
import HushCore
import HushStream
import HushWorkers
import Testing

@testable import HushAudit

private let bootstrap = ProcessInfo.processInfo.environment["HUSH_TEST_KAFKA"]

/// The audit on a real broker, on topics of its own: what a planner wrote, and a copy of its ledger that lost a record.
@Suite("Audit on Kafka", .serialized, .enabled(if: bootstrap != nil, "needs a real Kafka: scripts/test"))
struct AuditKafkaTests {
    private let topics: PlannedTopics
    private var kafka: KafkaConfiguration { topics.kafka }
    private var prefix: String { topics.prefix }

    init() throws {
        topics = try PlannedTopics("audit", bootstrap)
        try TopicAdmin(kafka).create([TopicDefinition(name: prefix + "copy", partitionCount: topics.partitions)])
    }

    private func scope(_ change: (inout AuditScope) -> Void = { _ in }) -> AuditScope {
        var scope = AuditScope()
        scope.names = TopicNames(prefix: prefix)
        scope.patience = .seconds(60)
        change(&scope)
        return scope
    }

    private func audit(_ change: (inout AuditScope) -> Void = { _ in }) throws -> AuditReport {
        try AuditRun(kafka, scope(change)).run()
    }

    private func records(_ count: Int) -> [(Topic, String, String)] {
        let people = (0..<10).map { "p\($0)" }
        return people.map {
            (
                .devices, $0,
                #"{"recipient":"\#($0)","device":"d","token":"aa0\#($0.dropFirst())","app":"com.example.hush"}"#
            )
        }
            + (0..<count).map { number in
                let name = people[number % people.count]
                return (.intents, name, #"{"id":"n\#(number)","recipient":"\#(name)","title":"t"}"#)
            }
    }

    @Test("what a planner wrote is proved; its inputs that wait, a time range and one partition's offsets too")
    func proves() throws {
        #expect(throws: AuditFault.empty("no input lies in the range")) { try audit() }
        try topics.plan(records(200))
        let report = try audit()
        #expect(report.verdict == .proved, "\(report.text)")
        #expect(report.total.wanted == 210)
        #expect(report.total.ops == 210 && report.total.pending == 210)
        #expect(report.counts.pushes == 210)

        let producer = try RecordProducer(kafka, topics: [prefix + Topic.intents.name])
        try producer.send(
            prefix + Topic.intents.name, key: Array("p1".utf8),
            value: Array(#"{"id":"later","recipient":"p1","title":"t"}"#.utf8))
        try producer.flush()
        #expect(try audit().total.waiting == 1)
        let some = try audit { $0.offsets = .init(topic: .intents, partition: 1, first: 3, last: 9) }
        #expect(some.verdict == .proved && some.counts.inputs == 7)
        #expect(throws: AuditFault.self) { try audit { $0.to = Timestamp(millis: 1_000_000_000_000) } }
        let recent = try audit { $0.from = Timestamp(millis: 1_000_000_000_000) }
        #expect(recent.verdict == .proved && recent.counts.inputs == 211)

        let story = try AuditRun(kafka, scope()).story(recipient: "p1", id: "n1").text
        #expect(story.contains("an intent to show it"))
        #expect(story.contains("pending, and nothing is told of it since it was planned"))
    }

    @Test("what the deliverers' group has committed, and no order line tells of, is named")
    func deliveredEnd() throws {
        let (intents, pushes) = (prefix + Topic.intents.name, prefix + Topic.pushes.name)
        let producer = try RecordProducer(kafka, topics: [intents, pushes])
        try producer.send(intents, key: Array("ada".utf8), value: Array("{}".utf8))
        for _ in 0..<3 { try producer.send(pushes, partition: 1, key: Array("a".utf8), value: Array("{}".utf8)) }
        try producer.flush()
        #expect(try audit().verdict == .proved)
        let group = prefix + WorkerGroup.deliverer
        try GroupOffsets.commit(2, topic: pushes, partition: 1, group: group, kafka: kafka)
        let report = try audit()
        #expect(report.violationCounts == [.cutEnd: 1])
        #expect(report.violations.first?.place == "hush.pushes-1@0", "\(report.text)")
    }

    @Test("a copy of the ledger without one of its records is wrong, and the record is named")
    func tampered() throws {
        try topics.plan(records(60))
        let lines = try RecordReader(kafka, topics: [prefix + Topic.ledger.name]).readToEnd()
        let producer = try RecordProducer(kafka, topics: [prefix + "copy"])
        let gone = try #require(lines.indices.filter { lines[$0].partition == 1 }.dropFirst(5).first)
        for (index, line) in lines.enumerated() where index != gone {
            try producer.send(prefix + "copy", partition: line.partition, key: line.key, value: line.value)
        }
        try producer.flush()
        let report = try audit { $0.ledgerTopic = "copy" }
        #expect(report.violationCounts[.missingLines] == 1)
        #expect(report.violations.contains { $0.code == .missingLines && $0.place == "copy-1@5" }, "\(report.text)")
        #expect(throws: StreamFault.self) { try audit { $0.ledgerTopic = "nowhere" } }
    }
}
