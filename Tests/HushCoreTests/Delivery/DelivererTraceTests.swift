import HushCore
import Testing

@Suite("Deliverer: traces that must not happen")
struct DelivererTraceTests {
    private func version(_ millis: Int64) -> BindingVersion {
        BindingVersion(at: Timestamp(millis: millis), partition: 0, offset: 0)
    }

    @Test("1: an op for another owner than the bound one reaches nobody, and its planner is told")
    func trace1() {
        var bench = DeliveryBench.bound()
        bench.bind("bob", version: 2, device: "bob-phone")
        #expect(bench.losses.map(\.recipient) == ["ada"] && bench.losses.map(\.version) == [version(2)])
        bench.settle()
        bench.create("for-ada")
        #expect(bench.left() == [])
        #expect(bench.outcomes() == ["reassigned: create for-ada"])
        let told = bench.losses[0]
        #expect(told.recipient == "ada" && told.address == DeliveryBench.address && told.version == version(2))
    }

    @Test("1: a bind to another owner takes the old owner's waiting ops away and passes a closed battery gate")
    func trace1Waiting() {
        var bench = DeliveryBench.bound()
        bench.signal(DeviceReading(at: bench.now, battery: 0.05))
        bench.create("for-ada")
        bench.bind("bob", version: 2)
        #expect(bench.left() == [#"[["7:4:0","b"]]"#])
        #expect(bench.outcomes() == ["held by battery: create for-ada", "reassigned: create for-ada"])
    }

    @Test("3: a create that may have left before a crash is deleted, not cancelled")
    func trace3() {
        var bench = DeliveryBench.bound()
        bench.create("a")
        bench.crash()
        bench.delete("a")
        bench.pass(.seconds(1))
        #expect(bench.left().last == #"[["7:3:0","d","a",1]]"#)
    }

    @Test("4: ops keep their ids over a crash, and acks of ids that are not here confirm nothing")
    func trace4() {
        var bench = DeliveryBench.bound()
        let op = bench.create("a")
        bench.crash()
        bench.pass(.seconds(1))
        #expect(Set(bench.left()) == [#"[["7:2:0","c","a",1,{"title":"T"}]]"#])
        bench.signal(acks: [OpID(partition: 7, offset: 1, index: 0), OpID(partition: 6, offset: 2, index: 0)])
        #expect(bench.state.row.ops.map(\.op) == [op])
        bench.signal(acks: [op], owner: "bob")
        #expect(bench.state.row.ops.map(\.op) == [op])
    }

    @Test("9: an abort brings back the state from before; the same records and answers decide the same")
    func trace9() {
        var bench = DeliveryBench.bound()
        bench.create("a")
        let committed = bench
        var outcomes: [[String]] = []
        for _ in 0..<2 {
            bench = committed
            bench.answer(200)
            bench.delete("a")
            outcomes.append(bench.outcomes() + bench.left())
        }
        #expect(outcomes[0] == outcomes[1])
        #expect(outcomes[0].last == #"[["7:3:0","d","a",1]]"#)
    }

    @Test("10: a push carries deletes, urgent creates, then the newest; what does not fit comes next")
    func trace10() {
        var bench = DeliveryBench.bound()
        bench.create("warm")
        for index in 0..<40 { bench.create(Bytes("n\(index)"), title: String(repeating: "x", count: 200)) }
        bench.create("otp", urgent: true)
        bench.delete("gone")
        bench.pushes.removeAll()
        bench.answer(200)
        let push = bench.left()[0]
        #expect(push.hasPrefix(#"[["7:44:0","d","gone",1],["7:43:0","c","otp",1,{"title":"T"}],["7:42:0","c","n39","#))
        bench.answer(200)
        #expect(bench.left()[0].hasPrefix(#"[["7:3:0","c","n0","#))
    }

    @Test("10: an urgent create leads the push, before others that are older or newer")
    func urgentLeads() {
        var bench = DeliveryBench.bound()
        bench.create("warm")
        func create(_ numbers: Range<Int>) {
            for index in numbers { bench.create(Bytes("n\(index)"), title: String(repeating: "x", count: 200)) }
        }
        create(0..<20)
        bench.create("otp", urgent: true)
        create(20..<40)
        bench.pushes.removeAll()
        bench.answer(200)
        #expect(bench.left()[0].hasPrefix(#"[["7:23:0","c","otp",1,{"title":"T"}],["7:43:0","c","n39","#))
    }

    @Test(
        "10: unacknowledged ops ride along, go alone at 30 min, 2 h and 8 h, then are parked; every push asks for a hello"
    )
    func trace10Repeats() {
        var policy = Policy()
        policy.wakeUpBurst = 0
        var bench = DeliveryBench.bound(policy: policy)
        bench.create("a")
        bench.answer(200)
        bench.pushes.removeAll()
        for (wait, payload) in [
            (1800, #"[["7:2:0","c","a",1,{"title":"T"}]]"#), (7200, #"[["7:2:0","c","a",1,{"title":"T"}]]"#),
            (28_800, #"[["7:2:0","c","a",1,{"title":"T"}],["7:2:0","h"]]"#),
        ] {
            #expect(bench.wakeAt == bench.now + .seconds(wait))
            bench.pass(.seconds(wait - 1))
            #expect(bench.left() == [])
            bench.pass(.seconds(1))
            #expect(bench.left() == [payload])
            bench.answer(200)
        }
        bench.lines.removeAll()
        bench.pass(.seconds(1800))
        #expect(bench.outcomes() == ["parked: create a"])
        bench.create("b")
        #expect(bench.left() == [#"[["7:3:0","c","b",1,{"title":"T"}],["7:3:0","h"]]"#])
        bench.answer(200)
        bench.signal(acks: [OpID(partition: 7, offset: 3, index: 0)], hello: true)
        bench.create("c")
        #expect(bench.left() == [#"[["7:5:0","c","c",1,{"title":"T"}]]"#])
    }

    @Test("14: a 410 under an older binding drops nothing; its ops go again under the new one")
    func trace14() {
        var bench = DeliveryBench.bound()
        bench.create("a")
        bench.bind("ada", version: 2)
        bench.pushes.removeAll()
        bench.answer(410, "Unregistered", at: bench.now)
        #expect(bench.losses == [] && bench.state.row.binding?.version == version(2))
        #expect(bench.left() == [#"[["7:3:0","b"],["7:2:0","c","a",1,{"title":"T"}]]"#])
    }

    @Test(
        "33: more deletes than one push holds all leave, in pushes of 4096 bytes at most", arguments: Dialect.allCases)
    func manyDeletes(dialect: Dialect) {
        var policy = Policy()
        policy.wakeUpBurst = 0
        var bench = DeliveryBench.bound(dialect: dialect, acks: false, policy: policy)
        bench.create("warm")
        let padding = String(repeating: "x", count: 200)
        let ids = (100..<160).map { Bytes("\(padding)\($0)") }
        for id in ids { bench.delete(id) }
        bench.pushes.removeAll()
        var accepted: [Bytes?] = []
        for _ in 0..<100 where bench.state.soft.inFlight != nil {
            bench.answer(200)
            accepted += bench.lines.filter { $0.outcome == .accepted }.flatMap(\.ops).map(\.id)
            bench.lines.removeAll()
        }
        #expect(Set(accepted) == Set(ids + ["warm"]) && accepted.count == 61)
        #expect(bench.pushes.allSatisfy { $0.payload.count <= 4096 && !$0.isAlert })
        let counts: [Dialect: Int] = [.hush: 4, .airship: 1, .crt: 60, .pushwoosh: 60]
        #expect(bench.pushes.count == counts[dialect])
    }

    @Test("51: six creates in a row, of which APNs keeps the last push only: the phone gets all six")
    func sixCreates() {
        var bench = DeliveryBench.bound()
        var names: [OpID] = []
        for index in 0..<6 {
            names.append(bench.create(Bytes("n\(index)")))
            // The phone is offline: APNs takes each push and keeps it in the place of the one before.
            bench.answer(200)
        }
        let last = bench.left().last ?? ""
        #expect(bench.state.soft.inFlight == nil)
        for index in 0..<6 { #expect(last.contains(#""c","n\#(index)",1"#)) }
        bench.signal(acks: names)
        #expect(bench.state.row.ops.isEmpty)
    }

    @Test("10: of a push of two ops the one that is acknowledged is confirmed, the other goes again")
    func halfAcknowledged() {
        var bench = DeliveryBench.bound()
        bench.create("first")
        let a = bench.create("a")
        bench.create("b")
        bench.answer(200)
        bench.answer(200)
        bench.signal(acks: [a, OpID(partition: 7, offset: 2, index: 0)])
        #expect(bench.lines.filter { $0.outcome == .confirmed }.flatMap(\.ops).map(\.id) == ["first", "a"])
        bench.pushes.removeAll()
        bench.pass(.seconds(1800))
        #expect(bench.left() == [#"[["7:4:0","c","b",1,{"title":"T"}]]"#])
    }

    @Test("12: a visible create to a dialect of one op a push goes silently, and several that wait go one by one")
    func seedModes() {
        for dialect in [Dialect.crt, .pushwoosh] {
            for mode in [Mode.silent, .visible, .auto] {
                var bench = DeliveryBench.bound(dialect: dialect, acks: false)
                for id: Bytes in ["1", "2", "3"] { bench.create(id, mode: mode) }
                for _ in 0..<3 { bench.answer(200) }
                #expect(bench.pushes.map(\.isAlert) == [false, false, false])
                #expect(bench.pushes.map(\.priority) == [5, 5, 5])
                #expect(bench.pushes.map(\.collapseID) == ["hush.1", "hush.2", "hush.3"])
                #expect(bench.state.row.ops.isEmpty)
            }
        }
    }

    @Test("12: an update of pushwoosh deletes, then creates, both in the custom-data string")
    func pushwooshUpdate() {
        var bench = DeliveryBench.bound(dialect: .pushwoosh, acks: false)
        bench.create("1", 2, first: false, title: "again")
        #expect(bench.left() == [#"{"aps":{"content-available":1},"u":"{\"dlt\":1}"}"#])
        bench.answer(200)
        #expect(bench.left() == [#"{"aps":{"content-available":1},"u":"{\"crt\":1,\"title\":\"again\"}"}"#])
    }

    @Test("F1: a delete over an update that never left still goes")
    func f1() {
        var bench = DeliveryBench.bound()
        let op = bench.create("a")
        bench.answer(200)
        bench.signal(acks: [op])
        bench.signal(DeviceReading(at: bench.now, battery: 0.05, notBefore: bench.now + .seconds(30)))
        bench.create("a", 2, first: false)
        bench.delete("a", through: Standing.everyRevision)
        bench.pushes.removeAll()
        bench.pass(.seconds(30))
        #expect(bench.left() == [#"[["7:6:0","d","a",9223372036854775807]]"#])
    }

    @Test("F2: an update that expires while it waits deletes what it would have replaced")
    func f2() {
        var bench = DeliveryBench.bound()
        let op = bench.create("a")
        bench.answer(200)
        bench.signal(acks: [op])
        bench.signal(DeviceReading(at: bench.now, battery: 0.05, notBefore: bench.now + .seconds(60)))
        bench.create("a", 2, first: false, expires: bench.now + .seconds(30))
        bench.pushes.removeAll()
        bench.lines.removeAll()
        bench.pass(.seconds(30))
        #expect(bench.outcomes() == ["expired: create a"])
        bench.pass(.seconds(30))
        #expect(bench.left() == [#"[["7:5:0","d","a",2]]"#])
        bench.settle()
        #expect(bench.state.row.ops.isEmpty && bench.lines.isEmpty)
    }

    @Test("F2: a first create that expires unseen is deleted quietly")
    func f2Unseen() {
        var bench = DeliveryBench.bound()
        bench.signal(DeviceReading(at: bench.now, battery: 0.05, notBefore: bench.now + .seconds(60)))
        bench.create("a", expires: bench.now + .seconds(30))
        bench.pass(.seconds(60))
        #expect(bench.left() == [])
        #expect(bench.state.row.ops.map(\.quiet) == [true])
    }

    @Test("F3: a delete is quiet for a read on this install, loud where a newer revision is on its way, and quiet ends")
    func f3() {
        var bench = DeliveryBench.bound()
        bench.delete("read-here", through: 1, quiet: true)
        #expect(bench.left() == [] && bench.wakeAt == bench.now + .seconds(6 * 3600))
        bench.create("b")
        #expect(bench.left() == [#"[["7:3:0","c","b",1,{"title":"T"}],["7:2:0","d","read-here",1]]"#])
        bench.settle()
        bench.delete("c", through: 1, quiet: true)
        bench.delete("c", through: 2)
        #expect(bench.left() == [#"[["7:5:0","d","c",2]]"#])
        bench.settle()
        bench.delete("d", through: 1, quiet: true)
        bench.pass(.seconds(6 * 3600))
        #expect(bench.left() == [#"[["7:6:0","d","d",1]]"#])
    }

    @Test("F4: a bind reaches the app as an op, repeated until it is acknowledged; quiet only for an empty new install")
    func f4() {
        var bench = DeliveryBench()
        let first = bench.bind("ada", version: 1, fresh: true)
        #expect(bench.left() == [])
        bench.create("a")
        #expect(bench.left() == [#"[["7:2:0","c","a",1,{"title":"T"}],["7:1:0","b"]]"#])
        bench.answer(200)
        bench.signal(acks: [first, OpID(partition: 7, offset: 2, index: 0)])
        #expect(bench.state.row.ops.isEmpty)
        bench.bind("ada", version: 2, fresh: true)
        #expect(bench.left() == [#"[["7:4:0","b"]]"#])
        bench.answer(200)
        bench.pass(.seconds(1800))
        #expect(bench.left() == [#"[["7:4:0","b"]]"#])
    }

    @Test("F5: a 410 unbinds the binding its push was sent under, whatever Apple's timestamp says")
    func f5() {
        var bench = DeliveryBench.bound()
        bench.create("a")
        bench.create("b")
        let apple = Timestamp(millis: 0)
        bench.answer(410, "Unregistered", at: apple)
        #expect(bench.outcomes() == ["unregistered: create a", "unregistered: create b"])
        #expect(
            bench.losses == [
                Unregistration(
                    recipient: "ada", device: "ada-phone", reason: "Unregistered", address: DeliveryBench.address,
                    version: version(1), at: apple)
            ])
        #expect(bench.state.row.binding == nil && bench.state.row.ops.isEmpty)
    }

    @Test("F6: the version stays behind an unbind, so a lagging planner's older bind never wins")
    func f6() {
        var bench = DeliveryBench.bound()
        bench.bind("bob", version: 3)
        bench.settle()
        bench.record(.unbind(owner: "bob", version: version(3)))
        bench.bind("ada", version: 2)
        #expect(bench.left() == [] && bench.state.row.binding == nil)
        #expect(bench.losses.map(\.recipient) == ["ada"] && bench.losses.map(\.version) == [version(3)])
        bench.bind("ada", version: 4)
        #expect(bench.left() == [#"[["7:5:0","b"]]"#])
    }

    @Test("F6: an unbind of an older binding ends nothing")
    func f6Late() {
        var bench = DeliveryBench.bound()
        bench.bind("ada", version: 3)
        bench.record(.unbind(owner: "ada", version: version(1)))
        bench.record(.unbind(owner: "bob", version: version(9)))
        #expect(bench.state.row.binding?.version == version(3))
    }

    @Test("F6: a 410 leaves the version behind too, and the lagging planner learns of it")
    func f6Gone() {
        var bench = DeliveryBench.bound()
        bench.bind("ada", version: 3)
        bench.settle()
        bench.create("a")
        bench.answer(410, "Unregistered", at: bench.now)
        #expect(bench.state.row.binding == nil && bench.state.row.version == version(3))
        bench.losses.removeAll()
        bench.bind("bob", version: 2, device: "bob-phone")
        #expect(bench.state.row.binding == nil)
        #expect(bench.losses.map(\.recipient) == ["bob"] && bench.losses.map(\.version) == [version(3)])
    }

    @Test("F7: an op for an address bound to none tells its planner under which version")
    func f7() {
        var bench = DeliveryBench.bound()
        bench.record(.unbind(owner: "ada", version: version(1)))
        bench.create("a")
        #expect(bench.outcomes() == ["reassigned: create a"])
        #expect(bench.losses.map(\.version) == [version(1)])
    }

    @Test("F8: a push-full of quiet deletes does not keep a create back")
    func f8() {
        var bench = DeliveryBench.bound()
        let padding = String(repeating: "x", count: 240)
        for index in 0..<30 { bench.delete(Bytes("\(padding)\(index)"), quiet: true) }
        #expect(bench.left() == [])
        bench.create("new")
        #expect(bench.left()[0].hasPrefix(#"[["7:32:0","c","new",1,{"title":"T"}],["7:31:0","d","#))
    }

    @Test("G1: after a 410 a bind under a higher version binds again")
    func g1() {
        var bench = DeliveryBench.bound()
        bench.create("a")
        bench.answer(410, "Unregistered", at: bench.now)
        bench.bind("ada", version: 2)
        bench.create("a")
        bench.answer(200)
        #expect(bench.left().last == #"[["7:4:0","c","a",1,{"title":"T"}],["7:3:0","b"]]"#)
    }

    @Test("G1: a bind's lines name the record that brought it about, not the register it is versioned by")
    func causeOfBind() {
        var bench = DeliveryBench()
        let loss = Position(topic: .devices, partition: 3, offset: 90)
        bench.record(.bind(DeliveryBench.binding("ada", version: 1), fresh: false, cause: loss))
        bench.answer(200)
        #expect(bench.lines.last?.ops.map(\.cause) == [loss])
        bench.record(.bind(DeliveryBench.binding("ada", version: 1), fresh: false, cause: loss))
        #expect(bench.lines.last?.outcome == .coalesced)
        #expect(bench.lines.last?.ops.map(\.cause) == [loss])
    }

    @Test("G2: only what was sent is parked; the rest goes on with a wish for a hello")
    func g2() {
        var policy = Policy()
        policy.wakeUpBurst = 0
        policy.payloadBytesMax = 220
        var bench = DeliveryBench.bound(policy: policy)
        bench.create("old", notBefore: nil)
        bench.answer(200)
        bench.create("later", notBefore: bench.now + .seconds(50_000))
        for wait in [1800, 7200, 28_800] {
            bench.pass(.seconds(wait))
            bench.answer(200)
        }
        bench.pass(.seconds(1800))
        bench.pushes.removeAll()
        #expect(bench.outcomes().last == "parked: create old")
        bench.pass(.seconds(50_000))
        #expect(bench.left() == [#"[["7:3:0","c","later",1,{"title":"T"}],["7:3:0","h"]]"#])
    }
}

extension DelivererTraceTests {
    @Test("G2: a phone that is offline beyond the repeats, with more than one push holds: a hello brings the rest")
    func g2Overflow() {
        var policy = Policy()
        policy.payloadBytesMax = 220
        policy.wakeUpBurst = 0
        var bench = DeliveryBench.bound(policy: policy)
        for index in 0..<9 { bench.create(Bytes("n\(index)")) }
        // The phone is offline: every push is taken, none is acknowledged, until the last op is given up.
        for _ in 0..<200 where bench.state.row.ops.contains(where: { $0.kind == .create }) {
            if bench.state.soft.inFlight != nil {
                bench.answer(200)
            } else {
                bench.now = max(bench.wakeAt ?? bench.now, bench.now)
                bench.pass(.zero)
            }
        }
        #expect(bench.lines.filter(\.isFinal).map(\.outcome).allSatisfy { $0 == .parked })
        #expect(Set(bench.lines.filter(\.isFinal).flatMap(\.ops).map(\.id)).count == 9)
        #expect(bench.state.row.wantsHello && bench.state.row.ops.map(\.kind) == [.bind])
        // It comes back, says hello to whatever it got, and the planner sends what it lacks.
        bench.signal(hello: true)
        #expect(bench.state.row.ops.isEmpty && !bench.state.row.wantsHello)
        bench.create("n0")
        #expect(bench.pushes.last.map { String(decoding: $0.payload, as: UTF8.self).contains(#""c","n0""#) } == true)
    }
}

@Suite("Deliverer: another device on the same token")
struct DelivererDeviceTests {
    @Test("what waited for the person's former device ends in that one's name, and is sent all the same")
    func sameOwner() {
        var bench = DeliveryBench.bound(acks: false)
        bench.signal(DeviceReading(at: bench.now, battery: 0.05, notBefore: bench.now + .seconds(60)))
        bench.delete("a")
        bench.bind("ada", version: 2, device: "new-phone", dialect: .crt)
        #expect(bench.lines.first { $0.outcome == .coalesced }?.device == "ada-phone")
        bench.lines.removeAll()
        bench.pass(.seconds(60))
        #expect(bench.left().last == #"{"aps":{"content-available":1},"dlt":"a"}"#)
        bench.answer(200)
        #expect(bench.outcomes() == [] && bench.state.row.ops.isEmpty)
    }
}
