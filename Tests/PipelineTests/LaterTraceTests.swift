import HushCore
import HushKit
import HushSimulator
import HushWorkers
import Testing

/// Traces that random testing of the design found, from producers to screens.
@Suite("The path: traces found later")
struct LaterTraceTests {
    private func show(_ id: String, _ revision: Int = 1, title: String = "T", more: String = "") -> String {
        #"{"id":"\#(id)","revision":\#(revision),"title":"\#(title)"\#(more)}"#
    }

    @Test("F1: an update that never left, then a retract: the old revision goes too")
    func retractedUpdate() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(.intents, show("x"))
        try path.settle()
        #expect(phone.shown == ["x"])
        path.publish(phone.report(level: 0.05, charging: false, hint: .seconds(600), now: path.now))
        path.publish(.intents, show("x", 2, title: "U"))
        path.publish(.intents, #"{"id":"x","retract":true}"#)
        try path.settle()
        try path.pass(.seconds(600))
        #expect(phone.shown == [])
        #expect(path.books.problems == [] && path.books.pending == [], "\(path.books)")
    }

    @Test("F2: an update that expires while it is held takes the old revision with it")
    func expiredUpdate() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(.intents, show("x"))
        try path.settle()
        path.publish(phone.report(level: 0.05, charging: false, hint: .seconds(600), now: path.now))
        path.publish(.intents, show("x", 2, title: "U", more: #","ttl":30"#))
        try path.settle()
        #expect(phone.shown == ["x"])
        try path.pass(.seconds(7 * 3600))
        #expect(phone.shown == [])
        #expect(path.books.problems == [] && path.books.pending == [], "\(path.books)")
    }

    @Test("F3: a read without a revision reaches the phone though the phone made it, for r2 may be on its way")
    func readOfAnOlderRevision() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(.intents, show("x"))
        try path.settle()
        path.goOffline(phone)
        path.publish(.intents, show("x", 2, title: "U"))
        try path.settle()
        path.publish(.reads, #"{"id":"x","device":"d1","install":"i1"}"#)
        try path.settle()
        try path.comeOnline(phone)
        try path.pass(.seconds(3600))
        #expect(phone.shown == [])
        #expect(path.books.problems == [] && path.books.pending == [], "\(path.books)")
    }

    @Test("F3: a read that a reinstall's register overtook still deletes on the new install")
    func readOvertaken() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(.intents, show("x"))
        try path.settle()
        path.isDetained = true
        path.publish(phone.read("x", revision: 1, now: path.now))
        path.publish(phone.reinstall(token: "bb000001", install: "i1b", now: path.now))
        path.letGo { messages in messages.filter { $0.topic != .reads } + messages.filter { $0.topic == .reads } }
        try path.settle()
        try path.pass(.seconds(7 * 3600))
        #expect(phone.shown == [])
        #expect(path.books.problems == [] && path.books.pending == [], "\(path.books)")
    }

    @Test("F4: a delete that was unfinished on the old token is made good on the new one")
    func deleteOnOldToken() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(.intents, show("x"))
        try path.settle()
        path.apns.fate = .lose
        path.publish(.reads, #"{"id":"x","revision":1}"#)
        try path.settle()
        path.apns.fate = .accept
        path.publish(phone.renew(token: "bb000001", now: path.now))
        try path.settle()
        try path.pass(.seconds(60))
        #expect(phone.shown == [])
        #expect(path.books.problems == [] && path.books.pending == [], "\(path.books)")
    }

    @Test("F5: a token that died before its register was appended is let go after one 410")
    func deadBeforeRegister() throws {
        let path = try VirtualPath()
        path.apns.bury("aa000001", at: path.now)
        try path.pass(.seconds(5))
        _ = try path.phone()
        path.publish(.intents, show("x"))
        try path.settle()
        path.publish(.intents, show("y"))
        try path.pass(.seconds(86_400))
        #expect(path.decisions("y") == ["waiting"])
        #expect(path.left.count == 1)
        #expect(path.books.problems == [] && path.books.pending == [], "\(path.books)")
    }

    @Test("F6: a lagging planner's older bind does not win over a logout")
    func laggingBind() throws {
        let path = try VirtualPath()
        path.lag("ada")
        _ = try path.phone("ada", token: "aa00000f")
        path.publish(.intents, show("ada's"))
        try path.pass(.seconds(1))
        let bob = try path.phone("bob", token: "aa00000f")
        path.publish(.devices, #"{"device":"d2","unregister":true}"#, key: "bob")
        try path.settle()
        let before = path.left.count
        try path.catchUp()
        try path.pass(.seconds(3600))
        #expect(path.left.count == before)
        #expect(bob.shown == [])
        // Ada's planner knows by now, so nothing goes there again.
        path.publish(.intents, show("later"))
        try path.settle()
        #expect(path.decisions("later") == ["waiting"])
        #expect(path.books.problems == [])
    }

    @Test("F7: an owner whose address went away is told once, and its next intent waits for a device")
    func loserIsTold() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.apns.bury(phone.token, at: path.now + .seconds(1))
        path.publish(.intents, show("x"))
        try path.settle()
        path.publish(.intents, show("y"))
        try path.settle()
        #expect(path.decisions("y") == ["waiting"])
        #expect(path.books.problems == [] && path.books.pending == [], "\(path.books)")
    }

    @Test("F8: a push-full of quiet deletes does not keep a create back")
    func quietDeletes() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        let padding = String(repeating: "p", count: 200)
        for index in 0..<30 { path.publish(.intents, show("\(padding)\(index)")) }
        try path.settle()
        try path.pass(.seconds(3600))
        #expect(phone.shown.count == 30)
        for index in 0..<30 { path.publish(phone.read(Bytes("\(padding)\(index)"), revision: 1, now: path.now)) }
        try path.settle()
        path.publish(.intents, show("new"))
        try path.settle()
        #expect(phone.shown == ["new"])
        try path.pass(.seconds(86_400))
        #expect(path.books.problems == [] && path.books.pending == [], "\(path.books)")
    }

    @Test("F9: logout and login as the same person on one phone: the screen is full again")
    func wiped() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(.intents, show("x"))
        try path.settle()
        for (owner, install) in [("bob", "i2"), ("ada", "i3")] {
            try path.pass(.seconds(1))
            path.isDetained = true
            path.publish(phone.move(to: Bytes(owner), install: Bytes(install), now: path.now))
            // The hello that a login brings is lost.
            path.letGo { messages in messages.filter { $0.topic == .devices } }
        }
        try path.settle()
        try path.pass(.seconds(60))
        #expect(phone.shown == ["x"])
        #expect(path.books.problems == [] && path.books.pending == [], "\(path.books)")
    }

    @Test("G1: a 410 whose news comes after a register that changed nothing does not unbind for good")
    func lossAgainstRenewal() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.apns.fate = .hold
        path.publish(.intents, show("x"))
        try path.settle()
        let death = path.now
        try path.pass(.seconds(10))
        path.publish(phone.launch(now: path.now))
        try path.settle()
        path.apns.release(.unregister(at: death))
        path.apns.fate = .accept
        try path.settle()
        #expect(phone.shown == ["x"])
        path.publish(.intents, show("y"))
        try path.settle()
        #expect(phone.shown == ["x", "y"])
        #expect(path.books.problems == [] && path.books.pending == [], "\(path.books)")
    }
}
