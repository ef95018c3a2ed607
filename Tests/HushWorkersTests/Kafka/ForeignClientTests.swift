import Foundation
import HushCore
import HushStream
import HushWorkers
import Testing

@Suite(
    "Topics and records on a real Kafka, beside foreign clients",
    .enabled(if: RealKafka.isThere, "needs a real Kafka: scripts/test"))
struct ForeignClientTests {
    private let suffix = RealKafka.suffix()

    private func makeTopic(_ name: String, partitionCount: Int32 = 4) throws -> TopicAdmin {
        let admin = try TopicAdmin(try RealKafka.configuration())
        let definition = TopicDefinition(
            name: name, partitionCount: partitionCount, configuration: ["message.timestamp.type": "LogAppendTime"])
        #expect(try admin.create([definition]) == [name])
        _ = try admin.describe([name], waitingUpTo: .seconds(20))
        return admin
    }

    @Test("the topics we define are made as they are checked, and making them again changes nothing")
    func makesTopics() throws {
        let plan = TopicPlan()
        let admin = try TopicAdmin(try RealKafka.configuration())
        let definitions = plan.definitions.map { definition in
            var own = definition
            own.name += ".\(suffix)"
            return own
        }
        #expect(Set(try admin.create(definitions)) == Set(definitions.map(\.name)))
        let found = try admin.describe(definitions.map(\.name), waitingUpTo: .seconds(20))
        let renamed = Dictionary(
            uniqueKeysWithValues: found.map { (String($0.key.dropLast(suffix.count + 1)), $0.value) })
        #expect(plan.problems(in: renamed) == [])
        #expect(try admin.create(definitions) == [])
        let group = "codecs-\(suffix)"
        let inputs = definitions.prefix(5).map(\.name)
        let kafka = try RealKafka.configuration()
        #expect(try GroupOffsets.commitStart(of: inputs, group: group, kafka: kafka) == 60)
        #expect(try GroupOffsets.commitStart(of: inputs, group: group, kafka: kafka) == 0)
    }

    @Test("a topic that cannot be made is refused in the broker's words")
    func refusesBadTopic() throws {
        let admin = try TopicAdmin(try RealKafka.configuration())
        let bad = TopicDefinition(
            name: "bad.\(suffix)", partitionCount: 1, configuration: ["cleanup.policy": "shred"])
        do throws(StreamFault) {
            try admin.create([bad])
            Issue.record("the topic was made")
        } catch {
            #expect(error.description.contains("bad.\(suffix)"))
            #expect(error.description.contains("shred"))
        }
    }

    @Test("records come back with key, headers, append time and place; absent and empty values differ")
    func roundTrips() throws {
        let topic = "round.\(suffix)"
        let admin = try makeTopic(topic)
        let kafka = try RealKafka.configuration()
        let producer = try RecordProducer(kafka, topics: [topic])
        var reports: [RecordProducer.Report] = []
        producer.onReport { reports.append($0) }
        let header = RecordHeader(name: "h", value: [0, 255])
        try producer.send(topic, key: Array("ada".utf8), value: Array("v".utf8), headers: [header], tag: 7)
        try producer.send(topic, partition: 2, key: nil, value: [], tag: 8)
        try producer.send(topic, partition: 2, key: [], value: nil, tag: 9)
        try producer.flush()
        #expect(reports.map(\.tag).sorted() == [7, 8, 9])
        #expect(reports.allSatisfy { $0.fault == nil })
        let records = try RecordReader(kafka, topics: [topic]).readToEnd()
        let first = try #require(records.first { $0.key == Array("ada".utf8) })
        #expect(first.partition == Murmur2.partition(of: Array("ada".utf8), count: 4))
        #expect(first.headers == [header])
        #expect(first.value == Array("v".utf8))
        #expect(first.timeMillis > 1_700_000_000_000)
        let rest = records.filter { $0.key != Array("ada".utf8) }
        #expect(rest.map(\.value) == [[], nil])
        #expect(rest.map(\.key) == [nil, []])
        #expect(try admin.offsets(of: topic)[2].end == 2 + (first.partition == 2 ? 1 : 0))
        let tail = try RecordReader(kafka, topics: [topic], from: .offsets([2: 1])).readToEnd()
        #expect(tail.first?.offset == 1)
        #expect(try RecordReader(kafka, topics: [topic], from: .end).readToEnd() == [])
    }

    @Test("what kcat produces is decoded, and what we produce kcat shows")
    func speaksWithKcat() throws {
        let topic = "kcat.\(suffix)"
        _ = try makeTopic(topic)
        let kafka = try RealKafka.configuration()
        let bootstrap = try #require(RealKafka.bootstrap)
        _ = try RealKafka.run(
            "kcat",
            [
                "-P", "-b", bootstrap, "-t", topic, "-k", "ada", "-X", "partitioner=murmur2_random", "-H",
                "ce_specversion=1.0", "-H", "ce_time=2026-12-01T10:00:00Z",
            ], input: #"{"id":"order-42","title":"from kcat"}"#)
        let record = try #require(try RecordReader(kafka, topics: [topic]).readToEnd().first)
        let time = try #require(record.headers.first { $0.name == "ce_time" })
        let input = try decode(
            .intents, bytes: record.value, key: record.key, eventTime: String(decoding: time.value, as: UTF8.self))
        #expect(
            input.event
                == .intent(
                    Intent(
                        id: "order-42", recipient: "ada", body: .show(Content(json: #"{"title":"from kcat"}"#)),
                        created: Timestamp(rfc3339: "2026-12-01T10:00:00Z"))))
        #expect(input.isKeyedByRecipient)
        let producer = try RecordProducer(kafka, topics: [topic])
        try producer.send(
            topic, key: Array("bob".utf8), value: Array("v".utf8),
            headers: [RecordHeader(name: "ce_id", value: Array("e1".utf8))])
        try producer.flush()
        let shown = try RealKafka.run("kcat", ["-C", "-b", bootstrap, "-t", topic, "-e", "-q", "-f", "%k %h %s\n"])
        #expect(shown.split(separator: "\n").contains("bob ce_id=e1 v"))
    }

    /// Reads one record with confluent-kafka, parses it with the CloudEvents SDK, and answers with a structured event.
    private static let python = """
        import json, sys
        from confluent_kafka import Consumer, Producer, TopicPartition
        from cloudevents.v1.kafka import KafkaMessage, from_binary, to_structured
        bootstrap, topic = sys.argv[1:3]
        consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": topic, "enable.auto.commit": False})
        consumer.assign([TopicPartition(topic, 0, 0)])
        record = consumer.poll(30)
        assert record is not None and record.error() is None, record and record.error()
        event = from_binary(KafkaMessage(headers=dict(record.headers()), key=record.key().decode(), value=record.value()))
        print(json.dumps([event["type"], event["subject"], event["source"], event["time"], event.data["title"]]))
        answer = to_structured(event)
        producer = Producer({"bootstrap.servers": bootstrap})
        producer.produce(topic, partition=0, key=record.key(), value=answer.value, headers=list(answer.headers.items()))
        assert producer.flush(30) == 0
        """

    @Test("the CloudEvents SDK reads what hush publish writes, and we read what it writes in structured mode")
    func speaksCloudEvents() throws {
        let topic = "events.\(suffix)"
        _ = try makeTopic(topic, partitionCount: 1)
        let kafka = try RealKafka.configuration()
        let line = Array(#"{"id":"order-42","recipient":"ada","title":"Café"}"#.utf8)
        let record = try line.withUnsafeBytes { bytes in
            try RecordPreparation(topic: .intents).prepare(
                bytes, eventID: "e1", now: Timestamp(millis: 1_764_583_200_123))
        }
        let producer = try RecordProducer(kafka, topics: [topic])
        try producer.send(topic, key: record.key, value: record.value, headers: record.headers)
        try producer.flush()
        let shown = try RealKafka.run(
            "python3",
            ["-c", Self.python, try #require(RealKafka.bootstrap), topic])
        #expect(
            try JSONDecoder().decode([String].self, from: Data(shown.utf8)) == [
                "hush.intent", "order-42", "hush/publish", "2025-12-01T10:00:00.123Z", "Café",
            ])
        let answer = try #require(try RecordReader(kafka, topics: [topic]).readToEnd().last)
        let type = try #require(answer.headers.first { $0.name == "content-type" })
        let input = try decode(
            .intents, bytes: answer.value, key: answer.key, contentType: String(decoding: type.value, as: UTF8.self))
        #expect(
            input.event
                == .intent(
                    Intent(
                        id: "order-42", recipient: "ada", body: .show(Content(json: #"{"title":"Café"}"#)),
                        created: Timestamp(millis: 1_764_583_200_123))))
        #expect(input.isKeyedByRecipient)
    }
}
