import HushCore
import HushSimulator
import HushStream
import HushWorkers
import Testing

@testable import HushAudit

/// Runs of the virtual path, decided again by what `hush replay` is made of.
@Suite("The path: replays")
struct ReplayTests {
    private func intent(_ id: String, _ owner: String, _ title: String = "t", revision: Int = 1) -> String {
        #"{"id":"\#(id)","recipient":"\#(owner)","title":"\#(title)","revision":\#(revision)}"#
    }

    /// Two people with a phone each, twelve notifications each; some are updated, retracted, read.
    private func plainDay(_ policy: Policy = Policy()) throws -> VirtualPath {
        let path = try VirtualPath(policy: policy)
        for owner in ["ada", "eve"] { _ = try path.phone(Bytes(owner)) }
        for number in 0..<12 {
            for owner in ["ada", "eve"] {
                path.publish(.intents, intent("n\(number)", owner), key: owner)
                if number % 3 == 1 { path.publish(.intents, intent("n\(number)", owner, "u", revision: 2), key: owner) }
                if number % 3 == 2 { path.publish(.intents, intent("n\(number)", owner, "t"), key: owner) }
            }
            try path.pass(.seconds(30))
        }
        path.publish(.reads, #"{"recipient":"ada","ids":["n0","n1"]}"#)
        path.publish(.intents, "this is no JSON")
        try path.pass(.seconds(60))
        return path
    }

    @Test("a plain day is decided the same, and every push is made again byte by byte")
    func plain() throws {
        let path = try plainDay()
        let report = try path.replay()
        #expect(report.verdict == .same, "\(report.text(isWhatIf: false))")
        #expect(report.differences == [])
        #expect(report.parts > 12 && report.inputs > 40)
        #expect(report.linesRecorded == report.linesReplayed && report.linesRecorded > 40)
        #expect(report.pushesReplayed == path.records(.pushes).count && report.pushesReplayed > 30)
        #expect(report.pushesFound == report.pushesReplayed)
    }

    @Test("an input whose content was altered gives the same lines and another push, and is named")
    func alteredContent() throws {
        let path = try plainDay()
        let home = path.partition(of: "ada")
        var altered: Int64?
        let report = try path.replay(altering: { topic, partition, offset, input in
            guard topic == .intents, partition == home, altered == nil,
                input.value == Array(intent("n3", "ada").utf8)
            else { return }
            altered = offset
            input.value = Array(intent("n3", "ada", "x").utf8)
        })
        let offset = try #require(altered)
        #expect(report.verdict == .different)
        #expect(report.differenceCounts == [.push: 1, .lackingPush: 1], "\(report.text(isWhatIf: false))")
        let push = try #require(report.differences.first { $0.kind == .push })
        #expect(push.place == "hush.intents-\(home)@\(offset)" && push.replayed[0].contains(#""title":"x""#))
        let lacking = try #require(report.differences.first { $0.kind == .lackingPush })
        #expect(lacking.place.hasPrefix("hush.pushes-") && lacking.recorded[0].contains(#""title":"t""#))
    }

    @Test("an input that became another notification is the first difference, told with both lines")
    func alteredIntent() throws {
        let path = try plainDay()
        let home = path.partition(of: "eve")
        var altered: Int64?
        let report = try path.replay(altering: { topic, partition, offset, input in
            guard topic == .intents, partition == home, altered == nil,
                input.value == Array(intent("n0", "eve").utf8)
            else { return }
            altered = offset
            input.value = Array(intent("other", "eve").utf8)
        })
        let offset = try #require(altered)
        let first = try #require(report.differences.first { $0.kind == .decision })
        #expect(first.place == "hush.intents-\(home)@\(offset)")
        #expect(first.recorded.count == 1 && first.recorded[0].contains(#""id":"n0""#))
        #expect(first.replayed.count == 1 && first.replayed[0].contains(#""id":"other""#))
    }

    @Test("an altered line, a line too few, a line too many and a lost push are differences of their own places")
    func alteredLedger() throws {
        let path = try plainDay()
        let home = path.partition(of: "ada")
        func isPlanned(_ line: [UInt8], _ id: String) -> Bool {
            let text = String(decoding: line, as: UTF8.self)
            return text.contains(#""decision":"planned","id":"\#(id)","recipient":"ada""#)
        }
        let altered = try path.replay(lines: { _, _, line in
            guard isPlanned(line, "n4") else { return }
            line = Array(String(decoding: line, as: UTF8.self).replacing("\"planned\"", with: "\"waiting\"").utf8)
        })
        #expect(altered.differenceCounts == [.decision: 1])
        #expect(altered.changes == [DecisionChange(recorded: .waiting, replayed: .planned): 1])
        #expect(altered.differences[0].place.hasPrefix("hush.intents-\(home)@"))
        var gone = 0
        let dropped = try path.replay(lines: { _, _, line in
            guard isPlanned(line, "n4") else { return }
            gone += 1
            line = Array(#"{"v":1,"task":"plan-99","n":1,"decision":"planned"}"#.utf8)
        })
        #expect(gone == 1 && dropped.changes == [DecisionChange(recorded: nil, replayed: .planned): 1])
        var isFirst = true
        let lost = try path.replay(hiding: { _, _ in
            defer { isFirst = false }
            return isFirst
        })
        #expect(lost.differenceCounts[.push] == 1 && lost.differenceCounts[.decision] == nil)
    }

    @Test("an order line that counts a record more than its topic holds is named")
    func wrongOrder() throws {
        let path = try plainDay()
        let home = path.partition(of: "ada")
        var place = ""
        let report = try path.replay(lines: { partition, offset, line in
            guard partition == home, place.isEmpty else { return }
            let text = String(decoding: line, as: UTF8.self)
            guard text.contains(#""order":[["hush.intents",2]]"#) else { return }
            place = "hush.ledger-\(partition)@\(offset)"
            line = Array(text.replacing(#"["hush.intents",2]"#, with: #"["hush.intents",3]"#).utf8)
        })
        try #require(!place.isEmpty)
        #expect(report.differenceCounts[.order] == 1, "\(report.text(isWhatIf: false))")
        #expect(report.differences.contains { $0.kind == .order && $0.place == place })
    }

    @Test("another policy changes what it is about, and the report says so")
    func otherPolicy() throws {
        let path = try plainDay()
        var policy = Policy()
        policy.livePerRecipientMax = 4
        let report = try path.replay(policy: policy)
        #expect(report.verdict == .different)
        #expect((report.changes[DecisionChange(recorded: nil, replayed: .evicted)] ?? 0) >= 14)
        let first = try #require(report.differences.first { $0.kind == .decision })
        #expect(first.replayed.contains { $0.contains(#""decision":"evicted""#) })
        #expect(report.notes.contains { $0.hasPrefix("decided by build test, config ") })
        #expect(report.text(isWhatIf: true).contains("no line -> evicted: "))
        let pushes = report.differences.filter { $0.kind == .push }
        #expect(pushes.count == ReplayReport.keptMax || pushes.count == report.differenceCounts[.push])
    }

    @Test("a ledger that begins late is replayed from its second order line on, and never called the same")
    func lateLedger() throws {
        let path = try plainDay()
        let report = try path.replay(ledgerFrom: 9)
        #expect(report.doubts.contains { $0.hasSuffix("and there is no state to begin with") })
        #expect(report.differenceCounts[.order] == nil, "\(report.text(isWhatIf: false))")
        #expect(report.verdict == .different)
        #expect((report.changes[DecisionChange(recorded: .planned, replayed: .waiting)] ?? 0) > 4)
        #expect(report.inputs > 10)
    }

    @Test("signals that are deleted are a doubt, and make no difference")
    func deletedSignals() throws {
        let path = try plainDay()
        let there = path.records(of: .signals).map(\.count)
        try #require((there.max() ?? 0) > 4)
        let report = try path.replay(signalsFrom: 3)
        #expect(report.differences == [], "\(report.text(isWhatIf: false))")
        #expect(report.verdict == .unproved)
        #expect(report.doubts.contains { $0.contains("records of hush.signals-") && $0.hasSuffix("by retention") })
    }

    @Test(
        "slices of audiences are taken where the ledger tells, by planners that aborted in between",
        arguments: Array<UInt64>(0..<6))
    func audiences(seed: UInt64) throws {
        let policy = AudiencePathTests.policy()
        let path = try VirtualPath(policy: policy)
        var random = SplitMix64(seed: seed)
        _ = try AudiencePathTests.members(14, on: path, &random)
        for number in 0..<3 {
            path.publish(
                .intents, #"{"id":"promo-\#(number)","audience":{"all":["ios"]},"title":"t"}"#, key: "promo-\(number)")
            for _ in 0..<8 {
                if random.chance(0.4) { try path.abortPlanning() }
                path.publish(.intents, intent("n\(number)", "u1"), key: "u1")
                try path.pass(.milliseconds(Int64.random(in: 1...400, using: &random)))
            }
        }
        try path.pass(.seconds(600))
        let report = try path.replay(policy: policy)
        #expect(report.verdict == .same, "\(report.text(isWhatIf: false))")
        #expect(report.slices > 3)
        #expect(report.pushesFound == path.records(.pushes).count)
    }

    @Test("random histories, with aborts and crashes, are decided the same", arguments: RandomPathTests.seeds.prefix(8))
    func randomHistories(seed: UInt64) throws {
        let (path, _, _) = try RandomPathTests.play(seed)
        let report = try path.replay()
        #expect(report.verdict == .same, "seed \(seed): \(report.text(isWhatIf: false))")
        #expect(report.pushesFound == report.pushesReplayed)
    }
}
