import HushBase
import HushCore
import HushStream
import Testing

@testable import HushWorkers

/// Drives a planner task as a slot does, without Kafka, and tells what it wrote as text.
final class PlannerTaskRig {
    private(set) var task: PlannerTask
    let driver: InMemoryTask
    let configuration: PlannerConfiguration
    private let application: PlannerApplication
    private(set) var offsets: [InputTopic: Int64] = [:]
    private(set) var millis: Int64 = 1_764_583_200_000

    /// Four partitions; ada's is 1.
    static let stream = PlannerConfiguration.stream(slotName: "t", partitionCount: 4, pushesPartitionCount: 4)

    init(partition: Int32 = 1, policy: Policy = Policy()) throws {
        configuration = PlannerConfiguration(policy: policy, build: "test")
        application = PlannerApplication(configuration)
        task = application.makeTask(partition: partition)
        driver = InMemoryTask(Self.stream, partition: partition)
        try task.restored(driver.context)
    }

    func feed(
        _ topic: InputTopic, _ value: [UInt8]?, key: [UInt8]? = Array("ada".utf8), headers: [RecordHeader] = [],
        refusedFor reason: String? = nil
    ) throws {
        millis += 1000
        let offset = offsets[topic, default: 0]
        offsets[topic] = offset + 1
        let input = try #require(InputTopic.allCases.firstIndex(of: topic))
        try driver.process(
            task, input: input, offset: offset, appendMillis: millis, key: key, value: value, headers: headers,
            refusedFor: reason)
    }

    func feed(_ topic: InputTopic, _ value: String, key: String? = "ada") throws {
        try feed(topic, Array(value.utf8), key: key.map { Array($0.utf8) })
    }

    func commit() throws -> [SentRecord] { try driver.commit(task) }

    /// A turn of the slot's loop in which the task is woken, however long it wanted to rest; false where it did not ask.
    func turn() throws -> Bool {
        application.turn([:])
        return try driver.wake(task, nowMillis: .max)
    }

    /// Another worker takes over from what was committed.
    func crash() throws {
        driver.abort(task)
        task.closed()
        task = application.makeTask(partition: task.partition)
        try task.restored(driver.context)
    }

    /// What was written to one topic since the last commit, as text.
    func commit(_ output: PlannerConfiguration.Output) throws -> [String] {
        try commit().filter { $0.output == output.rawValue }.map { String(decoding: $0.value ?? [], as: UTF8.self) }
    }
}

@Suite struct PlannerTaskTests {
    static let register = """
        {"device":"phone","token":"AB01","app":"chat","acks":true,"install":"i1"}
        """
    static let intent = #"{"id":"x","title":"t"}"#

    @Test("a register and an intent leave as these records")
    func golden() throws {
        let rig = try PlannerTaskRig()
        try rig.feed(.devices, Self.register)
        try rig.feed(.intents, Self.intent)
        let sent = try rig.commit()
        let address = Address(app: "chat", environment: .production, token: "ab01")
        let pushes = sent.filter { $0.output == PlannerConfiguration.Output.pushes.rawValue }
        #expect(pushes.map(\.key) == [address.key.raw, address.key.raw])
        #expect(
            pushes.map { String(decoding: $0.value ?? [], as: UTF8.self) } == [
                #"{"v":1,"kind":"bind","owner":"ada","device":"phone","install":"i1","token":"ab01","app":"chat","#
                    + #""environment":"production","dialect":"hush","acks":true,"version":[1764583201000,1,0],"#
                    + #""cause":{"topic":"hush.devices","partition":1,"offset":0}}"#,
                #"{"v":1,"kind":"ops","owner":"ada","ops":[{"op":"create","id":"x","revision":1,"first":true,"#
                    + #""expires":"2025-12-04T10:00:02.000Z","content":{"title":"t"}}],"#
                    + #""cause":{"topic":"hush.intents","partition":1,"offset":0}}"#,
            ])
        let ledger = sent.filter { $0.output == PlannerConfiguration.Output.ledger.rawValue }
        #expect(ledger.map(\.key) == [Array("ada".utf8), Array("ada".utf8), Array("plan-1".utf8)])
        #expect(ledger.map(\.partition) == [1, 1, 1])
        #expect(
            ledger.prefix(2).map { String(decoding: $0.value ?? [], as: UTF8.self) } == [
                #"{"v":1,"task":"plan-1","n":0,"at":"2025-12-01T10:00:01.000Z","stage":"plan","decision":"registered","#
                    + #""recipient":"ada","ops":[["phone","bind"]],"#
                    + #""cause":{"topic":"hush.devices","partition":1,"offset":0}}"#,
                #"{"v":1,"task":"plan-1","n":1,"at":"2025-12-01T10:00:02.000Z","stage":"plan","decision":"planned","#
                    + #""id":"x","recipient":"ada","revision":1,"ops":[["phone","create"]],"#
                    + #""cause":{"topic":"hush.intents","partition":1,"offset":0}}"#,
            ])
    }

    @Test("a transaction that aborts leaves no trace: the same records give the same bytes")
    func aborts() throws {
        let (rig, other) = (try PlannerTaskRig(), try PlannerTaskRig())
        for each in [rig, other] {
            try each.feed(.devices, Self.register)
            _ = try each.commit()
        }
        // An hour that is undone must not count in what follows.
        try rig.driver.process(
            rig.task, input: 0, offset: 0, appendMillis: rig.millis + 3_600_000, key: Array("ada".utf8),
            value: Array(Self.intent.utf8))
        rig.driver.abort(rig.task)
        for each in [rig, other] { try each.feed(.intents, Self.intent) }
        #expect(try rig.commit() == other.commit())
        #expect(rig.task.now == other.task.now)
    }

    @Test("a task that starts again goes on with number, digest and time")
    func restarts() throws {
        let rig = try PlannerTaskRig()
        try rig.feed(.devices, Self.register)
        _ = try rig.commit()
        let next = PlannerApplication(rig.configuration).makeTask(partition: 1)
        try next.restored(rig.driver.context)
        #expect(next.book.state == rig.task.book.state)
        #expect(next.book.state.next == 2)
        #expect(next.now == rig.task.now)
    }

    @Test("decisions count once their transaction has committed, and not if it aborts")
    func metrics() throws {
        let rig = try PlannerTaskRig()
        try rig.feed(.intents, Self.intent)
        rig.driver.abort(rig.task)
        try rig.feed(.devices, Self.register)
        for _ in 0..<3 { try rig.feed(.intents, Self.intent) }
        let counters = rig.configuration.metrics
        #expect(!counters.render().contains(#"decision="duplicate"} 2"#))
        _ = try rig.commit()
        let text = counters.render()
        #expect(text.contains(#"hush_plan_decisions_total{decision="planned"} 1"#))
        #expect(text.contains(#"hush_plan_decisions_total{decision="duplicate"} 2"#))
        #expect(text.contains("hush_planned_pushes_total 2"))
    }

    @Test("a task row of a newer format stops the task")
    func newerTaskRow() throws {
        let rig = try PlannerTaskRig()
        rig.driver.context.put(PlannerStore.rowsTable, Array("t".utf8), [9])
        #expect(throws: TaskFailure("a task row has format 9, and this build knows up to 1: run the newer build")) {
            try rig.task.restored(rig.driver.context)
        }
    }

    @Test("an order line ends each part, and tells the interleave and the offsets behind it")
    func orders() throws {
        let rig = try PlannerTaskRig()
        try rig.feed(.devices, Self.register)
        for id in ["a", "b"] { try rig.feed(.intents, #"{"id":"\#(id)","title":"t"}"#) }
        try rig.feed(.signals, #"{"device":"phone","battery":0.5}"#)
        try rig.feed(.intents, #"{"id":"c","title":"t"}"#)
        let line = try #require(try rig.commit(.ledger).last)
        #expect(
            line.contains(
                #""order":[["hush.devices",1],["hush.intents",2],["hush.signals",1],["hush.intents",1]],"#
                    + #""ends":{"hush.devices":1,"hush.intents":3,"hush.signals":1}"#))
        #expect(try rig.commit().isEmpty)
    }

    @Test("a read is quiet for the install that made it, and names its cause")
    func reads() throws {
        let rig = try PlannerTaskRig()
        try rig.feed(.devices, Self.register)
        try rig.feed(.intents, Self.intent)
        _ = try rig.commit()
        try rig.feed(.reads, #"{"id":"x","revision":1,"device":"phone","install":"i1"}"#)
        #expect(
            try rig.commit(.pushes) == [
                #"{"v":1,"kind":"ops","owner":"ada","ops":[{"op":"delete","id":"x","revision":1,"quiet":true}],"#
                    + #""cause":{"topic":"hush.reads","partition":1,"offset":0}}"#
            ])
    }
}
