import HushCore
import HushStream
import HushWorkers
import Testing

@testable import HushAudit

/// The checker against books that production wrote, and against what somebody did to them.
@Suite struct AuditBooksTests {
    @Test("books of a plain day are proved, and every sum adds up")
    func plainDay() throws {
        let rig = try AuditRig()
        try rig.playDay()
        let report = try rig.audit()
        #expect(report.told == [])
        #expect(report.doubts == [])
        #expect(report.verdict == .proved)
        let total = report.total
        #expect(report.counts.inputs == 11)
        // Two ids of one read; a signal without a hello calls for none.
        #expect(total.wanted == 11)
        #expect(total.areInputsBalanced && total.areOpsBalanced)
        #expect(total.ops > 8 && total.pending == 0)
        #expect(total.decisions[Int(PlanDecision.duplicate.rawValue)] == 1)
        #expect(total.decisions[Int(PlanDecision.dead.rawValue)] == 1)
        #expect(report.builds.count == 2)
        #expect(report.counts.outside == 0 && report.counts.unchecked == 0)
    }

    @Test("what has no outcome yet is pending, what the planner has not come to waits: no violation")
    func pending() throws {
        let rig = try AuditRig()
        try rig.playDay()
        try rig.publish(.intents, #"{"id":"three","recipient":"ada","title":"d"}"#)
        try rig.commit()
        try rig.deliver(pending: 1)
        rig.leave(.intents, #"{"id":"four","recipient":"ada","title":"e"}"#)
        let report = try rig.audit()
        #expect(report.verdict == .proved)
        #expect(report.total.pending == 1)
        #expect(report.total.waiting == 1)
        #expect(report.total.areInputsBalanced && report.total.areOpsBalanced)
    }

    @Test("a line that is taken out shows by its number, with the offset behind it")
    func droppedLine() throws {
        let rig = try AuditRig()
        try rig.playDay()
        let index = try rig.line(#""id":"two","recipient":"ada","revision":1"#)
        rig.ledger.remove(at: index)
        let report = try rig.audit()
        #expect(report.verdict == .violated)
        #expect(report.told.contains("missing_lines hush.ledger-0@\(index)"))
        // Its ops now have outcomes and no plan.
        #expect(report.violationCounts[.withoutPlanLine] == 1)
        #expect(report.violationCounts[.finalWithoutOp] == 2)
        #expect(
            report.violations.first { $0.code == .missingLines }?.detail
                == "plan-0: line 3 is missing before this offset")
    }

    @Test("the first line of a task, and the last ones, are missed too")
    func cutEnds() throws {
        let rig = try AuditRig()
        try rig.playDay()
        let first = rig.ledger.removeFirst()
        #expect(try rig.audit().told.contains("missing_lines hush.ledger-0@0"))
        rig.ledger.insert(first, at: 0)
        rig.ledger.removeLast()
        let report = try rig.audit()
        #expect(report.violationCounts[.openPart] == 1)
        #expect(report.violationCounts.count == 1)
    }

    @Test("what the planner's group has committed must be in the ledger: a ledger cut at a whole part shows")
    func cutEnd() throws {
        let rig = try AuditRig()
        try rig.playDay()
        let firstPart = try #require(
            rig.ledger.firstIndex { String(decoding: $0, as: UTF8.self).contains(#""order":"#) })
        let kept = Array(rig.ledger[...firstPart])
        var random = SplitMix64(seed: 1)
        let books = try AuditBooks(
            spans: [.init(.intents, 0, start: 0, end: 6)], AuditBooks.Surroundings(ledgerPartitions: 1), random: &random
        )
        for (offset, input) in rig.inputs[0].enumerated() {
            AuditRig.show(offset, input.key, input.value) { books.takeInput(.intents, $0) }
        }
        for (offset, line) in kept.enumerated() { AuditRig.show(offset, [], line) { books.takeLine($0) } }
        books.checkEnd(.success([Topic.intents.name: [6]]))
        #expect(books.close().told == ["cut_end hush.intents-0@2"])
    }

    @Test("a part that the end of the reading cuts lacks its end only if that does not come; one that begins later may")
    func movingEnd() throws {
        let rig = try AuditRig()
        try rig.playDay()
        let lines = rig.ledger
        let orders = lines.indices.filter { String(decoding: lines[$0], as: UTF8.self).contains(#""order":"#) }
        func books(_ passes: [Range<Int>]) throws -> AuditBooks {
            var random = SplitMix64(seed: 1)
            let spans = rig.inputs.enumerated().map { topic, inputs in
                AuditBooks.Span(InputTopic.allCases[topic], 0, start: 0, end: Int64(inputs.count))
            }
            let books = try AuditBooks(
                spans: spans, AuditBooks.Surroundings(ledgerPartitions: 1), random: &random)
            for (topic, inputs) in rig.inputs.enumerated() {
                for (offset, input) in inputs.enumerated() {
                    AuditRig.show(offset, input.key, input.value) { books.takeInput(InputTopic.allCases[topic], $0) }
                }
            }
            for pass in passes {
                for offset in pass { AuditRig.show(offset, [], lines[offset]) { books.takeLine($0) } }
                books.endLedgerPass()
            }
            return books
        }
        // The first part is cut, and stays so.
        let cut = try books([0..<orders[0], orders[0]..<orders[0]])
        #expect(cut.lacksEnd(.success([:])))
        #expect(cut.close().violationCounts[.openPart] == 1)
        // It is cut, and its end comes; by then another has begun.
        let moving = try books([0..<orders[0], orders[0]..<orders[1] - 1])
        #expect(!moving.lacksEnd(.success([:])))
        #expect(moving.close().told == [])
        // What the planner had committed before lacks until its order line has come.
        let early = try books([0..<orders[0] + 1])
        #expect(early.lacksEnd(.success([Topic.intents.name: [6]])))
        let late = try books([0..<orders[0] + 1, orders[0] + 1..<lines.count])
        #expect(!late.lacksEnd(.success([Topic.intents.name: [6]])))
    }

    @Test("where the group's offsets cannot be read, a cut end would not show: nothing is proved")
    func endUnknown() throws {
        var random = SplitMix64(seed: 1)
        let books = try AuditBooks(spans: [], AuditBooks.Surroundings(ledgerPartitions: 1), random: &random)
        books.checkEnd(.failure(.refused("not authorized")), prefix: "t.")
        let report = books.close()
        #expect(report.verdict == .unproved)
        #expect(report.doubts.map(\.code) == [.endUnknown])
        let other = try AuditBooks(spans: [], AuditBooks.Surroundings(ledgerPartitions: 1), random: &random)
        other.expectDelivered(.failure(.refused("not authorized")))
        #expect(other.close().doubts.first?.detail.hasPrefix("group hush-deliverer: ") == true)
        #expect(report.doubts.first?.detail.hasPrefix("group t.hush-planner: ") == true)
    }

    @Test("a partition whose first record is newer than the range, or whose records are all gone, leaves a doubt")
    func deletedBefore() {
        let from = Timestamp(millis: AuditRig.start)
        let whole = AuditRun.Part(first: 0, end: 7, firstTime: nil)
        #expect(whole.beginsLate(from) == nil)
        #expect(AuditRun.Part(first: 0, end: 0, firstTime: nil).beginsLate(from) == nil)
        #expect(AuditRun.Part(first: 3, end: 7, firstTime: from).beginsLate(from) == nil)
        #expect(
            AuditRun.Part(first: 3, end: 7, firstTime: Timestamp(millis: AuditRig.start + 1)).beginsLate(from)
                == "begins at 2025-12-01T10:00:00.001Z")
        #expect(
            AuditRun.Part(first: 7, end: 7, firstTime: nil).beginsLate(from)
                == "is empty: all up to offset 7 is deleted")
    }

    @Test("a line that stands twice is named, and counts once")
    func doubledLine() throws {
        let rig = try AuditRig()
        try rig.playDay()
        let index = try rig.line(#""decision":"read""#)
        rig.ledger.insert(rig.ledger[index], at: index + 1)
        #expect(try rig.audit().told == ["doubled_line hush.ledger-0@\(index + 1)"])
    }

    @Test("two lines that changed places are named")
    func reorderedLines() throws {
        let rig = try AuditRig()
        try rig.playDay()
        let index = try rig.line(#""decision":"read""#)
        rig.ledger.swapAt(index, index + 1)
        #expect(try rig.audit().told == ["reordered_line hush.ledger-0@\(index + 1)"])
    }

    @Test(
        "an altered line does not fit its part's digest, whatever was altered",
        arguments: [
            ("duplicate", "conflict"), (#""at":"2025"#, #""at":"2024"#), (#""id":"two""#, #""id":"twa""#),
            (#""task":"plan-0","n":2,"at""#, #""task":"plan-0","n":2,  "at""#),
        ])
    func alteredLine(words: String, other: String) throws {
        let rig = try AuditRig()
        try rig.playDay()
        rig.replace(words, other, at: try rig.line(words))
        let report = try rig.audit()
        #expect(report.violationCounts[.alteredLines] == 1)
        let violation = try #require(report.violations.first { $0.code == .alteredLines })
        #expect(violation.detail.hasPrefix("plan-0: of lines"))
    }

    @Test("an altered digest of an order line shows, and so does a part that was made anew without its chain")
    func alteredOrder() throws {
        let rig = try AuditRig()
        try rig.playDay()
        let index = try rig.line(#""order":"#)
        // The last digit, before the closing quote and brace.
        let digit = rig.ledger[index].count - 3
        rig.ledger[index][digit] = rig.ledger[index][digit] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
        let report = try rig.audit()
        #expect(report.told == ["altered_lines hush.ledger-0@0"])

        // Somebody who can hash: a book that begins anew in the middle.
        let forged = try AuditRig()
        try forged.playDay()
        let second = try forged.line(#""n":5,"#)
        let book = LedgerBook(
            task: "plan-0", stage: .plan, config: "c", build: "test",
            state: LedgerState(next: 5, previous: Array(repeating: 7, count: 32)))
        var lines: [[UInt8]] = []
        book.write(
            PlanLine(
                decision: .updated, recipient: "ada", id: "one", revision: 2,
                cause: Position(topic: .intents, partition: 0, offset: 2)), at: Timestamp(millis: AuditRig.start)
        ) { lines.append(Array($0)) }
        book.writeOrder(at: Timestamp(millis: AuditRig.start)) { lines.append(Array($0)) }
        forged.ledger.replaceSubrange(second..., with: lines)
        #expect(try forged.audit().violationCounts[.brokenChain] == 1)
    }

    @Test("records that are no lines are named; lines of a form that is not known make a doubt, not a proof")
    func foreignRecords() throws {
        let rig = try AuditRig()
        try rig.playDay()
        let end = rig.ledger.count
        rig.ledger += [Array("hello".utf8), [], Array("{}".utf8), Array(#"{"v":1,"task":"plan-0","n":99}"#.utf8)]
        #expect(try rig.audit().told == (end..<end + 4).map { "foreign_record hush.ledger-0@\($0)" })
        rig.ledger.removeLast(4)
        rig.ledger.append(Array(#"{"v":2,"task":"plan-0","n":99,"decision":"planned"}"#.utf8))
        rig.ledger.append(Array(#"{"v":1,"task":"plan-9","n":0,"decision":"dreamt"}"#.utf8))
        let report = try rig.audit()
        #expect(report.verdict == .unproved)
        #expect(
            report.doubts == [
                Doubt(.unknownSchema, "2, first hush.ledger-0@\(end) has version 2")
            ])
    }

    @Test(
        "a line of an unknown form in the middle keeps its number: it leaves a doubt, and convicts none of its chain",
        arguments: [
            (#""decision":"duplicate""#, #""decision":"dreamt""#, "decision dreamt"),
            (#""outcome":"accepted""#, #""outcome":"dreamt""#, "outcome dreamt"),
            (#""stage":"plan","order""#, #""stage":"plan","parts""#, "version 2"),
        ])
    func unknownInTheMiddle(words: String, other: String, what: String) throws {
        let rig = try AuditRig()
        try rig.playDay()
        let index = try rig.line(words)
        rig.replace(words, other, at: index)
        if what == "version 2" { rig.replace(#"{"v":1,"#, #"{"v":2,"#, at: index) }
        let report = try rig.audit()
        #expect(report.told == [])
        #expect(report.doubts == [Doubt(.unknownSchema, "hush.ledger-0@\(index) has \(what)")])
        #expect(report.counts.unchecked > 0)
        // Whatever else is wrong stays wrong.
        rig.ledger.insert(rig.ledger[index + 1], at: index + 2)
        #expect(try rig.audit().told == ["doubled_line hush.ledger-0@\(index + 2)"])
    }

    @Test("deliver lines of a build that did not say what is final make a doubt")
    func withoutFinal() throws {
        let rig = try AuditRig()
        try rig.playDay()
        rig.replace(#""final":true,"#, "", at: try rig.line(#""final":true"#))
        #expect(try rig.audit().doubts.map(\.code) == [.withoutFinal])
    }

    @Test("a range in the middle takes lines and outcomes of others for what they are")
    func range() throws {
        let rig = try AuditRig()
        try rig.playDay()
        let report = try rig.audit(
            spans: [.init(.intents, 0, start: 2, end: 4), .init(.reads, 0, start: 0, end: 1)])
        #expect(report.verdict == .proved)
        #expect(report.counts.inputs == 3)
        #expect(report.total.wanted == 4)
        #expect(report.counts.outside > 5)
    }

    @Test("a ledger that begins late is checked from its first order line on")
    func lateLedger() throws {
        let rig = try AuditRig()
        try rig.playDay()
        rig.ledger.removeFirst(2)
        let report = try rig.audit(spans: [.init(.intents, 0, start: 2, end: 6)]) { $0.beginsLate = [0] }
        #expect(report.verdict == .proved)
        #expect(report.counts.unchecked == 2)
        // Where nothing was deleted, the same ledger has lost its beginning.
        #expect(try rig.audit().told.contains("missing_lines hush.ledger-0@0"))
    }
}
