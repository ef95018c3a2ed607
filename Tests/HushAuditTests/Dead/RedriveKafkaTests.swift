import Foundation
import HushAPNs
import HushBase
import HushCore
import HushStream
import HushWorkers
import Synchronization
import Testing

@testable import HushAudit

private let environment = ProcessInfo.processInfo.environment
private let bootstrap = environment["HUSH_TEST_KAFKA"]
/// Dead letters of each code; `scripts/redrive-all` sets more.
private let lettersPerCode = environment["HUSH_TEST_LETTERS"].flatMap { Int($0) } ?? 10

/// An installation of its own on the broker that `scripts/test` starts: topics, and a planner.
private final class DeadRig {
    let kafka: KafkaConfiguration
    let names: TopicNames
    let partitions: Int32 = 3
    private let directory: String
    private var slot: StreamSlot<PlannerApplication>?
    private let producer: RecordProducer

    init() throws {
        kafka = try KafkaConfiguration(bootstrapServers: bootstrap ?? "")
        let names = TopicNames(prefix: "dead-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))-")
        self.names = names
        directory = FileManager.default.temporaryDirectory.appending(path: "hush-\(names.prefix)").path
        var plan = TopicPlan()
        plan.plannerPartitions = partitions
        plan.delivererPartitions = partitions
        let definitions = plan.definitions.map { definition in
            var own = definition
            own.name = names.prefix + definition.name
            return own
        }
        try TopicAdmin(kafka).create(definitions)
        _ = try TopicAdmin(kafka).describe(definitions.map(\.name), waitingUpTo: .seconds(30))
        _ = try GroupOffsets.commitStart(
            of: Topic.plannerInputs.map(names.name), group: names.prefix + "plan", kafka: kafka)
        producer = try RecordProducer(kafka, topics: definitions.map(\.name))
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(atPath: directory)
    }

    func start() throws {
        var stream = PlannerConfiguration.stream(
            slotName: "s0", partitionCount: partitions, pushesPartitionCount: partitions)
        stream.groupID = names.prefix + "plan"
        stream.transactionalIDPrefix = names.prefix
        stream.inputs = stream.inputs.map { names.prefix + $0 }
        for index in stream.outputs.indices { stream.outputs[index].topic = names.prefix + stream.outputs[index].topic }
        for index in stream.tables.indices {
            stream.tables[index].changelog = names.prefix + stream.tables[index].changelog
        }
        let slot = try StreamSlot(stream, kafka: kafka, home: try StateHome(directory: directory), log: .silent) {
            PlannerApplication(PlannerConfiguration(build: "test"))
        }
        try slot.start()
        self.slot = slot
    }

    func stop() {
        slot?.stop()
        _ = slot?.join()
        slot = nil
    }

    func send(
        _ topic: Topic, key: String, value: [UInt8]?, headers: [RecordHeader] = [], partition: Int32? = nil
    ) throws {
        try producer.send(
            names.name(topic), partition: partition, key: Array(key.utf8), value: value, headers: headers)
    }

    func flush() throws {
        try producer.flush()
        #expect(producer.failed == 0)
    }

    func letters() throws -> [Letter] {
        try RecordReader(kafka, topics: [names.name(.dead)]).readToEnd(within: .seconds(120)).map { Letter($0) }
    }

    func waitForLetters(_ count: Int) throws -> [Letter] {
        let deadline = ContinuousClock.now + .seconds(240)
        while true {
            let found = try letters()
            if found.count >= count || ContinuousClock.now >= deadline { return found }
            usleep(200_000)
        }
    }

    func options(_ run: String) -> RedriveOptions {
        var options = RedriveOptions(run: run)
        options.names = names
        options.rate = nil
        options.transactionalID = names.prefix + "redrive"
        return options
    }

    func redrive(_ options: RedriveOptions) throws -> RedriveSummary {
        let redriver = try Redriver(kafka, options)
        try LetterReader.readAll(kafka, names: names) { _ = try redriver.take($0) }
        return try redriver.finish()
    }

    func ledger() throws -> [ReadRecord] {
        try RecordReader(kafka, topics: [names.name(.ledger)]).readToEnd(within: .seconds(120))
    }
}

/// The books, read by code that shares nothing with what wrote them.
private struct DeadBooks {
    private(set) var lines: [[String: Any]] = []

    init(_ records: [ReadRecord]) throws {
        var chains: [String: (lines: Int, previous: String, open: Data)] = [:]
        for record in records {
            let value = Data(record.value ?? [])
            let line = try #require(try JSONSerialization.jsonObject(with: value) as? [String: Any])
            lines.append(line)
            let task = line["task"] as? String ?? ""
            var chain = chains[task] ?? (0, String(repeating: "0", count: 64), Data())
            #expect(line["n"] as? Int == chain.lines)
            chain.lines += 1
            if line["order"] != nil {
                #expect(line["previous"] as? String == chain.previous)
                let text = String(decoding: value, as: UTF8.self)
                let head = try #require(text.range(of: ",\"digest\":")).lowerBound
                let hash = SHA256Digest()
                hash.update([UInt8](chain.open) + Array(text[..<head].utf8))
                chain.previous = String(decoding: Hex.encode(hash.finish()), as: UTF8.self)
                #expect(line["digest"] as? String == chain.previous)
                chain.open = Data()
            } else {
                chain.open += value + Data("\n".utf8)
            }
            chains[task] = chain
        }
    }

    var planLines: [[String: Any]] { lines.filter { $0["decision"] != nil } }
    var redriveLines: [[String: Any]] { lines.filter { $0["action"] != nil } }

    static func place(_ line: [String: Any], _ name: String) -> String {
        let place = line[name] as? [String: Any] ?? [:]
        return "\(place["topic"] ?? "")/\(place["partition"] ?? "")/\(place["offset"] ?? "")"
    }
}

@Suite("Redriving on Kafka", .serialized, .enabled(if: bootstrap != nil, "needs a real Kafka: scripts/test"))
struct RedriveKafkaTests {
    private struct Crash: Error {}

    /// A record that dies with this code, and the headers that make it.
    private func broken(_ code: DeadCode, _ id: String) -> (value: [UInt8], headers: [RecordHeader])? {
        let nested = String(repeating: "[", count: 80) + String(repeating: "]", count: 80)
        func text(_ text: String) -> ([UInt8], [RecordHeader]) { (Array(text.utf8), []) }
        switch code {
        case .noValue: return ([], [])
        case .notUTF8: return (Array(#"{"id":""#.utf8) + [0xff] + Array(#""}"#.utf8), [])
        case .notJSON: return text(#"{"id":"#)
        case .notObject: return text("[1]")
        case .tooDeep: return text(#"{"x":\#(nested)}"#)
        case .tooLarge: return text(#"{"id":"\#(id)","title":"\#(String(repeating: "x", count: 5000))"}"#)
        case .badEnvelope:
            return (
                Array(#"{"specversion":"0.3"}"#.utf8),
                [LetterSamples.header("content-type", "application/cloudevents+json")]
            )
        case .missingField: return text(#"{"id":"\#(id)"}"#)
        case .badField: return text(#"{"id":"\#(id)","title":"t","revision":"new"}"#)
        default: return nil
        }
    }

    /// Makes letters of every code: by the planner where an input can have it, else as the stage would write them.
    private func kill(_ rig: DeadRig) throws -> Int {
        // Of now: what was first appended before the dedupe window is stale, redriven or not.
        let now = WallClock.nowMillis()
        let moved = [
            LetterSamples.header("hush.origin.partition", "0"), LetterSamples.header("hush.origin.offset", "0"),
            LetterSamples.header("hush.origin.time", "\(now)"),
        ]
        for (place, code) in DeadCode.allCases.enumerated() {
            for number in 0..<lettersPerCode {
                let id = "\(code.rawValue)-\(number)"
                let recipient = "r\(number)"
                let good = Array(#"{"id":"\#(id)","title":"t"}"#.utf8)
                if let broken = broken(code, id) {
                    try rig.send(.intents, key: recipient, value: broken.value, headers: broken.headers)
                } else if code == .misrouted {
                    let home = Murmur2.partition(of: Array(recipient.utf8), count: rig.partitions)
                    try rig.send(
                        .intents, key: recipient, value: good, headers: moved, partition: (home + 1) % rig.partitions)
                } else {
                    let headers = DeadLetter.headers(
                        of: [], topic: Topic.intents.name, partition: 0,
                        offset: Int64(1_000_000 * (place + 1) + number), timeMillis: now,
                        stage: .plan, reason: DeadReason(code, "test"))
                    try rig.send(.dead, key: recipient, value: good, headers: headers)
                }
            }
        }
        try rig.flush()
        return DeadCode.allCases.count * lettersPerCode
    }

    /// What the operator puts right: an intent for what was no intent.
    private func mend(_ letters: [Letter]) throws -> [TopicPlace: [UInt8]] {
        var text: [UInt8] = []
        for letter in letters where !["misrouted", "undeliverable", "unwritable"].contains(letter.code) {
            let origin = try #require(letter.origin)
            let id = "\(letter.code)-\(origin.partition)-\(origin.offset)"
            var mended = letter
            mended.value = Array(#"{"id":"\#(id)","title":"t"}"#.utf8)
            // The envelope that was wrong is put right in the value alone: bare JSON, whatever the header says.
            if letter.code == "bad_envelope" {
                mended.value = Array(#"{"specversion":"1.0","data":{"id":"\#(id)","title":"t"}}"#.utf8)
            }
            text += LetterText.json(mended, .waiting)
        }
        return try MendedFile.read(text)
    }

    @Test("dead letters of every code are redriven once each, over a crash and a second redrive, and the books balance")
    func everyCode() throws {
        let rig = try DeadRig()
        try rig.start()
        let count = try kill(rig)
        let letters = try rig.waitForLetters(count)
        let byCode = Dictionary(grouping: letters, by: \.code).mapValues(\.count)
        #expect(byCode == Dictionary(uniqueKeysWithValues: DeadCode.allCases.map { ($0.rawValue, lettersPerCode) }))

        var options = rig.options("r1")
        options.mended = try mend(letters)
        options.lettersMax = max(1, count / 6)
        // It dies in its third transaction, before the commit; nobody aborts for it.
        let commits = SharedCount()
        options.beforeCommit = { if commits.next() == 3 { throw Crash() } }
        #expect(throws: StreamFault.self) { try rig.redrive(options) }
        options = rig.options("r2")
        options.mended = try mend(letters)
        let second = try rig.redrive(options)
        let before = 2 * max(1, count / 6)
        #expect(second.redriven == count - before && second.already == before)
        #expect(second.refused.isEmpty && second.foreign == 0 && second.parked == 0)
        let third = try rig.redrive(rig.options("r3"))
        #expect(third.redriven == 0 && third.already == count)

        // Those that the test wrote have no plan line of their death.
        let died = letters.count { ($0.origin?.offset ?? 0) >= 1_000_000 }
        let expected = 2 * count - died
        var books = try DeadBooks(try rig.ledger())
        let deadline = ContinuousClock.now + .seconds(240)
        while books.planLines.count < expected, ContinuousClock.now < deadline {
            usleep(200_000)
            books = try DeadBooks(try rig.ledger())
        }
        try check(books, letters, expected)
        #expect(try rig.letters().count == count)
    }

    private func check(_ books: DeadBooks, _ letters: [Letter], _ expected: Int) throws {
        #expect(books.planLines.count == expected)
        let causes = books.planLines.map { DeadBooks.place($0, "cause") }
        #expect(Set(causes).count == expected)
        // One line for each letter, from the place where it died to one where an input was planned.
        let redriven = books.redriveLines
        #expect(redriven.count == letters.count)
        let origins = try letters.map { "\(try #require($0.origin))" }
        #expect(redriven.map { DeadBooks.place($0, "origin") }.sorted() == origins.sorted())
        let decisions = Dictionary(
            books.planLines.map { (DeadBooks.place($0, "cause"), $0["decision"] as? String ?? "") },
            uniquingKeysWith: { first, _ in first })
        #expect(redriven.allSatisfy { decisions[DeadBooks.place($0, "to")] == "waiting" })
        #expect(redriven.allSatisfy { $0["recipient"] is String && $0["id"] is String })
        let ids = books.planLines.filter { $0["decision"] as? String == "waiting" }.map { $0["id"] as? String ?? "" }
        #expect(Set(ids).count == letters.count)
    }

    @Test("a redriven record that dies again keeps its history, and is parked after so many redrives")
    func diesAgain() throws {
        let rig = try DeadRig()
        try rig.start()
        try rig.send(.intents, key: "ada", value: Array(#"{"id":"x"}"#.utf8))
        try rig.flush()
        let first = try #require(try rig.waitForLetters(1).first)
        for attempt in 1...2 {
            var options = rig.options("r\(attempt)")
            options.attemptsMax = 2
            #expect(try rig.redrive(options).redriven == 1)
            let letters = try rig.waitForLetters(attempt + 1)
            #expect(letters.count == attempt + 1)
            let last = try #require(letters.max { $0.attempts < $1.attempts })
            let history = try #require(last.history)
            #expect(history.attempts == attempt && history.origin == first.origin)
            #expect(history.firstAt == first.at && history.firstCode == "missing_field")
            #expect(history.run == "r\(attempt)" && last.value == first.value && last.key == first.key)
        }
        var options = rig.options("r3")
        options.attemptsMax = 2
        let summary = try rig.redrive(options)
        #expect(summary.redriven == 0 && summary.already == 2 && summary.parked == 1)
        _ = try DeadBooks(try rig.ledger())
    }

    @Test("a second redrive fences the first, which says so; nothing is sent twice")
    func fences() throws {
        let rig = try DeadRig()
        for number in 0..<3 {
            let headers = DeadLetter.headers(
                of: [], topic: Topic.intents.name, partition: 0, offset: Int64(number), timeMillis: 1, stage: .plan,
                reason: DeadReason(.unwritable, "test"))
            try rig.send(.dead, key: "ada", value: Array(#"{"id":"\#(number)","title":"t"}"#.utf8), headers: headers)
        }
        try rig.flush()
        let letters = try rig.letters()
        let first = try Redriver(rig.kafka, rig.options("r1"))
        for letter in letters { #expect(try first.take(letter)) }
        let second = try rig.redrive(rig.options("r2"))
        #expect(second.redriven == 3)
        let fault = #expect(throws: StreamFault.self) { try first.finish() }
        #expect("\(try #require(fault))".contains("another redrive took over"))
        let sent = try RecordReader(rig.kafka, topics: [rig.names.name(.intents)]).readToEnd()
        #expect(sent.count == 3)
    }

    @Test("a redrive that is stopped while its rate holds a letter back ends at once, and the rest stays")
    func stops() throws {
        let rig = try DeadRig()
        for number in 0..<3 {
            let headers = DeadLetter.headers(
                of: [], topic: Topic.intents.name, partition: 0, offset: Int64(number), timeMillis: 1, stage: .plan,
                reason: DeadReason(.unwritable, "test"))
            try rig.send(.dead, key: "ada", value: Array(#"{"id":"\(number)","title":"t"}"#.utf8), headers: headers)
        }
        try rig.flush()
        var options = rig.options("r1")
        // The second letter would wait for 1,000 s: the first is sent before, and the wait asks again and again.
        options.rate = RatePacer.rateMin
        let commits = SharedCount()
        let asked = SharedCount()
        options.beforeCommit = { _ = commits.next() }
        options.isStopped = { commits.value > 0 && asked.next() > 2 }
        let redriver = try Redriver(rig.kafka, options)
        let letters = try rig.letters()
        #expect(try redriver.take(letters[0]))
        #expect(try !redriver.take(letters[1]))
        #expect(try redriver.finish().redriven == 1)
        #expect(throws: ReadingStopped.self) {
            try LetterReader.readAll(rig.kafka, names: rig.names, isStopped: options.isStopped) { _ in }
        }
        #expect(try rig.redrive(rig.options("r2")).redriven == 2)
    }

    @Test(
        "a value that was too large for a letter is taken from where it died; one that Kafka refuses stays and is told")
    func largeValues() throws {
        let rig = try DeadRig()
        let large = Array(#"{"id":"big","title":"\#(String(repeating: "x", count: 3000))"}"#.utf8)
        try rig.send(.intents, key: "ada", value: large, partition: 1)
        try rig.flush()
        let hash = SHA256Digest()
        hash.update(large)
        let digest = String(decoding: Hex.encode(hash.finish()), as: UTF8.self)
        func bury(_ offset: Int64, _ digest: String) throws {
            let headers = DeadLetter.headers(
                of: [], topic: Topic.intents.name, partition: 1, offset: offset, timeMillis: 1, stage: .plan,
                reason: DeadReason(.tooLarge, "test"))
            let lost = [
                LetterSamples.header("hush.error.value.bytes", "\(large.count)"),
                LetterSamples.header("hush.error.value.sha256", digest),
            ]
            try rig.send(.dead, key: "ada", value: nil, headers: headers + lost)
        }
        try bury(0, digest)
        try bury(0, String(repeating: "0", count: 64))
        try rig.flush()
        var letters = try rig.letters()
        // The second says that another record was there, and a third is larger than the topic takes.
        letters[1].origin = TopicPlace(topic: .intents, partition: 1, offset: 77)
        var huge = letters[0]
        huge.origin = TopicPlace(topic: .intents, partition: 1, offset: 78)
        huge.lost = nil
        // Noise, which compression leaves as large as it is.
        var random = SplitMix64(seed: 1)
        huge.value = (0..<1_060_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        let redriver = try Redriver(rig.kafka, rig.options("r1"))
        #expect(try redriver.take(letters[0]))
        #expect(try !redriver.take(letters[1]))
        #expect(try redriver.take(huge))
        let summary = try redriver.finish()
        #expect(summary.redriven == 1)
        #expect(summary.refused.count == 2)
        let sent = try RecordReader(rig.kafka, topics: [rig.names.name(.intents)]).readToEnd()
        #expect(sent.map(\.value) == [large, large])
    }
}

private final class SharedCount: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }
    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
