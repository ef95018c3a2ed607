import HushBase
import HushCore
import HushStream
import Synchronization
import Testing

@testable import HushWorkers

/// Audience intents in the planner's task: their copies, their slices, and what the ledger says of them.
@Suite struct PlannerAudienceTests {
    typealias Output = PlannerConfiguration.Output

    static let intent = #"{"id":"promo","audience":{"all":["ios"]},"title":"t"}"#

    private func home(_ key: String) -> Int32 { Murmur2.partition(of: Array(key.utf8), count: 4) }

    private func header(_ name: String, in record: SentRecord) -> String? {
        record.headers.first { $0.name == name }.map { String(decoding: $0.value, as: UTF8.self) }
    }

    @Test("an intent for an audience is copied to every partition, with the place it came from")
    func fansOut() throws {
        let rig = try PlannerTaskRig(partition: home("promo"))
        let given = RecordHeader(name: "ce_time", value: Array("2025-12-01T09:00:00Z".utf8))
        try rig.feed(.intents, Array(Self.intent.utf8), key: Array("promo".utf8), headers: [given])
        let sent = try rig.commit()
        let copies = sent.filter { $0.output == Output.fanout.rawValue }
        #expect(copies.map(\.partition) == [0, 1, 2, 3])
        #expect(copies.allSatisfy { $0.key == Array("promo".utf8) && $0.value == Array(Self.intent.utf8) })
        #expect(copies.allSatisfy { $0.headers.first == given && header("hush.origin.offset", in: $0) == "0" })
        let lines = sent.filter { $0.output == Output.ledger.rawValue }
        #expect(lines.map(\.key).first == Array("promo".utf8))
        let line = String(decoding: try #require(lines.first?.value), as: UTF8.self)
        #expect(line.contains(#""decision":"fanout","id":"promo","cause":{"topic":"hush.intents","partition":"#))
        #expect(!sent.contains { $0.output == Output.pushes.rawValue })
    }

    @Test("an intent for an audience in a foreign partition moves to its id's; its copies tell where it first stood")
    func moves() throws {
        let foreign = (home("promo") + 1) % 4
        let rig = try PlannerTaskRig(partition: foreign)
        try rig.feed(.intents, Self.intent, key: "someone")
        let moved = try #require(try rig.commit().first { $0.output == Output.intents.rawValue })
        #expect(moved.partition == home("promo"))
        let second = try PlannerTaskRig(partition: home("promo"))
        try second.feed(.intents, moved.value, key: moved.key, headers: moved.headers)
        let copy = try #require(try second.commit().first { $0.output == Output.fanout.rawValue })
        #expect(copy.headers == moved.headers)
        #expect(header("hush.origin.partition", in: copy) == "\(foreign)")
    }

    @Test("what cannot be copied to all partitions is a dead letter")
    func tooLarge() throws {
        let rig = try PlannerTaskRig(partition: home("promo"))
        let ballast = String(repeating: "x", count: 1 << 20)
        let value = #"{"id":"promo","audience":{"all":["ios"]},"title":"t","unknown":"\#(ballast)"}"#
        try rig.feed(.intents, value, key: "promo")
        let dead = try #require(try rig.commit().first { $0.output == Output.dead.rawValue })
        #expect(header(DeadLetter.codeHeader, in: dead) == "too_large")
    }

    /// A task of ada's partition with five phones that have the tag, whose slices take two each.
    private func rig() throws -> PlannerTaskRig {
        var policy = Policy()
        policy.sliceOpsMax = 2
        let rig = try PlannerTaskRig(policy: policy)
        let names = (0...).lazy.map { "r\($0)" }.filter { home($0) == 1 }.prefix(4)
        for name in ["ada"] + names {
            let token = String(decoding: Hex.encode(Array(name.utf8)), as: UTF8.self)
            try rig.feed(
                .devices, #"{"device":"\#(name)-phone","token":"\#(token)","app":"chat","tags":["ios"]}"#, key: name)
        }
        _ = try rig.commit()
        return rig
    }

    @Test("a slice has one line, with the digest of its ops; the order line tells when it was taken")
    func slices() throws {
        let rig = try rig()
        try rig.feed(.fanout, Self.intent, key: "promo")
        #expect(try rig.turn())
        let sent = try rig.commit()
        let pushes = sent.filter { $0.output == Output.pushes.rawValue }
        #expect(pushes.count == 2)
        #expect(
            String(decoding: pushes[0].value ?? [], as: UTF8.self).contains(
                #""cause":{"topic":"hush.fanout","partition":1,"offset":0}"#))
        let lines = sent.filter { $0.output == Output.ledger.rawValue }
            .map { String(decoding: $0.value ?? [], as: UTF8.self) }
        #expect(lines.count == 3)
        #expect(lines[0].contains(#""decision":"planned","id":"promo","revision":1,"cause""#))
        let second = try #require((0...).lazy.map { "r\($0)" }.first { home($0) == 1 })
        let ops = [#"["ada","ada-phone","create"]"#, #"["\#(second)","\#(second)-phone","create"]"#]
        let hash = SHA256.digest(Array(ops.map { $0 + "\n" }.joined().utf8))
        let digest = String(decoding: Hex.encode(hash), as: UTF8.self)
        #expect(
            lines[1].contains(
                #""decision":"sliced","id":"promo","revision":1,"recipients":2,"count":2,"digest":"\#(digest)","#
                    + #""through":"\#(second)","cause":{"topic":"hush.fanout","partition":1,"offset":0}}"#))
        #expect(lines[2].contains(#""order":[["hush.fanout",1],["slices",1]],"ends":{"hush.fanout":1}"#))
    }

    @Test("beyond the limit of audiences asked at once a copy is a dead letter, and all else goes on")
    func bounded() throws {
        var policy = Policy()
        policy.audiencesMax = 1
        let rig = try PlannerTaskRig(policy: policy)
        func jobs() -> Double { PlannerMetrics(rig.configuration.metrics).jobs(of: 1).current }
        for value in [
            Self.intent, #"{"id":"more","audience":{"all":["ios"]},"title":"t"}"#,
            #"{"id":"promo","audience":true,"revision":2,"title":"u"}"#,
            #"{"id":"more","audience":true,"retract":true}"#,
        ] {
            let id = value.contains("promo") ? "promo" : "more"
            try rig.feed(.fanout, value, key: id)
        }
        try rig.feed(.intents, #"{"id":"x","title":"t"}"#)
        let sent = try rig.commit()
        let dead = sent.filter { $0.output == Output.dead.rawValue }
        #expect(dead.map { header(DeadLetter.codeHeader, in: $0) } == ["too_many_audiences"])
        #expect(dead.first?.key == Array("more".utf8))
        let decisions = sent.filter { $0.output == Output.ledger.rawValue }.map {
            let line = String(decoding: $0.value ?? [], as: UTF8.self)
            return ["planned", "dead", "updated", "retracted", "waiting"].first { line.contains("\"\($0)\"") }
        }
        #expect(decisions == ["planned", "dead", "updated", "retracted", "waiting", nil])
        #expect(jobs() == 1)
        while try rig.turn() {}
        _ = try rig.commit()
        #expect(jobs() == 0)
        // Redriven when there is room, it finds that it was taken back meanwhile.
        try rig.feed(.fanout, #"{"id":"more","audience":{"all":["ios"]},"title":"t"}"#, key: "more")
        #expect(try rig.commit(.ledger).first?.contains(#""decision":"suppressed","id":"more""#) == true)
    }

    @Test("in a turn of the loop one slice is taken at most, and records are read between any two")
    func oneATurn() throws {
        let rig = try rig()
        try rig.feed(.fanout, Self.intent, key: "promo")
        #expect(try rig.turn())
        // Without a new turn nothing more is taken, though the task asks for it.
        #expect(try rig.driver.wake(rig.task, nowMillis: .max))
        try rig.feed(.intents, #"{"id":"x","title":"t"}"#)
        #expect(try rig.turn())
        let order = try #require(try rig.commit(.ledger).last)
        #expect(order.contains(#""order":[["hush.fanout",1],["slices",1],["hush.intents",1],["slices",1]]"#))
    }

    @Test("a slice that is aborted is taken again with the same bytes, and a task that starts anew goes on behind it")
    func restarts() throws {
        let (rig, other) = (try rig(), try rig())
        for each in [rig, other] {
            try each.feed(.fanout, Self.intent, key: "promo")
            _ = try each.commit()
            #expect(try each.turn())
        }
        try rig.crash()
        #expect(try rig.turn())
        #expect(try rig.commit() == other.commit())
        try rig.crash()
        var sizes: [Int] = []
        for _ in 0..<10 {
            guard try rig.turn() else { break }
            sizes.append(try rig.commit().count { $0.output == Output.pushes.rawValue })
        }
        #expect(sizes == [2, 1])
        // Nothing is left to wake for, after a start neither.
        try rig.crash()
        _ = try rig.turn()
        #expect(try rig.commit() == [])
        #expect(try rig.turn() == false)
    }

    @Test("the next slice rests until its pushes are within the partition's share of the rate, 20 ms at least")
    func rests() {
        let pace = SlicePace(.init(rate: 1000, waitingMax: 1), now: { Timestamp(millis: 5000) })
        func wake(_ partition: Int32, afterPushes count: Int?) -> Int64? {
            let driver = InMemoryTask(PlannerTaskRig.stream)
            if let count { pace.rest(partition, cost: count, pushes: 0, driver.context) }
            #expect(driver.wakeAtMillis == nil)
            pace.begin(partition, driver.context)
            return driver.wakeAtMillis
        }
        #expect(wake(0, afterPushes: nil) == 5000)
        #expect(wake(0, afterPushes: 250) == 6000)
        // An audience that comes meanwhile does not end the rest, which is of this partition alone.
        #expect(wake(0, afterPushes: nil) == 6000)
        #expect(wake(1, afterPushes: nil) == 5000)
        #expect(wake(0, afterPushes: 0) == 5020)
    }

    @Test("a partition that found the turn taken comes before those that the loop asks first, unless it has gone")
    func fairness() {
        let pace = SlicePace(.init(rate: 1000, waitingMax: 1), now: { .distantPast })
        func turn(_ asking: [Int32]) -> [Int32] {
            pace.turn()
            return asking.filter(pace.take)
        }
        #expect((0..<6).map { _ in turn([0, 1, 2]) } == [[0], [1], [2], [0], [1], [2]])
        #expect(turn([0, 1, 2]) == [0])
        // Those who wait are gone; one turn finds that out.
        #expect(turn([0]) == [])
        #expect(turn([0]) == [0])
        #expect(turn([0]) == [0])
    }

    /// What the pace is told, which the test changes.
    final class Backlog: Sendable {
        let reading = Mutex<GroupLagWatch.Reading?>(nil)

        func set(_ count: Int64?, number: Int) {
            reading.withLock { $0 = count.map { GroupLagWatch.Reading(count: $0, number: number) } }
        }
    }

    @Test("slices rest while too many pushes wait for deliverers, and plan no more than what may still wait")
    func crowded() {
        let backlog = Backlog()
        let pace = SlicePace(
            .init(rate: 1_000_000, waitingMax: 600), backlog: { backlog.reading.withLock { $0 } },
            now: { Timestamp(millis: 5000) })
        let driver = InMemoryTask(PlannerTaskRig.stream)
        /// Slices of 250 pushes that are taken in five turns, of a slot with `mine` of 12 partitions.
        func slices(mine: Int = 12) -> Int {
            (0..<5).count { _ in
                pace.turn(mine: mine, of: 12)
                guard pace.take(0) else { return false }
                pace.rest(0, cost: 250, pushes: 250, driver.context)
                return true
            }
        }
        // Where it is not known what waits the rate alone counts.
        #expect(slices() == 5)
        backlog.set(0, number: 1)
        #expect(slices() == 3)
        // The same answer makes no more room.
        #expect(slices() == 0)
        backlog.set(550, number: 2)
        #expect(slices() == 1)
        backlog.set(600, number: 3)
        #expect(slices() == 0)
        pace.begin(0, driver.context)
        #expect(driver.wakeAtMillis == 5050)
        // A slot has a part of the room, as it has of the partitions.
        backlog.set(0, number: 4)
        #expect(slices(mine: 4) == 1)
        backlog.set(nil, number: 5)
        #expect(slices() == 5)
    }

    @Test("who found no room comes first when there is some, in the order in which they asked")
    func crowdedOrder() {
        let backlog = Backlog()
        backlog.set(9, number: 1)
        let pace = SlicePace(
            .init(rate: 1000, waitingMax: 1), backlog: { backlog.reading.withLock { $0 } }, now: { .distantPast })
        func turn(_ asking: [Int32]) -> [Int32] {
            pace.turn()
            return asking.filter(pace.take)
        }
        #expect(turn([2]) == [])
        #expect(turn([0, 1, 2]) == [])
        backlog.set(0, number: 2)
        #expect((0..<4).map { _ in turn([0, 1, 2]) } == [[2], [0], [1], [2]])
    }
}
