import HushCore
import HushStream
import Testing

@testable import HushWorkers

/// What the planner does with records that it cannot take, and with those that stand in a foreign partition.
@Suite struct PlannerInputTests {
    typealias Output = PlannerConfiguration.Output

    static let long = String(repeating: "x", count: 1 << 20)
    static let deep = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)

    static let unusable: [(topic: InputTopic, value: [UInt8]?, key: [UInt8]?, code: String)] = [
        (.intents, Array("no json".utf8), Array("ada".utf8), "not_json"),
        (.intents, Array(#"{"id":"x""#.utf8), Array("ada".utf8), "not_json"),
        (.intents, Array("[1]".utf8), Array("ada".utf8), "not_object"),
        (.intents, nil, Array("ada".utf8), "no_value"),
        (.intents, [], Array("ada".utf8), "no_value"),
        (.intents, Array(#"{"title":"t"}"#.utf8), Array("ada".utf8), "missing_field"),
        (.intents, Array(#"{"id":"x"}"#.utf8), Array("ada".utf8), "missing_field"),
        (.intents, Array(#"{"id":"x","title":"t"}"#.utf8), nil, "missing_field"),
        (.intents, Array(#"{"id":"x","title":"t"}"#.utf8), [], "missing_field"),
        (.intents, Array(#"{"id":"x","title":7}"#.utf8), Array("ada".utf8), "bad_field"),
        (.intents, Array(#"{"id":42.0,"title":"t"}"#.utf8), Array("ada".utf8), "bad_field"),
        (.intents, Array(#"{"id":123456789012345678901,"title":"t"}"#.utf8), Array("ada".utf8), "bad_field"),
        (.intents, Array(#"{"id":"x","title":"t","ttl":1e400}"#.utf8), Array("ada".utf8), "not_json"),
        (.intents, Array(#"{"id":"x","title":"t","expires":1764583200000}"#.utf8), Array("ada".utf8), "bad_field"),
        (.intents, Array(#"{"id":"x","title":"\#(long)"}"#.utf8), Array("ada".utf8), "too_large"),
        (.intents, Array(#"{"id":"\#(long)","title":"t"}"#.utf8), Array("ada".utf8), "bad_field"),
        (.intents, Array(#"{"id":"x","title":"t","extras":{"a":\#(deep)}}"#.utf8), Array("ada".utf8), "too_deep"),
        (.intents, Array(#"{"id":"x","title":""#.utf8) + [0xff] + Array(#""}"#.utf8), Array("ada".utf8), "not_utf8"),
        (.intents, Array(#"{"id":"x","title":"t"}"#.utf8), [0xff], "not_utf8"),
        (
            .intents, Array(#"{"id":"x","audience":{"all":[]},"title":"t"}"#.utf8), Array("x".utf8),
            "bad_field"
        ),
        (.reads, Array(#"{"ids":[]}"#.utf8), Array("ada".utf8), "missing_field"),
        (.devices, Array(#"{"device":"d","token":"xyz","app":"chat"}"#.utf8), Array("ada".utf8), "bad_field"),
        (.signals, Array(#"{"device":"d","battery":2}"#.utf8), Array("ada".utf8), "bad_field"),
        (.fanout, Array("{}".utf8), Array("ada".utf8), "missing_field"),
        (.fanout, Array(#"{"id":"x","recipient":"ada","title":"t"}"#.utf8), Array("ada".utf8), "missing_field"),
    ]

    @Test("what cannot be read is kept byte for byte with a stable code, and has a line", arguments: unusable)
    func buries(_ example: (topic: InputTopic, value: [UInt8]?, key: [UInt8]?, code: String)) throws {
        let rig = try PlannerTaskRig()
        let given = [RecordHeader(name: "trace", value: [1, 0xff])]
        try rig.feed(example.topic, example.value, key: example.key, headers: given)
        let sent = try rig.commit()
        let dead = try #require(sent.first { $0.output == Output.dead.rawValue })
        #expect(dead.key == example.key)
        #expect(dead.value == example.value)
        #expect(dead.headers.first == given[0])
        let code = try #require(dead.headers.first { $0.name == DeadLetter.codeHeader })
        #expect(String(decoding: code.value, as: UTF8.self) == example.code)
        let lines = sent.filter { $0.output == Output.ledger.rawValue }
        #expect(lines.count == 2)
        let line = String(decoding: try #require(lines.first?.value), as: UTF8.self)
        #expect(line.contains(#""decision":"dead""#))
        #expect(sent.allSatisfy { $0.output != Output.pushes.rawValue })
    }

    static let usable: [(value: String, id: String)] = [
        (#"{"id":9007199254740993,"title":"t"}"#, "9007199254740993"),
        (#"{"id":"9007199254740993","title":"t"}"#, "9007199254740993"),
        (#"{"id":"caf\u00e9","title":"t"}"#, "caf\u{e9}"),
        (#"{"id":"cafe\u0301","title":"t"}"#, "cafe\u{301}"),
        (#"{"id":"x","title":"t","surprise":{"of":[1,2]}}"#, "x"),
        (#"{"id":"x","title":"t","surprise":123456789012345678901234567890}"#, "x"),
        (#"{"id":"x","title":"t","revision":null,"recipient":null}"#, "x"),
    ]

    @Test("large ids stay exact, and unknown fields are no error", arguments: usable)
    func takes(value: String, id: String) throws {
        let rig = try PlannerTaskRig()
        try rig.feed(.intents, value)
        let lines = try rig.commit(.ledger)
        // As bytes: Swift's strings call the composed and the decomposed form equal.
        let expected = Array(#""decision":"waiting","id":"\#(id)","recipient":"ada","revision":1,"#.utf8)
        #expect(Array(lines[0].utf8).split(separator: expected, maxSplits: 1).count == 2)
    }

    @Test("hush.dead takes the largest record that an input takes, with its headers and the reason")
    func largest() throws {
        let rig = try PlannerTaskRig()
        let header = RecordHeader(name: "trace", value: Array(repeating: 0xff, count: 1000))
        let key = Array(repeating: UInt8(ascii: "k"), count: 256)
        let value = Array(repeating: UInt8(ascii: "v"), count: TopicPlan.inputBytesMax - key.count - 1005)
        try rig.feed(.intents, value, key: key, headers: [header])
        let dead = try #require(try rig.commit().first { $0.output == Output.dead.rawValue })
        let size = dead.headers.reduce(key.count + value.count) { $0 + $1.name.utf8.count + $1.value.count }
        #expect(dead.value == value)
        #expect(size < TopicPlan.deadBytesMax && size <= rig.driver.context.recordBytesMax)
    }

    @Test("what is too large even for a dead letter leaves its size and digest there, and a plan line")
    func beyondDeadLetter() throws {
        let rig = try PlannerTaskRig()
        let value = Array(repeating: UInt8(ascii: "v"), count: rig.driver.context.recordBytesMax + 1)
        try rig.feed(.intents, value, key: Array("ada".utf8))
        let sent = try rig.commit()
        let dead = try #require(sent.first { $0.output == Output.dead.rawValue })
        #expect(dead.key == Array("ada".utf8))
        #expect(dead.value == nil)
        func header(_ name: String) -> String? {
            dead.headers.first { $0.name == name }.map { String(decoding: $0.value, as: UTF8.self) }
        }
        #expect(header("hush.error.value.bytes") == "\(value.count)")
        #expect(header("hush.error.value.sha256") == String(decoding: Hex.encode(SHA256.digest(value)), as: UTF8.self))
        let lines = sent.filter { $0.output == Output.ledger.rawValue }
            .map { String(decoding: $0.value ?? [], as: UTF8.self) }
        #expect(lines.count { $0.contains(#""decision":"dead""#) } == 1)
    }

    @Test("an intent whose effects Kafka refuses is a dead letter as it came, with a plan line")
    func unwritable() throws {
        let rig = try PlannerTaskRig()
        let intent = #"{"id":"order-42","recipient":"ada","title":"t"}"#
        try rig.feed(.intents, Array(intent.utf8), refusedFor: "too large for hush.pushes")
        let sent = try rig.commit()
        let dead = try #require(sent.first { $0.output == Output.dead.rawValue })
        #expect(dead.headers.contains(RecordHeader(name: DeadLetter.codeHeader, value: Array("unwritable".utf8))))
        let line = try #require(sent.first { $0.output == Output.ledger.rawValue }?.value)
        #expect(String(decoding: line, as: UTF8.self).contains(#""decision":"dead","id":"order-42""#))
    }

    @Test("ids that differ by Unicode form are two, 42 and \"42\" are one")
    func identity() throws {
        let rig = try PlannerTaskRig()
        for id in [#""caf\u00e9""#, #""cafe\u0301""#, "\"caf\u{e9}\"", "42", #""42""#] {
            try rig.feed(.intents, #"{"id":\#(id),"title":"t"}"#)
        }
        let decisions = try rig.commit(.ledger).dropLast().map { $0.contains("waiting") }
        #expect(decisions == [true, true, false, true, false])
    }

    static let origin = [
        RecordHeader(name: "hush.origin.partition", value: Array("1".utf8)),
        RecordHeader(name: "hush.origin.offset", value: Array("0".utf8)),
        RecordHeader(name: "hush.origin.time", value: Array("1764583201000".utf8)),
    ]

    @Test("a record in a foreign partition moves once, with its origin; its recipient leads, not its key")
    func moves() throws {
        let rig = try PlannerTaskRig()
        let value = Array(#"{"id":"x","recipient":"bob","title":"t"}"#.utf8)
        let home = Murmur2.partition(of: Array("bob".utf8), count: 4)
        try #require(home != 1)
        for key in [Array("ada".utf8), nil] {
            try rig.feed(.intents, value, key: key, headers: [RecordHeader(name: "trace", value: [7])])
        }
        let sent = try rig.commit()
        let moved = sent.filter { $0.output == Output.intents.rawValue }
        #expect(moved.map(\.partition) == [home, home])
        #expect(moved.map(\.key) == [Array("bob".utf8), Array("bob".utf8)])
        #expect(moved[0].value == value)
        #expect(moved[0].headers == [RecordHeader(name: "trace", value: [7])] + Self.origin)
        let line = try #require(sent.first { $0.output == Output.ledger.rawValue }?.value)
        let text = String(decoding: line, as: UTF8.self)
        #expect(text.contains(#""decision":"rekeyed","id":"x","recipient":"bob","cause""#))
    }

    @Test("a second mismatch is a dead letter")
    func misrouted() throws {
        let rig = try PlannerTaskRig()
        try rig.feed(
            .reads, Array(#"{"ids":["x","y"],"recipient":"bob"}"#.utf8), key: Array("bob".utf8), headers: Self.origin)
        let sent = try rig.commit()
        let dead = try #require(sent.first { $0.output == Output.dead.rawValue })
        #expect(dead.headers.contains(RecordHeader(name: DeadLetter.codeHeader, value: Array("misrouted".utf8))))
        #expect(sent.filter { $0.output == Output.ledger.rawValue }.count == 3)
        #expect(!sent.contains { $0.output == Output.reads.rawValue })
    }

    @Test("a register that was moved is versioned by its origin, so one made in between stands")
    func movedRegister() throws {
        let rig = try PlannerTaskRig()
        _ = try rig.feed(.devices, #"{"device":"phone","token":"02","app":"chat"}"#)
        let first = Array(#"{"recipient":"ada","device":"phone","token":"01","app":"chat"}"#.utf8)
        var origin = Self.origin
        origin[2].value = Array("1764583200500".utf8)
        try rig.feed(.devices, first, key: Array("ada".utf8), headers: origin)
        #expect(try rig.commit(.pushes).count == 1)
        // An origin later than the record itself is not believed.
        origin[2].value = Array("9764583200500".utf8)
        try rig.feed(.devices, first, key: Array("ada".utf8), headers: origin)
        let bind = try #require(try rig.commit(.pushes).last)
        #expect(bind.contains(#""version":[1764583203000,1,0]"#))
    }

    @Test("what is too large to move becomes a dead letter where it stands")
    func tooLargeToMove() throws {
        let rig = try PlannerTaskRig()
        let value = #"{"id":"x","recipient":"bob","title":"t","unknown":"\#(Self.long)"}"#
        try rig.feed(.intents, value)
        let dead = try #require(try rig.commit().first { $0.output == Output.dead.rawValue })
        #expect(dead.headers.contains(RecordHeader(name: DeadLetter.codeHeader, value: Array("too_large".utf8))))
    }
}
