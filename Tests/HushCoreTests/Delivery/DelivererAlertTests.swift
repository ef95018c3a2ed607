import HushCore
import Testing

@Suite("Deliverer: alerts")
struct DelivererAlertTests {
    @Test("airship: a create of any mode is an alert under its stable identifier, an update another under the same")
    func airship() {
        var bench = DeliveryBench.bound(dialect: .airship)
        bench.create("order-42", expires: bench.now + .seconds(60))
        let push = bench.pushes[0]
        #expect(push.isAlert && push.priority == 10 && push.collapseID == "hush.order-42")
        #expect(push.expires == bench.now + .seconds(60))
        #expect(bench.left() == [#"{"aps":{"alert":{"title":"T"}}}"#])
        bench.answer(200)
        #expect(bench.outcomes() == ["accepted: create order-42"])
        bench.create("order-42", 2, first: false, title: "U")
        #expect(bench.pushes.map(\.collapseID) == ["hush.order-42"])
        #expect(bench.left() == [#"{"aps":{"alert":{"title":"U"}}}"#])
        bench.answer(200)
        #expect(bench.state.row.ops.isEmpty)
    }

    @Test("an id beyond 64 bytes collapses under its digest")
    func longID() {
        var bench = DeliveryBench.bound(dialect: .airship)
        let id = Bytes(String(repeating: "x", count: 256))
        bench.create(id)
        #expect(bench.pushes.map(\.collapseID) == [StableIdentifier.of(id)])
        #expect(StableIdentifier.of(id).count <= 64)
    }

    @Test("airship: deletes share one silent push, which names what is to go")
    func airshipDeletes() {
        var bench = DeliveryBench.bound(dialect: .airship)
        bench.create("warm")
        bench.delete("a")
        bench.delete("b")
        bench.create("c", first: false)
        bench.pushes.removeAll()
        bench.answer(200)
        let push = bench.pushes[0]
        #expect(!push.isAlert && push.priority == 5 && push.collapseID == nil && push.expires == nil)
        #expect(bench.left() == [#"{"aps":{"content-available":1},"hush.remove":["hush.a","hush.b"]}"#])
        bench.answer(200)
        #expect(bench.left() == [#"{"aps":{"alert":{"title":"T"}}}"#])
        #expect(bench.outcomes() == ["accepted: create warm", "accepted: delete a, delete b"])
    }

    @Test("airship: a repeat after an unknown outcome, and what a bind sends again, make no sound")
    func airshipRepeat() {
        var bench = DeliveryBench.bound(dialect: .airship)
        bench.create("a")
        bench.send(.answer(.unknown))
        bench.pass(.seconds(2))
        #expect(bench.left().last == #"{"aps":{"alert":{"title":"T"},"interruption-level":"passive"}}"#)
        bench.answer(200)
        // A register also brings what nobody was told of: an audience's.
        for (isTold, aps) in [
            (true, #"{"alert":"B","interruption-level":"passive"}"#), (false, #"{"alert":"B"}"#),
        ] {
            var create = Op(
                kind: .create, id: Bytes("b\(isTold)"), revision: 1, content: Content(json: #"{"body":"B"}"#))
            create.isTold = isTold
            bench.record(
                .ops(owner: "ada", ops: [create], cause: Position(topic: .devices, partition: 3, offset: 9)))
            #expect(bench.left() == [#"{"aps":\#(aps)}"#])
            bench.answer(200)
        }
    }

    @Test("alerts pass a closed battery gate and an empty budget; the delete of one does not")
    func gates() {
        var policy = Policy()
        policy.wakeUpBurst = 1
        var bench = DeliveryBench.bound(dialect: .airship, policy: policy)
        bench.signal(DeviceReading(at: bench.now, battery: 0.05, notBefore: bench.now + .seconds(600)))
        bench.create("a")
        bench.answer(200)
        bench.create("b")
        bench.answer(200)
        #expect(bench.left().count == 2)
        bench.delete("a")
        bench.pass(.seconds(599))
        #expect(bench.left() == [])
        bench.pass(.seconds(1))
        #expect(bench.left() == [#"{"aps":{"content-available":1},"hush.remove":["hush.a"]}"#])
    }

    @Test(
        "11: the delete of an alert waits 10 s after APNs took it, so that it does not overtake it; others do not wait",
        arguments: [Dialect.hush, .airship])
    func deleteWaits(dialect: Dialect) {
        var bench = DeliveryBench.bound(dialect: dialect, acks: false)
        bench.create("a", mode: .visible)
        bench.answer(200)
        bench.pushes.removeAll()
        bench.pass(.seconds(4))
        bench.delete("a")
        #expect(bench.left() == [])
        #expect(bench.wakeAt == bench.now + .seconds(6))
        bench.delete("b")
        #expect(bench.left().map { $0.contains("b") && !$0.contains("\"a\"") } == [true])
        bench.answer(200)
        bench.pass(.seconds(6))
        #expect(bench.left().count == 1)
        bench.answer(200)
        bench.pass(.seconds(60))
        bench.delete("a")
        #expect(bench.left().count == 1)
    }

    @Test("11: a delete that comes while its alert is under way waits from the answer on, whatever that is")
    func deleteMeetsAlert() {
        for answer in [PushResult.answered(status: 200, reason: "", retryAfter: nil, timestamp: nil), .unknown] {
            var bench = DeliveryBench.bound()
            bench.create("a", mode: .visible)
            bench.delete("a")
            bench.pushes.removeAll()
            bench.now = bench.now + .seconds(5)
            bench.send(.answer(answer))
            bench.pass(.seconds(9))
            #expect(bench.left() == [])
            bench.pass(.seconds(1))
            #expect(bench.left() == [#"[["7:3:0","d","a",1]]"#])
        }
    }

    @Test("11: where APNs refused the alert, its delete waits for nothing and is quiet")
    func refusedAlert() {
        var bench = DeliveryBench.bound()
        bench.create("a", mode: .visible)
        bench.answer(429, "TooManyRequests", retryAfter: .seconds(60))
        bench.delete("a")
        #expect(bench.state.row.ops.map(\.quiet) == [true] && bench.state.row.ops.map(\.notBefore) == [nil])
    }

    @Test("11: a 503 proves nothing: the alert's delete waits and is loud, and its repeat makes no sound")
    func shutdown() {
        var bench = DeliveryBench.bound()
        bench.create("a", mode: .visible)
        bench.answer(503, "Shutdown", retryAfter: .seconds(60))
        var other = bench
        bench.delete("a")
        #expect(bench.state.row.ops.map(\.quiet) == [false])
        #expect(bench.state.row.ops.map(\.notBefore) == [bench.now + .seconds(10)])
        other.pushes.removeAll()
        other.pass(.seconds(60))
        #expect(other.pushes.map(\.collapseID) == ["hush.a"])
        #expect(other.pushes.map { String(decoding: $0.payload, as: UTF8.self).contains("passive") } == [true])
    }

    @Test("11: an alert that nobody acknowledged goes again silently, as what was told of, and is no alert any more")
    func silentRepeats() {
        var policy = Policy()
        policy.wakeUpBurst = 0
        var bench = DeliveryBench.bound(policy: policy)
        bench.create("a", mode: .visible)
        bench.answer(200)
        for wait in [1800, 7200] {
            bench.pushes.removeAll()
            bench.pass(.seconds(wait))
            #expect(bench.pushes.map(\.isAlert) == [false] && bench.pushes.map(\.collapseID) == [nil])
            #expect(bench.left() == [#"[["7:2:0","c","a",1,{"title":"T"},1]]"#])
            bench.answer(200)
        }
    }

    @Test("11: a visible create never rides on a silent push before its alert: that would show it without a sound")
    func noRide() {
        var bench = DeliveryBench.bound()
        bench.create("first")
        bench.create("a")
        bench.create("b", mode: .visible)
        bench.answer(200)
        #expect(
            bench.left().last
                == #"[["7:3:0","c","a",1,{"title":"T"}],["7:2:0","c","first",1,{"title":"T"}]]"#)
        bench.answer(200)
        #expect(bench.pushes.map(\.isAlert) == [true] && bench.pushes.map(\.collapseID) == ["hush.b"])
    }

    @Test("11: after a crash with an alert under way its delete waits too")
    func crashWithAlert() {
        var bench = DeliveryBench.bound()
        bench.create("a", mode: .visible)
        bench.crash()
        bench.delete("a")
        bench.pushes.removeAll()
        bench.pass(.seconds(9))
        #expect(bench.left() == [])
        bench.pass(.seconds(1))
        #expect(bench.left() == [#"[["7:3:0","d","a",1]]"#])
    }

    @Test("a visible create that is read while it waits never leaves")
    func readWhileWaiting() {
        var bench = DeliveryBench.bound()
        bench.create("first")
        bench.create("a", mode: .visible)
        bench.delete("a")
        bench.pushes.removeAll()
        bench.answer(200)
        bench.pass(.seconds(3600))
        #expect(bench.left().allSatisfy { !$0.contains("alert") && !$0.contains(#""c","a""#) })
        #expect(bench.outcomes().contains("coalesced: create a"))
    }

    @Test("what an alert told of goes on in the op list without a sound")
    func told() {
        var bench = DeliveryBench.bound()
        bench.create("a", mode: .visible)
        bench.answer(200)
        bench.create("b")
        #expect(
            bench.left().last
                == #"[["7:3:0","c","b",1,{"title":"T"}],["7:2:0","c","a",1,{"title":"T"},1]]"#)
    }

    @Test(
        "auto: an alert where nothing says that the app is woken",
        arguments: [(true, false, false), (false, false, true), (true, true, true)])
    func auto(acks: Bool, isRefreshOff: Bool, isAlert: Bool) {
        var bench = DeliveryBench.bound(acks: acks)
        if isRefreshOff { bench.signal(DeviceReading(backgroundRefresh: false)) }
        bench.create("a", mode: .auto)
        #expect(bench.pushes.map(\.isAlert) == [isAlert])
        if isRefreshOff {
            bench.settle()
            bench.signal(DeviceReading(backgroundRefresh: true))
            bench.create("b", mode: .auto)
            #expect(bench.pushes.map(\.isAlert) == [false])
        }
    }

    @Test("auto: what went silently and was not acknowledged is an alert at its repeat, without a sound, once")
    func autoRepeat() {
        var policy = Policy()
        policy.wakeUpBurst = 0
        var bench = DeliveryBench.bound(policy: policy)
        bench.create("a", mode: .auto)
        bench.answer(200)
        #expect(bench.pushes.map(\.isAlert) == [false])
        bench.pass(.seconds(1800))
        #expect(bench.pushes.map(\.isAlert) == [false, true] && bench.pushes[1].collapseID == "hush.a")
        #expect(String(decoding: bench.pushes[1].payload, as: UTF8.self).contains("passive"))
        bench.answer(200)
        bench.pass(.seconds(7200))
        #expect(bench.pushes.map(\.isAlert) == [false, true, false])
    }

    @Test("an alert's badge is the count that came last, whatever else waits")
    func badge() {
        var bench = DeliveryBench.bound(dialect: .airship)
        func create(_ id: Bytes, _ live: Int64) -> Op {
            Op(
                kind: .create, id: id, revision: 1, first: true,
                content: Content(json: #"{"body":"B","badge":"auto"}"#), liveCount: live)
        }
        bench.ops([create("a", 1)])
        bench.ops([create("b", 2)])
        bench.ops([Op(kind: .delete, id: "c", revision: 1, liveCount: 2)])
        #expect(bench.left() == [#"{"aps":{"alert":"B","badge":1}}"#])
        bench.answer(200)
        #expect(
            bench.left() == [#"{"aps":{"content-available":1},"hush.badge":2,"hush.remove":["hush.c"]}"#])
        bench.answer(200)
        #expect(bench.left() == [#"{"aps":{"alert":"B","badge":2}}"#])
        bench.bind("bob", version: 2, dialect: .airship)
        #expect(bench.state.row.liveCount == nil)
    }

    @Test("one content that cannot fit any push is rejected by name, in every dialect", arguments: Dialect.allCases)
    func misfit(dialect: Dialect) {
        var bench = DeliveryBench.bound(dialect: dialect)
        bench.create("big", title: String(repeating: "x", count: 5000))
        bench.create("small")
        #expect(bench.lines.first?.reason == "payload_too_large")
        #expect(bench.outcomes().first == "rejected: create big")
        #expect(bench.left().count == 1)
    }
}
