import Foundation
import HushCore
import HushStream
import HushWorkers
import Testing

@testable import HushAudit

/// The tables that an audit keeps, and what it writes.
@Suite struct AuditPartsTests {
    @Test("open ops are matched from either side through growth and removal, as a dictionary does it")
    func openOps() {
        var random = SplitMix64(seed: 11)
        var open = OpenOps()
        var model: [OpenOps.Key: Bool] = [:]
        // Few keys, so that they meet; all in one place, so that they collide.
        func key(_ number: UInt64) -> OpenOps.Key {
            number.isMultiple(of: 3)
                ? .init(what: 5 << 58 | number, device: number) : .init(what: number << 40 | number, device: 1)
        }
        for _ in 0..<200_000 {
            let key = key(random.next() % 9000)
            let isFinal = random.next().isMultiple(of: 2)
            let change = open.take(key, place: Place(3, 9), cause: CauseWord(.reads, 2, 7), isFinal: isFinal)
            switch (model[key], change) {
            case (nil, .added): model[key] = isFinal
            case (isFinal, .repeated): break
            case (!isFinal, .matched): model[key] = nil
            default: Issue.record("\(key): \(change), and the model has \(String(describing: model[key]))")
            }
        }
        var seen = 0
        open.forEach { entry in
            seen += 1
            #expect(model[entry.key] == entry.isEarly)
            #expect(entry.place == Place(3, 9) && entry.cause == CauseWord(.reads, 2, 7))
        }
        #expect(seen == model.count)
    }

    @Test("bits of ops are set once, and are told in order")
    func offsetBits() {
        var bits = OffsetBits()
        let ops: [(Int32, Int64, Int32)] = [(0, 0, 0), (0, 65_535, 0), (0, 65_536, 0), (0, 3, 2), (2, 1 << 33, 63)]
        // Taken out of the expectations, for their macro would copy what cannot be copied.
        for isNew in [true, false] {
            for (partition, offset, index) in ops {
                let wasNew = bits.insert(partition, offset, index)
                #expect(wasNew == isNew)
            }
        }
        let found = [bits.contains(2, 1 << 33, 63), bits.contains(2, 1 << 33, 62), bits.contains(1, 0, 0)]
        #expect(found == [true, false, false])
        var told: [String] = []
        bits.forEach { told.append("\($0):\($1):\($2)") }
        #expect(told == ["0:0:0", "0:65535:0", "0:65536:0", "0:3:2", "2:8589934592:63"])
    }

    @Test(
        "a range of offsets is read, and nothing else",
        arguments: [
            ("hush.intents-3:1200-1300", AuditScope.Offsets(topic: .intents, partition: 3, first: 1200, last: 1300)),
            ("hush.reads-0:0-0", AuditScope.Offsets(topic: .reads, partition: 0, first: 0, last: 0)),
            ("hush.ledger-0:0-0", nil), ("hush.intents:1-2", nil), ("hush.intents-3:2-1", nil),
            ("hush.intents-3:1-", nil), ("hush.intents--3:1-2", nil), ("", nil), ("hush.intents-3:1-2:3", nil),
        ])
    func offsets(text: String, offsets: AuditScope.Offsets?) {
        #expect(AuditScope.Offsets(text) == offsets)
    }

    @Test("the report is text that ends with the verdict, and JSON with the same counts")
    func report() throws {
        let rig = try AuditRig()
        try rig.playDay()
        let report = try rig.audit()
        #expect(report.text.hasSuffix("\nthe books are right"))
        #expect(report.text.contains("lines called for"))
        let json = try #require(JSONSerialization.jsonObject(with: Data(report.json)) as? [String: Any])
        #expect(json["verdict"] as? String == "proved")
        let total = try #require(json["total"] as? [String: Any])
        #expect(total["wanted"] as? Int == report.total.wanted)
        #expect((total["decisions"] as? [String: Int])?["duplicate"] == 1)
        rig.ledger.remove(at: 3)
        let wrong = try rig.audit()
        #expect(wrong.text.contains("missing_lines hush.ledger-0@3: plan-0: line 3 is missing before this offset"))
        #expect(wrong.text.hasSuffix("violations"))
    }

    @Test("a story goes from the intent to each device's outcome, and says how each op stands")
    func story() throws {
        let rig = try AuditRig()
        try rig.playDay()
        try rig.publish(.intents, #"{"id":"late","recipient":"ada","title":"x"}"#)
        try rig.commit()
        try rig.deliver(.rejected, pending: 1)
        func story(_ id: Bytes) -> Story {
            let story = Story(recipient: "ada", id: id)
            for topic in [InputTopic.intents, .reads, .devices, .signals] {
                for (offset, input) in rig.inputs[Int(topic.rawValue)].enumerated() {
                    AuditRig.show(offset, input.key, input.value) { story.takeInput(topic, $0) }
                }
            }
            for (offset, line) in rig.ledger.enumerated() { AuditRig.show(offset, [], line) { story.takeLine($0) } }
            return story
        }
        let late = story("late").text
        #expect(late.contains("an intent to show it (no revision, silent)"))
        #expect(
            late.contains("planned: create for pad, create for phone")
                || late.contains("planned: create for phone, create for pad"))
        #expect(late.contains("pending, and nothing is told of it since it was planned"))
        #expect(late.contains("rejected, final"))
        let one = story("one").text
        #expect(one.contains("an intent to show it (revision 2, silent)"))
        #expect(one.contains("read (no revision)"))
        #expect(one.contains("delete for phone"))
        #expect(story("none").text.contains("no op was planned for any device"))
        #expect(Story(recipient: "bob", id: "one").isEmpty)
    }
}
