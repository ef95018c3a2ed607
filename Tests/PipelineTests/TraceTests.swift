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
}
