import HushCore
import Testing

@Suite("Deliverer")
struct DelivererTests {
    @Test("a create leaves at once, as a background push of priority 5, and one push is under way at a time")
    func oneInFlight() {
        var bench = DeliveryBench.bound()
        let expires = bench.now + .seconds(100)
        let op = bench.create("order-42", expires: expires)
        #expect(bench.pushes.count == 1)
        let push = bench.pushes[0]
        #expect(!push.isAlert && push.priority == 5 && push.collapseID == nil && push.expires == expires)
        #expect(push.token == "aa11" && push.app == "com.example.app" && push.environment == .production)
        #expect(push.apnsID == APNsID.text(op, attempt: 1))
        #expect(bench.left() == [#"[["7:2:0","c","order-42",1,{"title":"T","expires":1764583300}]]"#])
        bench.create("order-43")
        #expect(bench.left() == [])
        bench.answer(200)
        #expect(
            bench.left() == [
                #"[["7:3:0","c","order-43",1,{"title":"T"}],["7:2:0","c","order-42",1,{"title":"T","expires":1764583300}]]"#
            ])
    }

    @Test("the first seed's create and read on the wire")
    func seed() {
        var bench = DeliveryBench.bound(dialect: .crt)
        bench.create("1", title: "hello there")
        #expect(bench.left() == [#"{"aps":{"content-available":1},"crt":1,"title":"hello there"}"#])
        bench.answer(200)
        #expect(bench.outcomes() == ["accepted: create 1"])
        bench.delete("1")
        #expect(bench.left() == [#"{"aps":{"content-available":1},"dlt":1}"#])
        bench.answer(200)
        #expect(bench.outcomes() == ["accepted: delete 1"])
        #expect(bench.state.row.ops.isEmpty)
    }

    @Test("an update of a seed dialect deletes, then creates, one op a push")
    func seedUpdate() {
        var bench = DeliveryBench.bound(dialect: .crt)
        bench.create("1", 2, first: false, title: "again")
        #expect(bench.left() == [#"{"aps":{"content-available":1},"dlt":1}"#])
        bench.answer(200)
        #expect(bench.left() == [#"{"aps":{"content-available":1},"crt":1,"title":"again"}"#])
        bench.answer(200)
        #expect(bench.state.row.ops.isEmpty)
    }

    @Test("an op of an app that acknowledges is final with its ack, of any other with the 200")
    func acks() {
        var acking = DeliveryBench.bound()
        let op = acking.create("a")
        acking.answer(200)
        #expect(acking.lines.map(\.isFinal) == [false])
        acking.signal(acks: [op, OpID(partition: 1, offset: 1, index: 1)])
        #expect(acking.outcomes() == ["accepted: create a", "confirmed: create a"])
        #expect(acking.state.row.ops.isEmpty)
        var silent = DeliveryBench.bound(acks: false)
        silent.create("a")
        silent.answer(200)
        #expect(silent.lines.map(\.isFinal) == [true])
        #expect(silent.state.row.ops.isEmpty)
    }

    @Test("an ack that comes before APNs' answer ends the op")
    func earlyAck() {
        var bench = DeliveryBench.bound()
        let op = bench.create("a")
        bench.signal(acks: [op])
        bench.answer(200)
        #expect(bench.outcomes() == ["confirmed: create a"])
        #expect(bench.state.row.ops.isEmpty)
    }

    @Test("a visible create is an alert under its stable identifier; what follows carries it until it is acknowledged")
    func visible() {
        var bench = DeliveryBench.bound()
        bench.create("order-42", mode: .visible)
        let push = bench.pushes[0]
        #expect(push.isAlert && push.priority == 10 && push.collapseID == "hush.order-42")
        #expect(
            String(decoding: push.payload, as: UTF8.self)
                .hasPrefix(#"{"aps":{"alert":{"title":"T"},"mutable-content":1},"hush":{"v":1,"#))
        bench.send(.answer(.unknown))
        bench.pass(.seconds(2))
        #expect(bench.pushes.count == 2 && bench.pushes[1].collapseID == "hush.order-42")
        #expect(String(decoding: bench.pushes[1].payload, as: UTF8.self).contains("passive"))
        bench.pushes.removeAll()
        bench.answer(200)
        bench.delete("x", through: 1)
        #expect(bench.left() == [#"[["7:3:0","d","x",1],["7:2:0","c","order-42",1,{"title":"T"},1]]"#])
    }

    @Test("an op waits for its not_before, and is told once")
    func notBefore() {
        var bench = DeliveryBench.bound()
        bench.create("later", notBefore: bench.now + .seconds(60))
        bench.create("now")
        #expect(bench.left() == [#"[["7:3:0","c","now",1,{"title":"T"}]]"#])
        bench.answer(200)
        #expect(bench.outcomes() == ["held by not_before: create later", "accepted: create now"])
        #expect(bench.wakeAt == bench.now + .seconds(60))
        bench.pass(.seconds(60))
        #expect(bench.left().count == 1)
    }

    @Test("nothing leaves while the sender is stopped, all of it after")
    func paused() {
        var bench = DeliveryBench.bound()
        bench.send(
            .record(
                .ops(owner: "ada", ops: [Op(kind: .delete, id: "a", revision: 1)], cause: DeliveryBench.cause),
                partition: 7, offset: 90, at: bench.now), isPaused: true)
        #expect(bench.left() == [] && bench.wakeAt == nil)
        bench.pass(.zero)
        #expect(bench.left() == [#"[["7:90:0","d","a",1]]"#])
    }

    @Test("more ops than an address may hold park the oldest, and a hello is asked for")
    func bounded() {
        var policy = Policy()
        policy.opsPerAddressMax = 2
        var bench = DeliveryBench.bound(policy: policy)
        bench.create("a")
        bench.answer(200)
        bench.create("b")
        bench.create("c")
        bench.create("d")
        bench.answer(200)
        #expect(bench.outcomes() == ["accepted: create a", "parked: create a", "parked: create b"])
        #expect(
            bench.left().last
                == #"[["7:4:0","c","c",1,{"title":"T"}],["7:4:0","h"],["7:5:0","c","d",1,{"title":"T"}]]"#)
        bench.signal(hello: true)
        #expect(!bench.state.row.wantsHello)
    }

    @Test("an op that fits no push is rejected, and what waits behind it goes on")
    func misfit() {
        var bench = DeliveryBench.bound()
        bench.create("big", title: String(repeating: "x", count: 5000))
        bench.create("small")
        #expect(bench.lines.map(\.reason) == ["payload_too_large"])
        #expect(bench.left() == [#"[["7:3:0","c","small",1,{"title":"T"}]]"#])
    }
}

@Suite("Deliverer: answers")
struct DelivererAnswerTests {
    @Test(
        "what an answer does to the ops",
        arguments: [
            (200, "", "accepted: create a", 0), (400, "BadTopic", "rejected: create a", 0),
            (400, "BadDeviceToken", "rejected: create a", 0), (413, "PayloadTooLarge", "rejected: create a", 0),
            (429, "TooManyRequests", "retry: create a", 1), (500, "InternalServerError", "retry: create a", 1),
            (503, "Shutdown", "retry: create a", 1), (403, "ExpiredProviderToken", "retry: create a", 1),
            (403, "InvalidProviderToken", "retry: create a", 1), (410, "Unregistered", "unregistered: create a", 0),
        ] as [(UInt16, String, String, Int)])
    func table(status: UInt16, reason: String, outcome: String, waiting: Int) {
        var bench = DeliveryBench.bound(acks: false)
        bench.create("a")
        bench.answer(status, Bytes(reason))
        #expect(bench.lines.map(\.status) == [status])
        #expect(bench.outcomes() == [outcome])
        #expect(bench.state.row.ops.count == waiting)
        #expect(bench.isCredentialRefused == (reason == "InvalidProviderToken"))
        #expect((bench.state.row.binding == nil) == (status == 410))
    }

    @Test("a retry waits with full jitter below a doubling limit, and not before Retry-After")
    func backoff() {
        var bench = DeliveryBench.bound(acks: false)
        bench.create("a")
        for failure in 0..<14 {
            bench.answer(503, "ServiceUnavailable")
            let limit = min(Duration.seconds(1) * (1 << failure), .seconds(900))
            let until = bench.state.soft.retryAt ?? bench.now
            #expect(until >= bench.now && until <= bench.now + limit)
            bench.now = until
            bench.pass(.zero)
        }
        bench.answer(429, "TooManyRequests", retryAfter: .seconds(5000))
        #expect(bench.wakeAt == bench.now + .seconds(5000))
        bench.pushes.removeAll()
        bench.pass(.seconds(4999))
        #expect(bench.left() == [])
        bench.pass(.seconds(1))
        #expect(bench.left().count == 1)
    }

    @Test("each attempt has an apns-id of its own, and the same collapse-id")
    func attempts() {
        var bench = DeliveryBench.bound(dialect: .crt)
        let op = bench.create("order-42")
        bench.send(.answer(.unknown))
        bench.pass(.seconds(1))
        #expect(bench.pushes.map(\.apnsID) == [1, 2].map { APNsID.text(op, attempt: $0) })
        #expect(bench.pushes.map(\.collapseID) == ["hush.order-42", "hush.order-42"])
        #expect(bench.outcomes() == ["unknown: create order-42"])
    }

    @Test("a 413 halves the ops of a push")
    func split() {
        var bench = DeliveryBench.bound(acks: false)
        bench.create("a")
        for id in ["b", "c", "d", "e"] { bench.create(Bytes(id)) }
        bench.answer(200)
        bench.pushes.removeAll()
        bench.answer(413, "PayloadTooLarge")
        #expect(bench.state.soft.inFlight?.parts.count == 2)
        bench.answer(413, "PayloadTooLarge")
        #expect(bench.state.soft.inFlight?.parts.count == 1)
        bench.answer(200)
        #expect(bench.state.soft.inFlight?.parts.count == 3)
    }

    @Test("a token that does not fit rests for an hour; a new bind ends it, and no device is dropped")
    func rest() {
        var bench = DeliveryBench.bound(acks: false)
        bench.create("a")
        bench.answer(400, "BadDeviceToken")
        bench.pushes.removeAll()
        bench.create("b")
        #expect(bench.left() == [] && bench.losses == [])
        #expect(bench.wakeAt == bench.now + .seconds(3600))
        bench.bind("ada", version: 2)
        #expect(bench.left().count == 1)
    }

    @Test("after a restart what was leaving is unknown and goes again as the next attempt")
    func restart() {
        var bench = DeliveryBench.bound()
        let op = bench.create("a")
        bench.crash()
        #expect(bench.outcomes() == ["unknown: create a"])
        bench.pass(.seconds(1))
        #expect(bench.pushes.map(\.apnsID) == [1, 2].map { APNsID.text(op, attempt: $0) })
    }

    @Test(
        "an answer that proves a push was refused leaves a first create unseen; one that does not, does not",
        arguments: [
            (429, "TooManyRequests", true), (403, "InvalidProviderToken", true), (400, "IdleTimeout", true),
            (500, "InternalServerError", false), (503, "ServiceUnavailable", false), (503, "Shutdown", false),
        ] as [(UInt16, String, Bool)])
    func proof(status: UInt16, reason: String, isQuiet: Bool) {
        var bench = DeliveryBench.bound()
        bench.create("a")
        bench.answer(status, Bytes(reason), retryAfter: .seconds(60))
        bench.delete("a")
        #expect(bench.state.row.ops.map(\.quiet) == [isQuiet])
    }

    @Test("3: what was not sent leaves a first create unseen, silence does not")
    func silence() {
        for (result, isQuiet) in [(PushResult.notSent, true), (.unknown, false)] {
            var bench = DeliveryBench.bound()
            bench.create("a")
            bench.send(.answer(result))
            bench.delete("a")
            #expect(bench.state.row.ops.map(\.quiet) == [isQuiet])
        }
    }

    @Test("an op that no answer ever decides is parked after a week, and a hello asked for in its place")
    func unanswered() {
        var bench = DeliveryBench.bound()
        let begin = bench.now
        bench.delete("a")
        bench.failOn { $0.kind == .delete }
        #expect(bench.lines.filter(\.isFinal).map(\.outcome) == [.parked])
        #expect(bench.lines.last?.reason == "unanswered" && bench.lines.last?.ops.map(\.id) == ["a"])
        let age = bench.now - begin
        #expect(age >= .seconds(7 * 86_400) && age < .seconds(7 * 86_400 + 3600))
        bench.pushes.removeAll()
        bench.pass(.seconds(86_400))
        #expect(bench.left() == [#"[["7:2:0","b"]]"#])
        // The question itself ends too, without a line; the wish for a hello stays.
        bench.lines.removeAll()
        bench.failOn { _ in true }
        #expect(bench.state.row.ops.isEmpty && bench.state.row.wantsHello)
        #expect(bench.lines.allSatisfy { !$0.isFinal })
        bench.create("b")
        bench.pass(.seconds(3600))
        #expect(bench.left().last == #"[["7:3:0","c","b",1,{"title":"T"}],["7:3:0","h"]]"#)
    }

    @Test("an op that APNs took once, and never again answers for, is parked a week after that")
    func unansweredRepeats() {
        var bench = DeliveryBench.bound()
        bench.create("a")
        bench.pass(.seconds(6 * 86_400))
        bench.answer(200)
        let taken = bench.now
        bench.pass(.seconds(1800))
        bench.failOn { $0.kind == .create }
        #expect(bench.now - taken >= .seconds(7 * 86_400))
        #expect(bench.outcomes().last == "parked: create a")
    }

    @Test("where nobody acknowledges, what no answer decides ends all the same, and nothing is asked for")
    func unansweredSeed() {
        var bench = DeliveryBench.bound(dialect: .crt)
        bench.delete("1")
        bench.failOn { _ in true }
        #expect(bench.outcomes().last == "parked: delete 1")
        #expect(bench.state.row.ops.isEmpty && !bench.state.row.wantsHello)
    }

    @Test("refusals and a standing network do not count: what APNs certainly has not is tried on")
    func refusedForLong() {
        var bench = DeliveryBench.bound()
        bench.delete("a")
        for _ in 0..<40 {
            bench.send(.answer(.notSent))
            bench.pass(.seconds(86_400))
            bench.answer(429, "TooManyRequests")
            bench.pass(.seconds(86_400))
        }
        #expect(bench.lines.allSatisfy { !$0.isFinal } && bench.state.row.ops.count == 1)
    }
}

extension DeliveryBench {
    /// Leaves every push undecided, in turn without an answer and by a 503, until no such op waits.
    fileprivate mutating func failOn(_ isWanted: (PendingOp) -> Bool) {
        for round in 0..<5000 where state.row.ops.contains(where: isWanted) {
            if round.isMultiple(of: 2) { send(.answer(.unknown)) } else { answer(503, "Shutdown") }
            guard state.row.ops.contains(where: isWanted) else { return }
            now = max(wakeAt ?? now, now)
            pass(.zero)
        }
    }
}
