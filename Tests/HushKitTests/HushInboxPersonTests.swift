import Foundation
import HushCore
import HushKit
import Testing

@Suite("The inbox and the person")
struct HushInboxPersonTests {
    @Test("a swipe is a delete known to this install alone, unless it is reported")
    func swipe() {
        var inbox = inbox()
        _ = inbox.receive(push([create("a"), create("b", 4)]), now: start)
        #expect(inbox.swiped(identifier: "hush.a", reports: false) == [])
        #expect(
            inbox.swiped(identifier: "hush.b", reports: true) == [
                .report(HushReport(kind: .dismissed, id: "b", revision: 4, device: "ada-phone", install: "i1"))
            ])
        #expect(inbox.swiped(identifier: "hush.b", reports: true) == [])
        #expect(inbox.hello.gone == [.init(id: "a", revision: 1), .init(id: "b", revision: 4)])
        #expect(inbox.receive(push([create("a")]), now: start) == [.acknowledge(["7:1:0"])])
    }

    @Test("a read removes, and names the revision that was seen, the device and the install")
    func read() {
        var inbox = inbox()
        _ = inbox.receive(push([create("a", 2)]), now: start)
        let report = HushReport(kind: .read, id: "a", revision: 2, device: "ada-phone", install: "i1")
        #expect(inbox.read("a") == [.remove(["hush.a"]), .report(report)])
        #expect(inbox.receive(push([create("a", 3)]), now: start) == [shown("a", 3), .acknowledge(["7:1:0"])])
    }

    @Test("a read of what was never here names no revision")
    func readUnknown() {
        var inbox = inbox()
        let report = HushReport(kind: .read, id: "a", revision: nil, device: "ada-phone", install: "i1")
        #expect(inbox.read("a") == [.report(report)])
        #expect(inbox.receive(push([create("a")]), now: start) == [shown("a"), .acknowledge(["7:1:0"])])
    }

    @Test("what was swiped while the app could not see it is gone in the next hello (trace 5b)")
    func swipedUnseen() {
        var inbox = inbox()
        _ = inbox.receive(push([create("a"), create("b")]), now: start)
        let kept = HushDelivered(identifier: "hush.b")
        #expect(
            inbox.foregrounded(delivered: [kept], now: start) == [hello(shown: [("b", 1)], gone: [("a", 1)])])
        #expect(inbox.receive(push([create("a")]), now: start) == [.acknowledge(["7:1:0"])])
    }

    @Test("what was swiped is seen with the next push too, where the app asked what the centre holds (trace 5b)")
    func swipedBeforeAPush() {
        var inbox = inbox()
        _ = inbox.receive(push([create("a"), create("b")]), now: start)
        let kept = HushDelivered(identifier: "hush.b")
        #expect(
            inbox.receive(push([["7:9:0", "h"]]), delivered: [kept], now: start)
                == [hello(shown: [("b", 1)], gone: [("a", 1)])])
    }

    @Test("after a reinstall the hello names nothing, so that everything live comes again (trace 4c)")
    func reinstall() {
        var old = inbox()
        _ = old.receive(push([create("a")]), now: start)
        var new = HushInbox(device: "ada-phone", install: "i2")
        _ = new.loggedIn("ada", newInstall: "unused")
        #expect(new.foregrounded(delivered: [], now: start) == [hello()])
        #expect(
            new.receive(push(version: 2000, [["7:9:0", "b"], create("a")]), now: start)
                == [shown("a"), .acknowledge(["7:9:0", "7:1:0"]), hello(shown: [("a", 1)])])
    }

    @Test("acknowledged are op ids, whatever the sender forgot: nothing is counted on the phone (trace 4a, 4b)")
    func noCounter() {
        var inbox = inbox()
        _ = inbox.receive(push([create("a", op: "7:1207:0")]), now: start)
        // A sender whose state was lost gives lower op ids; they are taken all the same.
        #expect(
            inbox.receive(push([create("b", op: "7:3:0")]), now: start) == [shown("b"), .acknowledge(["7:3:0"])])
    }

    @Test("a state saved by a later build is refused")
    func savedLater() {
        let later = #"{"format":2,"device":"d","install":"i","loggedOut":false,"entries":[]}"#
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(HushInbox.self, from: Data(later.utf8))
        }
    }

    @Test("a restored inbox is the saved one")
    func saved() throws {
        var inbox = inbox()
        _ = inbox.registered(token: "AB01")
        _ = inbox.receive(push([create("caf\u{e9}", 2), create("cafe\u{301}"), delete("x")]), now: start)
        var restored = try JSONDecoder().decode(HushInbox.self, from: JSONEncoder().encode(inbox))
        #expect(restored == inbox)
        #expect(restored.receive(push([create("caf\u{e9}", 2, op: "7:5:0")]), now: start) == [.acknowledge(["7:5:0"])])
    }
}

@Suite("The inbox and its owner")
struct HushInboxOwnerTests {
    @Test("another owner's push is dropped and not acknowledged where the app tells who is logged in (trace 1)")
    func otherOwner() {
        var inbox = inbox("bob")
        #expect(inbox.receive(push(to: "ada", [create("a")]), now: start) == [.dropped(.otherOwner)])
        #expect(inbox.hello == HushHello(shown: [], gone: []))
    }

    @Test("a token that the sender takes for another person's is registered again, once for each of its bindings")
    func claimed() {
        var inbox = inbox("bob")
        _ = inbox.registered(token: "ab01")
        func claims(_ version: Int64) -> [String] {
            inbox.receive(push(to: "ada", version: version, [create("a")]), now: start).compactMap {
                guard case .register(let it) = $0 else { return nil }
                return "\(it.recipient) \(it.token) \(it.install == inbox.install) \(it.fresh)"
            }
        }
        let first = inbox.install
        #expect(claims(2000) == ["bob ab01 true true"])
        let second = inbox.install
        #expect(first != second, "a register that changes nothing would bind nothing anew")
        #expect(claims(2000) == [])
        #expect(claims(1999) == [])
        #expect(claims(2001) == ["bob ab01 true true"])
        #expect(inbox.install != second)
    }

    @Test("a late push of the owner before, whose binding is older than the person's own, is answered by nothing")
    func lateForAnother() {
        var inbox = inbox("bob")
        _ = inbox.registered(token: "ab01")
        _ = inbox.receive(push(to: "bob", version: 2000, [["7:9:0", "b"]]), now: start)
        #expect(inbox.receive(push(to: "ada", version: 1999, [create("a")]), now: start) == [.dropped(.otherOwner)])
    }

    @Test("where the app never tells, the bind of the new owner clears the screen, and the old owner's pushes drop")
    func untold() {
        var inbox = inbox(nil)
        #expect(inbox.receive(push(to: "ada", [create("a")]), now: start) == [shown("a"), .acknowledge(["7:1:0"])])
        #expect(
            inbox.receive(push(to: "bob", version: 2000, [["7:9:0", "b"]]), now: start)
                == [.removeAll, .acknowledge(["7:9:0"]), hello()])
        #expect(inbox.receive(push(to: "ada", [create("b")]), now: start) == [.dropped(.otherOwner)])
        #expect(inbox.receive(push(to: "ada", version: 2000, [create("b")]), now: start) == [.dropped(.otherOwner)])
    }

    @Test("a push of a lower binding version is dropped (trace F6)")
    func lowerVersion() {
        var inbox = inbox()
        _ = inbox.receive(push(version: 2000, [create("a")]), now: start)
        #expect(inbox.receive(push(version: 1999, [delete("a")]), now: start) == [.dropped(.lowerVersion)])
    }

    @Test("a phone that is logged out shows nothing, whatever binding arrives (trace F6)")
    func loggedOut() {
        var inbox = inbox()
        _ = inbox.registered(token: "AB01")
        _ = inbox.receive(push([create("a")]), now: start)
        #expect(
            inbox.loggedOut(newInstall: "i2") == [
                .removeAll, .unregister(HushUnregistration(recipient: "ada", device: "ada-phone")),
            ])
        #expect(
            inbox.receive(push(version: 9000, [["7:9:0", "b"], create("b")]), now: start) == [.dropped(.otherOwner)])
        #expect(inbox.receive(["hush": ["v": 2]], now: start) == [.dropped(.notUnderstood)])
        #expect(inbox.foregrounded(now: start) == [])
    }

    @Test("logout and login as the same person is a new install, which is told to hold nothing (trace F9)")
    func sameOwnerAgain() {
        var inbox = inbox()
        _ = inbox.registered(token: "AB01")
        _ = inbox.receive(push([create("a")]), now: start)
        _ = inbox.loggedOut(newInstall: "i2")
        #expect(
            inbox.loggedIn("ada", newInstall: "i3") == [
                .register(
                    HushRegistration(
                        recipient: "ada", device: "ada-phone", install: "i2", token: "ab01", fresh: true))
            ])
        #expect(inbox.loggedIn("ada", newInstall: "i4") == [])
    }

    @Test("a login over another unregisters that one first, wipes, and registers a new install")
    func switchOwner() {
        var inbox = inbox()
        _ = inbox.registered(token: "ab01")
        _ = inbox.receive(push([create("a")]), now: start)
        #expect(
            inbox.loggedIn("bob", newInstall: "i2") == [
                .removeAll, .unregister(HushUnregistration(recipient: "ada", device: "ada-phone")),
                .register(
                    HushRegistration(
                        recipient: "bob", device: "ada-phone", install: "i2", token: "ab01", fresh: true)),
            ])
    }

    @Test("a register after something was shown is not fresh and keeps its install")
    func renewal() {
        var inbox = inbox()
        _ = inbox.receive(push([create("a")]), now: start)
        #expect(
            inbox.registered(token: "CD02") == [
                .register(
                    HushRegistration(
                        recipient: "ada", device: "ada-phone", install: "i1", token: "cd02", fresh: false))
            ])
    }

    @Test(
        "a new token's bind is answered with what is on the screen, and the delete lost with the old one follows (F4)")
    func newToken() {
        var inbox = inbox()
        _ = inbox.receive(push([create("x")]), now: start)
        #expect(
            inbox.receive(push(version: 2000, [["9:1:0", "b"]]), now: start)
                == [.acknowledge(["9:1:0"]), hello(shown: [("x", 1)])])
        #expect(
            inbox.receive(push(version: 2000, [delete("x")]), now: start)
                == [.remove(["hush.x"]), .acknowledge(["7:2:0"])])
    }

    @Test("a delete through every revision leaves nothing of an update that was cancelled on its way (F1, F3)")
    func retract() {
        var inbox = inbox()
        _ = inbox.receive(push([create("x", 1)]), now: start)
        _ = inbox.receive(push([delete("x")]), now: start)
        #expect(inbox.receive(push([create("x", 2)]), now: start) == [.acknowledge(["7:1:0"])])
        #expect(inbox.hello == HushHello(shown: [], gone: [.init(id: "x", revision: .max)]))
    }
}
