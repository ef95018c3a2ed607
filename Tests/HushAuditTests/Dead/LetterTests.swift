import HushCore
import HushStream
import HushWorkers
import Testing

@testable import HushAudit

/// Letters as a worker writes them.
enum LetterSamples {
    static func record(
        _ value: String?, key: String? = "ada", code: DeadCode = .badField, topic: Topic = .intents,
        offset: Int64 = 1201, headers: [RecordHeader] = [], at: Int64 = 1_764_583_300_000
    ) -> ReadRecord {
        ReadRecord(
            topic: "hush.dead", partition: 3, offset: 17, timeMillis: at, key: key.map { Array($0.utf8) },
            value: value.map { Array($0.utf8) },
            headers: DeadLetter.headers(
                of: headers, topic: topic.name, partition: 5, offset: offset, timeMillis: 1_764_583_200_123,
                stage: topic == .pushes ? .deliver : .plan, reason: DeadReason(code, "field \"id\" must not be empty")))
    }

    static func header(_ name: String, _ text: String) -> RecordHeader {
        RecordHeader(name: name, value: Array(text.utf8))
    }
}

@Suite("A dead letter as it is read")
struct LetterTests {
    @Test("it tells where its record died and why, and has the record's own headers alone")
    func reads() {
        let letter = Letter(LetterSamples.record("{}", headers: [LetterSamples.header("ce_id", "e1")]))
        #expect(letter.name == "3/17")
        #expect(letter.origin == TopicPlace(topic: .intents, partition: 5, offset: 1201))
        #expect(letter.originTime == Timestamp(millis: 1_764_583_200_123))
        #expect(letter.code == "bad_field")
        #expect(letter.stage == "plan")
        #expect(letter.headers == [LetterSamples.header("ce_id", "e1")])
        #expect(letter.history == nil)
        #expect(letter.isOurs)
    }

    @Test("a record of somebody else's, or one whose headers are no place, is foreign")
    func foreign() {
        var record = LetterSamples.record("{}")
        record.headers = []
        let letter = Letter(record)
        #expect(!letter.isOurs)
        #expect(LetterState(letter, isRedriven: false, attemptsMax: 3) == .foreign)
        var negative = LetterSamples.record("{}", offset: -4)
        #expect(!Letter(negative).isOurs)
        negative.headers.append(LetterSamples.header(DeadLetter.topicHeader, "their.topic"))
        #expect(!Letter(negative).isOurs)
    }

    @Test("an append time behind the death is not believed")
    func laterThanDeath() {
        #expect(Letter(LetterSamples.record("{}", at: 5)).originTime == Timestamp(millis: 5))
    }

    @Test("a value that was too large is told by its size and digest")
    func lost() {
        var record = LetterSamples.record(nil)
        record.headers += [
            LetterSamples.header("hush.error.value.bytes", "1048576"),
            LetterSamples.header("hush.error.value.sha256", "ab"),
        ]
        #expect(Letter(record).lost == Letter.LostValue(bytes: 1_048_576, digest: "ab"))
    }

    @Test("history passes through a redrive and another death, and the first death stays the first")
    func history() throws {
        let first = Letter(LetterSamples.record("{}"))
        let origin = try #require(first.origin)
        let once = RedriveHistory(of: first, from: origin, run: "r1")
        #expect(once.attempts == 1)
        let second = Letter(
            LetterSamples.record("{}", code: .missingField, offset: 1300, headers: once.headers, at: 1_764_583_400_000))
        #expect(second.history == once)
        #expect(second.headers == [])
        let twice = RedriveHistory(of: second, from: try #require(second.origin), run: "r2")
        #expect(twice.origin == origin)
        #expect(twice.attempts == 2)
        #expect(twice.firstAt == Timestamp(millis: 1_764_583_300_000))
        #expect(twice.firstCode == "bad_field")
        #expect(twice.lastAt == Timestamp(millis: 1_764_583_400_000))
        #expect(twice.lastCode == "missing_field")
        #expect(RedriveHistory(twice.headers) == twice)
    }

    @Test(
        "what may happen next",
        arguments: [(0, false, LetterState.waiting), (0, true, .redriven), (2, false, .waiting), (3, false, .parked)])
    func states(attempts: Int, isRedriven: Bool, state: LetterState) throws {
        var letter = Letter(LetterSamples.record("{}"))
        if attempts > 0 {
            var history = RedriveHistory(of: letter, from: try #require(letter.origin), run: "r")
            history.attempts = attempts
            letter.history = history
        }
        #expect(LetterState(letter, isRedriven: isRedriven, attemptsMax: 3) == state)
    }

    @Test("a filter takes what it names, and all where it names nothing")
    func filters() {
        let letter = Letter(LetterSamples.record("{}"))
        func takes(_ change: (inout LetterFilter) -> Void) -> Bool {
            var filter = LetterFilter()
            change(&filter)
            return filter.takes(letter)
        }
        #expect(LetterFilter().isEmpty && takes { _ in })
        #expect(takes { $0.codes = ["bad_field", "not_json"] } && !takes { $0.codes = ["not_json"] })
        #expect(takes { $0.stages = ["plan"] } && !takes { $0.stages = ["deliver"] })
        #expect(takes { $0.topics = [.intents] } && !takes { $0.topics = [.reads] })
        #expect(takes { $0.since = letter.at } && !takes { $0.since = letter.at.adding(millis: 1) })
        #expect(takes { $0.until = letter.at.adding(millis: 1) } && !takes { $0.until = letter.at })
        #expect(takes { $0.letters = ["3/17"] } && takes { $0.letters = ["hush.intents/5/1201"] })
        #expect(!takes { $0.letters = ["3/18"] })
    }

    @Test("counts come by code and state, and make a table")
    func summary() {
        var summary = LetterSummary()
        #expect(summary.text == "no dead letters\n")
        summary.take(Letter(LetterSamples.record("{}")), .waiting)
        summary.take(Letter(LetterSamples.record("{}", code: .notJSON)), .redriven)
        summary.take(Letter(LetterSamples.record("{}", topic: .pushes)), .waiting)
        #expect(
            summary.text == """
                3 dead letters, from 2025-12-01T10:01:40.000Z to 2025-12-01T10:01:40.000Z

                  code       all  waiting  redriven
                  bad_field    2        2         0
                  not_json     1        0         1
                by stage: deliver 1, plan 2
                by topic: hush.intents 2, hush.pushes 1

                """)
    }

    @Test("every code has a hint, and a code of a newer version too")
    func hints() {
        #expect(Set(DeadCode.allCases.map { DeadHint.text($0) }).count > 6)
        #expect(DeadCode.allCases.allSatisfy { DeadHint.text($0.rawValue) == DeadHint.text($0) })
        #expect(DeadHint.text("from_the_future").contains("does not know"))
    }

    @Test("a page shows text as text and other bytes as bytes, and nothing that drives a terminal")
    func pages() {
        let page = LetterText.page(Letter(LetterSamples.record("{\"id\":\"\"}")), .waiting)
        #expect(page.contains("died at   hush.intents/5/1201 (appended 2025-12-01T10:00:00.123Z), stage plan\n"))
        #expect(page.contains("value     9 bytes\n{\"id\":\"\"}\n"))
        #expect(page.contains("hint      The message names the field"))
        var record = LetterSamples.record("x")
        record.value = [0xff, 0x41, 0x1b]
        record.key = [0x1b, 0x5b]
        let bytes = LetterText.page(Letter(record), .waiting)
        #expect(bytes.contains("00000000  ff 41 1b                                         .A.\n"))
        #expect(bytes.contains("key       0x1b5b\n"))
        #expect(!bytes.contains("\u{1b}"))
    }
}
