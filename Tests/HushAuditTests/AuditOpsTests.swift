import HushCore
import HushStream
import HushWorkers
import Testing

@testable import HushAudit

/// Ops, outcomes and pushes: books that are chained rightly, by a pipeline that does wrong.
@Suite struct AuditOpsTests {
    /// Books that a wrong pipeline wrote, with good chains.
    private struct Scene {
        var lines: [[UInt8]] = []
        var inputs: [String] = [#"{"id":"one","recipient":"ada","title":"t"}"#]
        var pushes: [(value: [UInt8], headers: [RecordHeader])] = []
        /// What the deliverers' group has committed of them.
        var delivered: Int64?
        /// The copy of an audience's intent.
        var copy: String?
        static let copyPlace = Position(topic: .fanout, partition: 0, offset: 0)
        private let plan = LedgerBook(task: "plan-0", stage: .plan, config: "c", build: "test")
        private let deliver = LedgerBook(task: "deliver-0", stage: .deliver, config: "c", build: "test")
        private let now = Timestamp(millis: AuditRig.start)

        func cause(_ offset: Int64 = 0) -> Position { Position(topic: .intents, partition: 0, offset: offset) }

        mutating func plan(_ id: Bytes?, _ devices: [Bytes] = [], decision: PlanDecision = .planned, offset: Int64 = 0)
        {
            var line = PlanLine(decision: decision, recipient: "ada", id: id, cause: cause(offset))
            line.ops = devices.map { PlanLine.PlannedOp(device: $0, kind: .create) }
            plan.write(line, at: now) { lines.append(Array($0)) }
        }

        mutating func push(_ id: Bytes, offset: Int64 = 0, cause: Position? = nil, headers: [RecordHeader] = []) {
            var json = JSONWriter()
            let op = Op(kind: .create, id: id, revision: 1)
            PushRecordWriter.write(.ops(owner: "ada", ops: [op], cause: cause ?? self.cause(offset)), into: &json)
            pushes.append((json.bytes, headers))
        }

        /// A copy of an audience's intent, and a slice of its walk.
        mutating func slice(_ count: Int, isLast: Bool) {
            if copy == nil {
                copy = #"{"id":"promo","audience":{"all":["ios"]},"title":"t"}"#
                plan.took(.fanout, offset: 0)
                let line = PlanLine(decision: .planned, recipient: "", id: "promo", cause: Self.copyPlace)
                plan.write(line, at: now) { lines.append(Array($0)) }
            }
            let slice = AudienceSlice(
                id: "promo", revision: 1, cause: Self.copyPlace, after: nil, through: "ada", recipients: count,
                isLast: isLast)
            plan.write(slice, count: count, digest: "d", at: now) { lines.append(Array($0)) }
        }

        mutating func final(
            _ op: Int64, _ id: Bytes, _ device: Bytes?, offset: Int64 = 0, outcome: DeliveryOutcome = .accepted
        ) {
            let part = DeliveryLine.Part(
                op: OpID(partition: 0, offset: op, index: 0), kind: .create, id: id, cause: cause(offset))
            deliver.write(DeliveryLine(outcome, recipient: "ada", device: device, ops: [part]), at: now) {
                lines.append(Array($0))
            }
        }

        mutating func end(taken: Int = 1, at offset: Int64 = 0, pushes: Range<Int64> = 0..<0) {
            for offset in pushes { deliver.took(.pushes, offset: offset) }
            if taken > 0 { for number in 0..<taken { plan.took(.intents, offset: offset + Int64(number)) } }
            if plan.isOpen { plan.writeOrder(at: now) { lines.append(Array($0)) } }
            if deliver.isOpen { deliver.writeOrder(at: now) { lines.append(Array($0)) } }
        }

        /// Audits one partition of intents, and the first record of a fan-out.
        func audit(comparesPushes: Bool = true) throws -> AuditReport {
            var surroundings = AuditBooks.Surroundings(ledgerPartitions: 1)
            if comparesPushes { surroundings.pushesFirst = [0] }
            var random = SplitMix64(seed: 3)
            let books = try AuditBooks(
                spans: [
                    .init(.intents, 0, start: 0, end: Int64(inputs.count)), .init(.fanout, 0, start: 0, end: 1),
                ], surroundings, random: &random)
            for (offset, input) in inputs.enumerated() where !input.isEmpty {
                AuditRig.show(offset, Array("ada".utf8), Array(input.utf8)) { books.takeInput(.intents, $0) }
            }
            if let copy {
                AuditRig.show(0, Array("promo".utf8), Array(copy.utf8)) { books.takeInput(.fanout, $0) }
            }
            for (offset, line) in lines.enumerated() { AuditRig.show(offset, [], line) { books.takeLine($0) } }
            if let delivered { books.expectDelivered(.success([delivered])) }
            for (offset, push) in pushes.enumerated() {
                AuditRig.show(offset, [], push.value, headers: push.headers) { books.takePush($0) }
            }
            books.checkEnd(.success([:]))
            return books.close(pushesRead: comparesPushes ? [Int64(pushes.count)] : [])
        }
    }

    private func scene(_ change: (inout Scene) -> Void) throws -> [String] {
        var scene = Scene()
        change(&scene)
        return try scene.audit().told
    }

    @Test("one op, pushed and final, is right")
    func right() throws {
        let told = try scene { scene in
            scene.plan("one", ["phone"])
            scene.push("one")
            scene.final(0, "one", "phone")
            scene.end()
        }
        #expect(told == [])
    }

    @Test("an input that its planner is past, and that has no line, is named")
    func withoutLine() throws {
        let told = try scene { scene in
            scene.inputs.append(#"{"id":"two","recipient":"ada","title":"t"}"#)
            scene.plan("one")
            scene.end(taken: 2)
        }
        #expect(told == ["without_plan_line hush.intents-0@1"])
    }

    @Test("two lines for one input, a line for an id that it does not name, and a line for no input are named")
    func wrongLines() throws {
        #expect(
            try scene { scene in
                scene.plan("one")
                scene.plan("one", decision: .duplicate)
                scene.end()
            } == ["too_many_plan_lines hush.intents-0@0"])
        #expect(
            try scene { scene in
                scene.plan("other")
                scene.end()
            } == ["foreign_id hush.intents-0@0"])
        #expect(
            try scene { scene in
                scene.inputs.append("")
                scene.plan("one")
                scene.plan("two", offset: 1)
                scene.end()
            } == ["line_without_input hush.intents-0@1"])
    }

    @Test("an order line that counts other records than its topic holds is named")
    func wrongOrder() throws {
        #expect(
            try scene { scene in
                scene.plan("one")
                scene.end(taken: 2)
                scene.inputs.append("")
            } == ["order_mismatch hush.ledger-0@1"])
    }

    @Test("a second final outcome is named, of the same op or of another for the same device")
    func twoFinals() throws {
        #expect(
            try scene { scene in
                scene.plan("one", ["phone"])
                scene.push("one")
                scene.final(0, "one", "phone")
                scene.final(0, "one", "phone", outcome: .expired)
                scene.end()
            } == ["final_twice hush.ledger-0@2"])
        #expect(
            try scene { scene in
                scene.plan("one", ["phone"])
                scene.push("one")
                scene.final(0, "one", "phone")
                scene.final(7, "one", "phone")
                scene.end()
            } == ["final_without_op hush.ledger-0@2"])
    }

    @Test("an outcome of what was never planned, and an op that was planned twice, are named")
    func strayOps() throws {
        #expect(
            try scene { scene in
                scene.plan("one")
                scene.final(0, "one", "phone")
                scene.push("one")
                scene.end()
            }.contains("final_without_op hush.ledger-0@1"))
        #expect(
            try scene { scene in
                scene.plan("one", ["phone", "phone"])
                scene.push("one")
                scene.push("one")
                scene.end()
            } == ["planned_twice hush.ledger-0@0"])
    }

    @Test("ops of the ledger and of hush.pushes must be the same, and outcomes must name what is there")
    func pushes() throws {
        #expect(
            try scene { scene in
                scene.plan("one", ["phone"])
                scene.end()
            } == ["ops_not_pushed hush.intents-0@0"])
        #expect(
            try scene { scene in
                scene.plan("one")
                scene.push("one")
                scene.end()
            } == ["ops_not_pushed hush.intents-0@0"])
        #expect(
            try scene { scene in
                scene.plan("one", ["phone", "pad"])
                scene.push("one")
                scene.push("one")
                scene.push("other", offset: 99)
                scene.final(0, "one", "phone")
                scene.final(2, "one", "pad")
                scene.end()
            } == [])
        var gone = Scene()
        gone.plan("one", ["phone"])
        gone.final(0, "one", "phone")
        gone.end()
        #expect(try gone.audit(comparesPushes: false).verdict == .proved)
    }

    @Test("a push that was redriven stands there twice and counts once; its outcome names where it stands now")
    func redriven() throws {
        let letter = Letter(LetterSamples.record("{}", code: .unwritable, topic: .pushes))
        let history = RedriveHistory(
            of: letter, from: TopicPlace(topic: .pushes, partition: 0, offset: 0), run: "r1"
        ).headers
        #expect(
            try scene { scene in
                scene.plan("one", ["phone"])
                scene.push("one")
                scene.push("one", headers: history)
                scene.final(1, "one", "phone")
                scene.end()
            } == [])
        // Its first form must have been planned all the same, and nothing else may stand there twice.
        #expect(
            try scene { scene in
                scene.plan("one", ["phone"])
                scene.push("one", headers: history)
                scene.final(0, "one", "phone")
                scene.end()
            } == ["ops_not_pushed hush.intents-0@0"])
        #expect(
            try scene { scene in
                scene.plan("one", ["phone"])
                scene.push("one")
                scene.push("one", headers: [LetterSamples.header("traceparent", "00")])
                scene.end()
            } == ["ops_not_pushed hush.intents-0@0"])
    }

    @Test("once a walk is over, as many ops of an audience must be in hush.pushes as its slices planned")
    func slices() throws {
        func told(_ slices: [Int], isOver: Bool, pushes: Int) throws -> [String] {
            try scene { scene in
                scene.plan("one")
                for (number, count) in slices.enumerated() {
                    scene.slice(count, isLast: isOver && number == slices.count - 1)
                }
                for _ in 0..<pushes { scene.push("promo", cause: Scene.copyPlace) }
                scene.end()
            }
        }
        #expect(try told([2, 1], isOver: true, pushes: 3) == [])
        #expect(try told([2, 0], isOver: false, pushes: 3) == [])
        #expect(try told([2, 1], isOver: true, pushes: 2) == ["ops_not_pushed hush.fanout-0@0"])
        #expect(try told([2, 1], isOver: true, pushes: 4) == ["ops_not_pushed hush.fanout-0@0"])
        #expect(try told([0], isOver: true, pushes: 0) == [])
    }

    @Test("what the deliverers' group has committed must be in the ledger: their lines' cut end shows")
    func deliveredEnd() throws {
        func told(_ delivered: Int64?, covered: Range<Int64>) throws -> [String] {
            try scene { scene in
                scene.plan("one", ["phone", "pad"])
                scene.push("one")
                scene.push("one")
                scene.final(0, "one", "phone")
                scene.end(pushes: covered)
                scene.delivered = delivered
            }
        }
        #expect(try told(nil, covered: 0..<1) == [])
        #expect(try told(1, covered: 0..<1) == [])
        // What stands behind the last record are markers of transactions, and no record.
        #expect(try told(9, covered: 0..<2) == [])
        #expect(try told(2, covered: 0..<1) == ["cut_end hush.pushes-0@1"])
        #expect(try told(2, covered: 0..<0) == ["cut_end hush.pushes-0@0"])
    }

    @Test("pushes of an input that was planned after the ledger was read convict nobody, those of a slice neither")
    func laterPushes() throws {
        #expect(
            try scene { scene in
                scene.inputs.append(#"{"id":"two","recipient":"ada","title":"t"}"#)
                scene.plan("one", ["phone"])
                scene.push("one")
                scene.end()
                scene.push("two", offset: 1)
                scene.push("promo", cause: Position(topic: .fanout, partition: 0, offset: 0))
            } == [])
    }

    @Test("an outcome that names no device stands for one op of its cause, id and kind, and for no more")
    func nameless() throws {
        #expect(
            try scene { scene in
                scene.plan("one", ["phone", "pad"])
                scene.push("one")
                scene.push("one")
                scene.final(0, "one", nil, outcome: .reassigned)
                scene.final(1, "one", "pad")
                scene.end()
            } == [])
        #expect(
            try scene { scene in
                scene.plan("one", ["phone"])
                scene.push("one")
                scene.push("one", offset: 99)
                scene.final(0, "one", nil, outcome: .reassigned)
                scene.final(1, "one", nil, outcome: .reassigned)
                scene.end()
            } == ["final_without_op hush.ledger-0@2"])
    }

    @Test("lines in a foreign partition are named")
    func misplaced() throws {
        let rig = try AuditRig()
        try rig.playDay()
        rig.replace(#""partition":0,"offset":0}"#, #""partition":1,"offset":0}"#, at: 0)
        let report = try rig.audit()
        #expect(report.told.contains("misplaced_line hush.ledger-0@0"))
        var scene = Scene()
        scene.plan("one")
        var random = SplitMix64(seed: 3)
        let books = try AuditBooks(
            spans: [.init(.intents, 0, start: 0, end: 1)], AuditBooks.Surroundings(ledgerPartitions: 2),
            random: &random)
        AuditRig.show(0, [], scene.lines[0], partition: 1) { books.takeLine($0) }
        #expect(books.close().told.filter { $0.hasPrefix("misplaced") } == ["misplaced_line hush.ledger-1@0"])
    }
}
