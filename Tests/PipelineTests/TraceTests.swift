import HushCore
import HushKit
import HushSimulator
import HushStream
import HushWorkers
import Testing

/// Sequences that lost, doubled or misdirected a notification in earlier designs, from producers to screens. Each name
/// begins with the trace's number; the rules' own tests of the same traces stand beside the planner's and the deliverer's.
@Suite("The path: traces that must not happen")
struct TraceTests {
    private func show(_ id: String, _ revision: Int = 1, title: String = "T", more: String = "") -> String {
        #"{"id":"\#(id)","revision":\#(revision),"title":"\#(title)"\#(more)}"#
    }

    /// Everything planned came to one end.
    private func expectBalance(
        _ path: VirtualPath, pending: Int = 0, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let books = path.books
        #expect(books.problems == [], sourceLocation: sourceLocation)
        #expect(books.pending.count == pending, "\(books.pending)", sourceLocation: sourceLocation)
        #expect(path.apns.refused.filter { $0 != "Unregistered" } == [], sourceLocation: sourceLocation)
        for phone in path.phones { #expect(!phone.rangTwice, sourceLocation: sourceLocation) }
    }

    @Test("1: a token that went to another owner shows nothing of the old one, who is told", arguments: [false, true])
    func owners(isLagging: Bool) throws {
        let path = try VirtualPath()
        let old = try path.phone("ada", token: "aa00000f")
        if isLagging { path.lag("ada") }
        path.publish(.intents, show("ada's"))
        old.screen.reset()
        let new = try path.phone("bob", token: "aa00000f")
        if isLagging { try path.catchUp() }
        path.publish(.intents, show("ada's too"))
        path.publish(.intents, show("bob's"), key: "bob")
        try path.settle()
        #expect(new.shown == ["bob's"])
        #expect(path.values(.devices).contains { $0.contains(#""reason":"reassigned""#) && $0.contains(#""ada""#) })
        path.publish(.intents, show("later"))
        try path.settle()
        #expect(path.decisions("later") == ["waiting"])
        #expect(path.books.problems == [])
    }

    @Test("2: a create held for a low battery and read on that very phone does not pop up when the gate opens")
    func readWhileHeld() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(phone.report(level: 0.05, charging: false, hint: .seconds(600), now: path.now))
        path.publish(.intents, show("x"))
        try path.settle()
        path.publish(phone.read("x", revision: 1, now: path.now))
        try path.settle()
        try path.pass(.seconds(12 * 3600))
        #expect(phone.shown == [] && phone.screen.rings["x"] == nil)
        expectBalance(path)
    }

    @Test("3: a create that left before a crash is deleted by the retract that comes after")
    func crashAfterSend() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.apns.fate = .takeAndLoseAnswer
        path.isDetained = true
        path.publish(.intents, show("x"))
        try path.settle()
        #expect(phone.shown == ["x"])
        try path.crashDelivery()
        path.apns.fate = .accept
        path.publish(.intents, #"{"id":"x","retract":true}"#)
        try path.settle()
        path.letGo()
        try path.pass(.seconds(3600))
        #expect(phone.shown == [])
        expectBalance(path)
    }

    @Test("4: after a crash ops keep their ids, and a repeat neither shows nor rings again")
    func repeatAfterCrash() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.apns.fate = .takeAndLoseAnswer
        path.isDetained = true
        path.publish(.intents, show("x"))
        try path.settle()
        try path.crashDelivery()
        path.apns.fate = .accept
        path.letGo()
        try path.pass(.seconds(3600))
        #expect(phone.shown == ["x"])
        expectBalance(path)
    }

    @Test("4: a reinstall gets everything live again, and what was read does not come back")
    func reinstall() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        for id in ["a", "b"] { path.publish(.intents, show(id)) }
        path.publish(.reads, #"{"id":"a","revision":1}"#)
        try path.settle()
        path.apns.bury(phone.token, at: path.now)
        path.publish(phone.reinstall(token: "bb000001", install: "i1b", now: path.now))
        try path.settle()
        try path.pass(.seconds(60))
        #expect(phone.shown == ["b"])
        expectBalance(path)
    }

    @Test("5: a hello tells a swipe from a lost delete")
    func hello() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        for id in ["lost", "swiped", "live"] { path.publish(.intents, show(id)) }
        try path.settle()
        path.apns.fate = .lose
        path.publish(.reads, #"{"id":"lost","revision":1}"#)
        try path.settle()
        phone.screen.remove(["hush.swiped"])
        path.apns.fate = .accept
        path.publish(phone.foreground(now: path.now))
        try path.settle()
        try path.pass(.seconds(3600))
        #expect(phone.shown == ["live"])
        #expect(phone.screen.rings["swiped"] == [1: 1])
        expectBalance(path)
    }

    @Test("6: an intent that the planner reads before its recipient's first register is shown")
    func welcome() throws {
        let path = try VirtualPath()
        path.lag("ada")
        let phone = try path.phone()
        path.publish(.intents, show("welcome"))
        try path.catchUp()
        #expect(path.decisions("welcome") == ["waiting"])
        #expect(phone.shown == ["welcome"])
        expectBalance(path)
    }

    @Test("7: a retract without a revision takes every revision off; a read of r1 leaves r2, in either order")
    func revisions() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        for revision in [1, 2] { path.publish(.intents, show("gone", revision)) }
        path.publish(.intents, #"{"id":"gone","retract":true}"#)
        path.publish(.intents, show("after"))
        path.publish(.reads, #"{"id":"after","revision":1}"#)
        path.publish(.intents, show("after", 2, title: "U"))
        path.publish(.reads, #"{"id":"before","revision":1}"#)
        path.publish(.intents, show("before"))
        path.publish(.intents, show("before", 2, title: "U"))
        try path.settle()
        #expect(phone.shown == ["after", "before"])
        #expect(phone.entries["after"]?.title == "U" && phone.entries["before"]?.title == "U")
        expectBalance(path)
    }

    @Test("8: a topic that is written again ten days later notifies nobody")
    func rewrittenTopic() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        let created = #","created":"2025-12-01T10:00:00Z""#
        for id in ["a", "b"] { path.publish(.intents, show(id, more: created)) }
        try path.settle()
        try path.pass(.seconds(10 * 86_400))
        let before = path.left.count
        for id in ["a", "b"] { path.publish(.intents, show(id, more: created)) }
        try path.settle()
        #expect(phone.shown == [] && path.left.count == before)
        #expect(path.decisions("a") == ["planned", "stale"])
        expectBalance(path)
    }

    @Test("9: an aborted transaction sends nothing twice, before a push and after its answer")
    func aborts() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        let before = path.left.count
        path.publish(.intents, show("x"))
        try path.abortDelivery()
        try path.settle()
        #expect(path.left.count == before + 1)
        path.apns.fate = .hold
        path.publish(.intents, show("y"))
        try path.settle()
        path.apns.release()
        try path.abortDelivery()
        path.apns.fate = .accept
        try path.settle()
        try path.pass(.seconds(60))
        #expect(path.left.count == before + 2)
        #expect(phone.shown == ["x", "y"])
        expectBalance(path)
    }

    @Test("14: a 410 for the token of yesterday does not cost the phone its new one")
    func oldToken() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.apns.fate = .hold
        path.publish(.intents, show("x"))
        try path.settle()
        path.apns.bury(phone.token, at: path.now)
        path.isDetained = true
        path.publish(phone.renew(token: "bb000001", now: path.now))
        path.apns.release()
        path.apns.fate = .accept
        path.letGo()
        try path.settle()
        try path.pass(.seconds(60))
        #expect(phone.shown == ["x"])
        path.publish(.intents, show("y"))
        try path.settle()
        #expect(phone.shown == ["x", "y"])
        expectBalance(path)
    }

    @Test("18: a record in a foreign partition is moved once and counts once")
    func rekeyed() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        for partition in Int32(0)..<VirtualPath.partitionCount {
            path.publish(.intents, show("x"), partition: partition)
        }
        try path.settle()
        #expect(phone.shown == ["x"])
        let decisions = path.decisions("x")
        #expect(decisions.filter { $0 == "planned" }.count == 1)
        #expect(decisions.filter { $0 == "rekeyed" }.count == 3 && decisions.filter { $0 == "duplicate" }.count == 3)
        expectBalance(path)
    }

    @Test("18: a register that was moved binds once, and its bind is told under the record that moved it there")
    func rekeyedRegister() throws {
        let path = try VirtualPath()
        let register = #"{"device":"d9","token":"cc000009","app":"com.example.hush","acks":true}"#
        let home = Murmur2.partition(of: Array("ada".utf8), count: VirtualPath.partitionCount)
        path.publish(.devices, register, partition: (home + 1) % VirtualPath.partitionCount)
        try path.settle()
        #expect(path.left.count == 1)
        #expect(path.books.problems == [])
        #expect(path.books.pending.map(\.description) == ["bind  on d9 by hush.devices-\(home)@0"])
    }

    @Test("24: escapes do not make another id, Unicode forms and letters do; 42 is \"42\"")
    func ids() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        for id in [#""caf\u00e9""#, "\"caf\u{e9}\"", #""cafe\u0301""#, "42", #""42""#, "9007199254740993"] {
            path.publish(.intents, #"{"id":\#(id),"title":"T"}"#)
        }
        try path.settle()
        #expect(
            Set(phone.entries.keys) == ["caf\u{e9}", "cafe\u{301}", "42", "9007199254740993"] as Set<Bytes>)
        expectBalance(path)
    }

    @Test("5: a hello that was said before a create came brings it once and rings once; before a delete, it stays gone")
    func overtakenHello() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(.intents, show("old"))
        try path.settle()
        // What the phone says from here on is under way for long: first of all that it shows nothing but "old".
        path.isDetained = true
        path.publish(phone.foreground(now: path.now))
        path.publish(.intents, show("new"))
        path.publish(.reads, #"{"id":"old","revision":1}"#)
        try path.settle()
        #expect(phone.shown == ["new"])
        path.letGo()
        try path.settle()
        try path.pass(.seconds(3600))
        #expect(phone.shown == ["new"] && phone.screen.rings["new"] == [1: 1])
        expectBalance(path)
    }

    @Test("24: the same content in another raw form is a duplicate, other content under its revision a conflict")
    func rawForms() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(.intents, "{\"id\":\"x\",\"title\":\"caf\u{e9}\",\"body\":\"1/2\"}")
        path.publish(.intents, #"{ "body" : "1\/2", "title": "caf\u00e9", "id": "\u0078", "revision": 1 }"#)
        path.publish(.intents, #"{"id":"x","title":"cafe\u0301","body":"1/2"}"#)
        try path.settle()
        #expect(path.decisions("x") == ["planned", "duplicate", "conflict"])
        #expect(phone.shown == ["x"] && phone.screen.rings["x"] == [1: 1])
        expectBalance(path)
    }

    @Test("51: six creates for a phone that is offline: APNs keeps the last push only, and it brings all six")
    func sixCreates() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.goOffline(phone)
        for index in 1...6 {
            path.publish(.intents, show("n\(index)"))
            try path.settle()
        }
        try path.comeOnline(phone)
        #expect(phone.shown == (1...6).map { "n\($0)" })
        expectBalance(path)
    }

    @Test(
        "12: where a push is one op, a phone that was offline gets the newest only, and nothing is repeated to it",
        arguments: [Dialect.crt, .pushwoosh])
    func storedSeed(dialect: Dialect) throws {
        let path = try VirtualPath()
        let phone = try path.phone(dialect: dialect)
        path.goOffline(phone)
        for index in 1...5 {
            path.publish(.intents, show("n\(index)"))
            try path.settle()
        }
        try path.comeOnline(phone)
        try path.pass(.seconds(12 * 3600))
        #expect(phone.shown == ["n5"] && path.left.count == 5)
        expectBalance(path)
    }

    @Test(
        "11: what APNs keeps of an alert is put out by the next push, alert or delete; a later one brings it",
        arguments: [false, true])
    func evictedAlert(isBySilence: Bool) throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(.intents, show("c"))
        try path.settle()
        path.goOffline(phone)
        path.publish(.intents, show("a", more: #","mode":"visible""#))
        try path.settle()
        if isBySilence {
            path.publish(.intents, #"{"id":"c","retract":true}"#)
        } else {
            path.publish(.intents, show("b", more: #","mode":"visible""#))
        }
        try path.settle()
        // Two pushes left, and APNs has the second in the place of the first.
        let kinds = path.apns.accepted.suffix(2).map { $0.delivered.isAlert }
        #expect(kinds == [true, !isBySilence])
        try path.comeOnline(phone)
        #expect(phone.shown == (isBySilence ? ["a"] : ["a", "b", "c"]))
        try path.pass(.seconds(12 * 3600))
        #expect(phone.shown == (isBySilence ? ["a"] : ["a", "b", "c"]))
        expectBalance(path)
    }

    @Test("22: neither tokens nor contents stand in the ledger, whatever becomes of their pushes")
    func privateLedger() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(.intents, show("x", title: "very private", more: #","body":"as well","extras":{"k":"too"}"#))
        try path.settle()
        path.publish(.intents, #"{"id":"x","title":"very private indeed"}"#)
        path.publish(.intents, #"{"id":"bad","title":17,"body":"very private"}"#)
        path.apns.fate = .lose
        path.publish(.intents, show("y", title: "very private"))
        try path.settle()
        path.apns.fate = .accept
        path.apns.bury(phone.token, at: path.now)
        path.publish(.intents, show("z", title: "very private"))
        try path.pass(.seconds(3600))
        let ledger = path.values(.ledger)
        #expect(ledger.contains { $0.contains(#""outcome":"unregistered""#) })
        #expect(ledger.contains { $0.contains(#""decision":"conflict""#) })
        #expect(ledger.contains { $0.contains(#""decision":"dead""#) })
        for secret in ["very private", "as well", "\"too\"", phone.token.text] {
            #expect(!ledger.contains { $0.contains(secret) }, "\(secret)")
        }
    }
}
