import Foundation
import HushBase
import HushCore
import HushStream
import HushWorkers
import Testing

@testable import HushAudit

@Suite("What a redrive sends")
struct RedriveTests {
    private let drafter = RedriveDrafter(partitionCounts: [.intents: 12, .devices: 12, .pushes: 12], run: "r1")

    private func draft(_ record: ReadRecord, mended: String? = nil) throws -> RedriveDraft {
        let letter = Letter(record)
        return drafter.draft(
            letter, origin: try #require(letter.origin), value: mended.map { Array($0.utf8) } ?? letter.value,
            isMended: mended != nil)
    }

    private func text(_ draft: RedriveDraft, _ header: String) -> String? {
        draft.headers.last { $0.name == header }.map { String(decoding: $0.value, as: UTF8.self) }
    }

    @Test("the bytes are the original's; the headers tell the history, and when the record was first appended")
    func keepsBytes() throws {
        let record = LetterSamples.record(#"{"id":"x","title":"t"}"#, headers: [LetterSamples.header("ce_id", "e1")])
        let draft = try draft(record)
        #expect(draft.key == record.key && draft.value == record.value)
        #expect(text(draft, "ce_id") == "e1")
        #expect(text(draft, "hush.error.code") == nil)
        #expect(text(draft, "hush.origin.time") == "1764583200123")
        #expect(text(draft, "hush.origin.offset") == "1201")
        #expect(text(draft, "hush.redrive.origin") == "hush.intents/5/1201")
        #expect(text(draft, "hush.redrive.attempts") == "1")
        #expect(text(draft, "hush.redrive.run") == "r1")
        #expect(draft.again == nil && draft.id == "x" && draft.recipient == "ada")
    }

    @Test("a record that was moved keeps its origin, and goes to its recipient's partition whatever its key")
    func misrouted() throws {
        let moved = [
            LetterSamples.header("hush.origin.partition", "1"), LetterSamples.header("hush.origin.offset", "2"),
            LetterSamples.header("hush.origin.time", "3"),
        ]
        let draft = try draft(
            LetterSamples.record(
                #"{"id":"x","recipient":"bob","title":"t"}"#, key: "wrong", code: .misrouted, headers: moved))
        #expect(draft.partition == Murmur2.partition(of: Array("bob".utf8), count: 12))
        #expect(draft.headers.filter { $0.name == "hush.origin.time" } == [moved[2]])
    }

    @Test("a record that would die again says so, and a mended value would not")
    func foresees() throws {
        let record = LetterSamples.record(#"{"id":"x"}"#, code: .missingField)
        #expect(try draft(record).again?.code == .missingField)
        let mended = try draft(record, mended: #"{"id":"x","title":"t"}"#)
        #expect(mended.again == nil && mended.isMended)
    }

    @Test("without a key it goes where it stood; a push goes by its address")
    func places() throws {
        #expect(try draft(LetterSamples.record("?", key: nil)).partition == 5)
        let push = try draft(LetterSamples.record("{}", topic: .pushes))
        #expect(push.partition == nil && text(push, "hush.origin.time") == nil && push.again == nil)
    }

    @Test("an export that comes back mended replaces values by the place where they died")
    func mendedFile() throws {
        let letter = Letter(LetterSamples.record(#"{"id":"x"}"#))
        var binary = LetterSamples.record("", offset: 9)
        binary.value = [0xff]
        let lines = LetterText.json(letter, .waiting) + Array("\n".utf8) + LetterText.json(Letter(binary), .waiting)
        let text = String(decoding: lines, as: UTF8.self)
        #expect(text.contains(#""value":"{\"id\":\"x\"}""#) && text.contains(#""value_base64":"/w==""#))
        let mended = text.replacingOccurrences(of: #"{\"id\":\"x\"}"#, with: #"{\"id\":\"y\"}"#)
        let values = try MendedFile.read(Array(mended.utf8))
        #expect(values.count == 2)
        #expect(values[TopicPlace(topic: .intents, partition: 5, offset: 1201)] == Array(#"{"id":"y"}"#.utf8))
        #expect(values[TopicPlace(topic: .intents, partition: 5, offset: 9)] == [0xff])
    }

    @Test(
        "a mended file that cannot be is told by its line",
        arguments: [
            ("{", "line 1: is no JSON object"), ("\n{\"value\":\"x\"}", "line 2: has no origin"),
            (#"{"origin":{"topic":"hush.intents","partition":1,"offset":2}}"#, "line 1: has neither value"),
            (#"{"origin":{"topic":"x","partition":1,"offset":2},"value":""}"#, "line 1: has no origin"),
            (#"{"origin":{"topic":"hush.reads","partition":1,"offset":2},"value_base64":"%"}"#, "is no base64"),
            (
                #"{"origin":{"topic":"hush.reads","partition":1,"offset":2},"value":"a"}"# + "\n"
                    + #"{"origin":{"topic":"hush.reads","partition":1,"offset":2},"value":"b"}"#,
                "line 2: hush.reads/1/2 stands in the file twice"
            ),
        ])
    func badMended(text: String, problem: String) throws {
        let error = #expect(throws: MendedFile.Problem.self) { try MendedFile.read(Array(text.utf8)) }
        #expect(try #require(error).description.contains(problem))
    }

    @Test("marks say what was redriven and where the ledger stands; what is none of ours stops a redrive")
    func marks() throws {
        func take(_ key: String, _ value: [UInt8], into marks: inout RedriveMarks) throws {
            try marks.take(
                ReadRecord(
                    topic: "m", partition: 0, offset: 0, timeMillis: 0, key: Array(key.utf8), value: value, headers: []),
                "m", JSONDocument())
        }
        var marks = RedriveMarks()
        let place = TopicPlace(topic: .intents, partition: 5, offset: 1201)
        let mark = RedriveMark.Redriven(at: Timestamp(millis: 0), attempt: 1, to: place, run: "r1")
        try take("hush.intents/5/1201", RedriveMark.value(mark), into: &marks)
        let state = LedgerState(next: 7, previous: Array(repeating: 0xab, count: 32))
        try take("redrive-0", RedriveMark.value(state), into: &marks)
        #expect(marks.redriven == [place] && marks.ledger == state)
        let bad = [("redrive-0", #"{"v":1}"#), ("redrive-0", #"{"v":2}"#), ("x", #"{"v":1}"#), ("a/1/2", "?")]
        for (key, value) in bad {
            #expect(throws: StreamFault.self) { try take(key, Array(value.utf8), into: &marks) }
        }
    }

    @Test("a redrive line and its order line, byte for byte")
    func ledgerLines() {
        let book = LedgerBook(
            task: LedgerBook.redriveTask, stage: LedgerBook.redriveStage, config: "c", build: "b")
        var lines: [String] = []
        let line = RedriveLine(
            recipient: "ada", id: "order-42", code: "bad_field", attempt: 1, mended: "ab",
            letter: TopicPlace(topic: .dead, partition: 3, offset: 17),
            origin: TopicPlace(topic: .intents, partition: 5, offset: 1201),
            to: TopicPlace(topic: .intents, partition: 5, offset: 1300), run: "r1")
        let now = Timestamp(millis: 1_764_583_200_123)
        book.took(.dead)
        book.write(line, at: now) { lines.append(String(decoding: $0, as: UTF8.self)) }
        book.writeOrder(at: now) { lines.append(String(decoding: $0, as: UTF8.self)) }
        #expect(
            lines[0] == """
                {"v":1,"task":"redrive-0","n":0,"at":"2025-12-01T10:00:00.123Z","stage":"redrive","action":"redriven",\
                "recipient":"ada","id":"order-42","code":"bad_field","attempt":1,"mended":"ab",\
                "letter":{"topic":"hush.dead","partition":3,"offset":17},\
                "origin":{"topic":"hush.intents","partition":5,"offset":1201},\
                "to":{"topic":"hush.intents","partition":5,"offset":1300},"run":"r1"}
                """)
        #expect(
            lines[1].hasPrefix(
                """
                {"v":1,"task":"redrive-0","n":1,"at":"2025-12-01T10:00:00.123Z","stage":"redrive",\
                "order":[["hush.dead",1]],"ends":{},"config":"c","build":"b","previous":"\(String(repeating: "0", count: 64))",\
                "digest":"
                """))
    }

    @Test("a forecast tells what is too old for the planner: before the dedupe window, or past its life")
    func forecast() {
        let day = Duration.seconds(86_400)
        // The records were appended, and died, on the first of December 2025.
        let died = Timestamp(millis: 1_764_583_200_123)
        let letters = [
            #"{"id":"a","title":"t"}"#, #"{"id":"b","title":"t","ttl":60}"#,
            #"{"id":"c","title":"t","created":"2025-11-20T10:00:00Z"}"#, #"{"id":"d","retract":true}"#,
            #"{"id":"e"}"#, #"{"id":"f","audience":{"all":["ios"]},"title":"t"}"#,
        ].map { Letter(LetterSamples.record($0, code: .unwritable)) }
        func text(after age: Duration, _ change: (inout Policy) -> Void = { _ in }) -> String {
            var policy = Policy()
            change(&policy)
            let forecast = RedriveForecast(
                partitionCounts: [.intents: 12], RedriveOptions(run: "r1"), policy, now: died + age)
            for letter in letters { forecast.take(letter, .waiting) }
            return forecast.text
        }
        let head = "would redrive 6: 5 can be read now\nwould die again: 1 missing_field\n"
        let stale = "stale, created before the dedupe window (planner.dedupe.window)\n"
        #expect(
            text(after: .seconds(61)) == head + "would show nothing: 1 \(stale)would show nothing: 1 expired\n")
        #expect(
            text(after: day * 4) == head + "would show nothing: 1 \(stale)would show nothing: 3 expired\n")
        #expect(text(after: day * 8) == head + "would show nothing: 5 \(stale)")
        #expect(text(after: day * 8) { $0.dedupeWindow = day * 30 } == head + "would show nothing: 4 expired\n")
    }

    @Test("a record that was moved counts from where it was first appended, and never from later than it died")
    func firstAppended() throws {
        func appended(_ time: String) throws -> Int64 {
            try draft(
                LetterSamples.record(
                    #"{"id":"x","title":"t"}"#, headers: [LetterSamples.header("hush.origin.time", time)])
            ).firstAppended.millis
        }
        #expect(try appended("1764583100000") == 1_764_583_100_000)
        #expect(try appended("1999999999999") == 1_764_583_200_123)
        #expect(try appended("soon") == 1_764_583_200_123)
    }

    @Test("letters go at the rate that was asked for, and a pause is not made up for")
    func pacer() {
        let start = MonotonicTime(nanos: 0)
        var pacer = RatePacer(perSecond: 10, now: start)
        #expect(pacer.take(start) == .zero)
        #expect(pacer.take(start) == .milliseconds(100))
        #expect(pacer.take(start + .milliseconds(150)) == .milliseconds(50))
        #expect(pacer.take(start + .seconds(10)) == .zero)
        #expect(pacer.take(start + .seconds(10)) == .milliseconds(100))
        var unbounded = RatePacer(perSecond: nil, now: start)
        #expect(unbounded.take(start) == .zero && unbounded.take(start) == .zero)
        var slowest = RatePacer(perSecond: 1e-12, now: start)
        #expect(slowest.take(start) == .zero)
        #expect(slowest.take(start) == .seconds(1000))
    }

    @Test("a reading that is told to stop shows nothing more, and is never taken for whole")
    func stops() {
        var taken = 0
        #expect(throws: ReadingStopped.self) {
            _ = try LetterReader.drain(
                patience: .seconds(10), isStopped: { taken == 2 }, { taken + 1 }, { true }, { _ in taken += 1 })
        }
        #expect(taken == 2)
    }

    @Test("letters may take longer than the patience one by one; where none comes for so long, the reading ends")
    func drain() throws {
        var time = MonotonicTime(nanos: 0)
        var waiting = [1, 2, 3]
        var taken: [Int] = []
        func drain(isCaughtUp: Bool) throws -> Bool {
            try LetterReader.drain(
                patience: .seconds(10), now: { time },
                {
                    time = time + .seconds(1)
                    return waiting.isEmpty ? nil : waiting.removeFirst()
                }, { isCaughtUp },
                {
                    taken.append($0)
                    time = time + .seconds(60)
                })
        }
        #expect(try drain(isCaughtUp: true) == true)
        #expect(taken == [1, 2, 3])
        waiting = [4, 5]
        #expect(try drain(isCaughtUp: false) == false)
        #expect(taken == [1, 2, 3, 4, 5])
    }
}
