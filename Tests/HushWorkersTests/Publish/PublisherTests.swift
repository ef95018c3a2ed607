import HushCore
import HushStream
import HushWorkers
import Testing

@Suite("Publishing")
struct PublisherTests {
    private let now = Timestamp(millis: 1_764_583_200_123)

    private func prepare(_ topic: InputTopic, _ line: String) throws -> PreparedRecord {
        try Array(line.utf8).withUnsafeBytes { bytes in
            try RecordPreparation(topic: topic).prepare(bytes, eventID: "e1", now: now)
        }
    }

    @Test("an intent is keyed by its recipient, gets created, and is a CloudEvent in binary mode")
    func preparesIntent() throws {
        let record = try prepare(.intents, #" { "id": "order-42", "recipient": "ada", "title": "Caf\u00e9" } "#)
        #expect(String(decoding: record.key, as: UTF8.self) == "ada")
        #expect(
            String(decoding: record.value, as: UTF8.self)
                == #"{"id":"order-42","recipient":"ada","title":"Café","created":"2025-12-01T10:00:00.123Z"}"#)
        #expect(
            record.headers.map { "\($0.name)=\(String(decoding: $0.value, as: UTF8.self))" } == [
                "content-type=application/json", "ce_specversion=1.0", "ce_id=e1", "ce_source=hush/publish",
                "ce_type=hush.intent", "ce_time=2025-12-01T10:00:00.123Z", "ce_subject=order-42",
            ])
    }

    @Test("a registration waits until an earlier one of its token is settled, and for no other")
    func registrationOrder() throws {
        var order = RegistrationOrder()
        let first = try prepare(.devices, #"{"recipient":"ada","device":"d","token":"AB","app":"a"}"#)
        let second = try prepare(.devices, #"{"recipient":"bob","device":"d","token":"ab","app":"a"}"#)
        let token = try #require(first.token)
        #expect(second.token == token)
        #expect(try prepare(.devices, #"{"recipient":"ada","device":"d","unregister":true}"#).token == nil)
        // What was settled at the third is settled for all.
        let answers = [token, "cd", token, "cd", token].map { order.mustSettle(before: $0) }
        #expect(answers == [false, false, true, false, true])
    }

    @Test("created stays as it is where it is given; null is not given")
    func keepsCreated() throws {
        func value(_ line: String) throws -> String {
            String(decoding: try prepare(.intents, line).value, as: UTF8.self)
        }
        #expect(
            try value(#"{"id":1,"recipient":"a","title":"x","created":5}"#)
                == #"{"id":1,"recipient":"a","title":"x","created":5}"#)
        #expect(
            try value(#"{"id":1,"created":null,"recipient":"a","title":"x"}"#)
                == #"{"id":1,"recipient":"a","title":"x","created":"2025-12-01T10:00:00.123Z"}"#)
    }

    @Test("the other inputs pass as they are, each with its type and subject")
    func preparesOthers() throws {
        let lines: [(InputTopic, String, String, String?)] = [
            (.reads, #"{"recipient":"ada","id":"o"}"#, "hush.read", "o"),
            (.reads, #"{"recipient":"ada","ids":["o","p"]}"#, "hush.read", nil),
            (
                .devices, #"{"recipient":"ada","device":"d","token":"AB","app":"a"}"#, "hush.device.register", "d"
            ),
            (.devices, #"{"recipient":"ada","device":"d","unregister":true}"#, "hush.device.unregister", "d"),
            (.signals, #"{"recipient":"ada","device":"d","battery":0.5}"#, "hush.signal", "d"),
        ]
        for (topic, line, type, subject) in lines {
            let record = try prepare(topic, line)
            func header(_ name: String) -> String? {
                record.headers.first { $0.name == name }.map { String(decoding: $0.value, as: UTF8.self) }
            }
            #expect(String(decoding: record.value, as: UTF8.self) == line)
            #expect(header("ce_type") == type)
            #expect(header("ce_subject") == subject)
        }
    }

    @Test("a line without recipient is refused: there is no key to take it from")
    func needsRecipient() {
        #expect(throws: DeadReason(.missingField, "field \"recipient\" is missing")) {
            try prepare(.intents, #"{"id":1,"title":"x"}"#)
        }
    }

    @Test("bad lines are told by number and field, and the rest counts")
    func tellsBadLines() throws {
        var problems: [String] = []
        let publisher = Publisher(
            .intents, producer: nil, now: { now }, newEventID: { "e" }, problem: { problems.append("\($0): \($1)") })
        let text =
            "{\"id\":1,\"recipient\":\"a\",\"title\":\"x\"}\r\n\n  \n{\"id\":1,\"recipient\":\"a\",\"title\":5}\n"
            + "\(String(repeating: "x", count: 2_000_000))\n{\"id\":2,\"recipient\":\"a\",\"retract\":true}"
        for chunk in stride(from: 0, to: text.utf8.count, by: 1000) {
            let bytes = Array(Array(text.utf8)[chunk..<min(chunk + 1000, text.utf8.count)])
            try bytes.withUnsafeBytes { try publisher.take($0) }
        }
        let summary = try publisher.finish()
        #expect(summary.lines == 4)
        #expect(summary.published == 2)
        #expect(summary.refused == 2)
        #expect(!summary.isComplete)
        #expect(
            problems == [
                "4: bad_field: field \"title\" must be a string", "5: too_large: the line exceeds 1048588 bytes",
            ])
    }

    @Test("lines come whole however the bytes are cut")
    func splitsLines() {
        let text = Array("ab\n\ncd\r\nefgh\nij".utf8)
        for size in 1...text.count {
            var splitter = LineSplitter(bytesMax: 3)
            var lines: [LineSplitter.Line] = []
            for start in stride(from: 0, to: text.count, by: size) {
                Array(text[start..<min(start + size, text.count)]).withUnsafeBytes { bytes in
                    splitter.take(bytes) { line, _ in lines.append(line) }
                }
            }
            splitter.finish { line, number in
                lines.append(line)
                #expect(number == 5)
            }
            #expect(
                lines == [
                    .line(Array("ab".utf8)), .line([]), .line(Array("cd".utf8)), .tooLong, .line(Array("ij".utf8)),
                ])
        }
    }

    @Test("what is published to the embedded broker is read back, keyed and ordered")
    func publishesToEmbeddedBroker() throws {
        let broker = try EmbeddedBroker()
        try broker.create("hush.intents", partitionCount: 4)
        let kafka = try KafkaConfiguration(bootstrapServers: broker.bootstrapServers)
        var problems: [String] = []
        var delivered: [Int] = []
        let publisher = try Publisher(
            .intents, kafka: kafka, now: { now }, newEventID: { "e" }, problem: { problems.append("\($0): \($1)") },
            delivered: { line, _, _ in delivered.append(line) })
        let text = (1...50).map { #"{"id":\#($0),"recipient":"r\#($0 % 5)","title":"x"}"# }.joined(separator: "\n")
        try Array(text.utf8).withUnsafeBytes { try publisher.take($0) }
        #expect(try publisher.finish() == PublishSummary(lines: 50, published: 50))
        #expect(problems.isEmpty)
        #expect(delivered.sorted() == Array(1...50))
        let records = try RecordReader(kafka, topics: ["hush.intents"]).readToEnd()
        #expect(records.count == 50)
        for record in records {
            let key = try #require(record.key)
            #expect(record.partition == Murmur2.partition(of: key, count: 4))
            #expect(record.headers.contains(RecordHeader(name: "ce_specversion", value: Array("1.0".utf8))))
            let input = try decode(.intents, bytes: record.value, key: key)
            #expect(input.isKeyedByRecipient)
        }
    }

    @Test("a topic that is missing is refused with what to do")
    func refusesMissingTopic() throws {
        let broker = try EmbeddedBroker()
        try broker.create("other", partitionCount: 1)
        let kafka = try KafkaConfiguration(bootstrapServers: broker.bootstrapServers)
        #expect(throws: StreamFault.refused("hush.reads is missing: run hush topics create")) {
            try Publisher(.reads, kafka: kafka, now: { now }, newEventID: { "e" }, problem: { _, _ in })
        }
    }

    @Test("a broker that is down is told, in time")
    func tellsBrokerDown() throws {
        let kafka = try KafkaConfiguration(bootstrapServers: "127.0.0.1:1")
        #expect(throws: StreamFault.self) {
            try Publisher(
                .reads, kafka: kafka, timeout: .milliseconds(500), now: { now }, newEventID: { "e" },
                problem: { _, _ in })
        }
    }
}
