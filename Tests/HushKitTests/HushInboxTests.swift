import HushCore
import HushKit
import Testing

@Suite("The inbox takes pushes")
struct HushInboxTests {
    @Test("a create shows with sound and is acknowledged; its repeat is acknowledged and changes nothing")
    func createAndRepeat() {
        var inbox = inbox()
        #expect(
            inbox.receive(push([create("order-42")]), now: start)
                == [shown("order-42"), .acknowledge(["7:1:0"])])
        #expect(inbox.receive(push([create("order-42")]), now: start) == [.acknowledge(["7:1:0"])])
    }

    @Test("an update replaces under the same identifier, an older revision does nothing")
    func update() {
        var inbox = inbox()
        _ = inbox.receive(push([create("order-42")]), now: start)
        #expect(
            inbox.receive(push([create("order-42", 3, title: "moved")]), now: start)
                == [shown("order-42", 3, title: "moved"), .acknowledge(["7:1:0"])])
        #expect(inbox.receive(push([create("order-42", 2)]), now: start) == [.acknowledge(["7:1:0"])])
        #expect(inbox.revisionShown("order-42") == 3)
    }

    @Test("a delete that comes before its create keeps it off the screen, and a later revision shows")
    func deleteFirst() {
        var inbox = inbox()
        #expect(inbox.receive(push([delete("a", 1)]), now: start) == [.acknowledge(["7:2:0"])])
        #expect(inbox.receive(push([create("a", 1)]), now: start) == [.acknowledge(["7:1:0"])])
        #expect(inbox.receive(push([create("a", 2)]), now: start) == [shown("a", 2), .acknowledge(["7:1:0"])])
    }

    @Test("one push shows nothing that it takes back itself")
    func noFlash() {
        var inbox = inbox()
        #expect(
            inbox.receive(push([create("a", op: "7:1:0"), delete("a", op: "7:2:0")]), now: start)
                == [.acknowledge(["7:1:0", "7:2:0"])])
    }

    @Test("a delete takes the notification off the screen")
    func deleteShown() {
        var inbox = inbox()
        _ = inbox.receive(push([create("a")]), now: start)
        #expect(
            inbox.receive(push([delete("a", 1)]), now: start) == [.remove(["hush.a"]), .acknowledge(["7:2:0"])])
    }

    @Test("an alert that the system showed is not shown again, and its id counts as shown")
    func presented() {
        var inbox = inbox()
        #expect(
            inbox.receive(push([create("a")]), presented: "hush.a", now: start) == [.acknowledge(["7:1:0"])])
        #expect(inbox.hello.shown == [.init(id: "a", revision: 1)])
        #expect(
            inbox.receive(push([delete("b", 1), create("b", 1)]), presented: "hush.b", now: start)
                == [.remove(["hush.b"]), .acknowledge(["7:2:0", "7:1:0"])])
    }

    @Test(
        "an alert that put an older revision, or another binding's, in place of what stood there is made good silently")
    func spoiled() {
        var inbox = inbox()
        _ = inbox.receive(push(version: 2000, [create("a", 2)]), now: start)
        #expect(
            inbox.receive(push(version: 2000, [create("a", 1)]), presented: "hush.a", now: start)
                == [.remove(["hush.a"]), .acknowledge(["7:1:0"]), hello()])
        #expect(
            inbox.receive(push(version: 2000, [create("a", 2)]), now: start)
                == [shown("a", 2, sound: false), .acknowledge(["7:1:0"])])
        #expect(
            inbox.receive(push(version: 1000, [create("a", 1)]), presented: "hush.a", now: start)
                == [.remove(["hush.a"]), .dropped(.lowerVersion), hello()])
        #expect(
            inbox.receive(push(to: "bob", version: 9000, [create("z")]), presented: "hush.z", now: start)
                == [.remove(["hush.z"]), .dropped(.otherOwner)])
    }

    @Test("an alert shown while the app could not run is taken over from the centre, and not shown again")
    func adopted() {
        var inbox = inbox()
        let alert = HushDelivered(identifier: "hush.a", payload: push([create("a", 2)]))
        #expect(inbox.foregrounded(delivered: [alert], now: start) == [hello(shown: [("a", 2)])])
        #expect(inbox.receive(push([create("a", 2)]), now: start) == [.acknowledge(["7:1:0"])])
    }

    @Test("42 and \"42\" are one notification, composed and decomposed letters are two")
    func ids() {
        var inbox = inbox()
        _ = inbox.receive(push([create(42), create("42"), create("caf\u{e9}"), create("cafe\u{301}")]), now: start)
        #expect(inbox.hello.shown.map(\.id) == ["42", "cafe\u{301}", "caf\u{e9}"])
        #expect(inbox.hello.shown.count == 3)
    }

    @Test("another version shows nothing and is answered by a hello, at most once in ten minutes")
    func unknownVersion() {
        var inbox = inbox()
        let payload: PayloadValue = ["hush": ["v": 2, "ops": [["7:1:0", "c", "a", 1, ["title": "x"]]]]]
        #expect(inbox.receive(payload, now: start) == [.dropped(.notUnderstood), hello()])
        #expect(inbox.receive(payload, now: start + .seconds(599)) == [.dropped(.notUnderstood)])
        #expect(inbox.receive(payload, now: start + .seconds(600)) == [.dropped(.notUnderstood), hello()])
    }

    @Test(
        "an op that is not understood is not acknowledged, the others are done, and a hello is said",
        arguments: [
            ["7:9:0", "x", "a", 1], ["7:9:0", "c", "a", 0, [:]], ["7:9:0", "c", "a", 1], ["7:9:0", "c", nil, 1, [:]],
            ["7:9:0", "d", "a", "1"], ["7:9:0"], 7, [9, "d", "a", 1], ["7:9:0", "c", 1.5, 1, [:]],
        ] as [PayloadValue])
    func unknownOp(op: PayloadValue) {
        var inbox = inbox()
        #expect(
            inbox.receive(push([op, create("b")]), now: start)
                == [shown("b"), .acknowledge(["7:1:0"]), hello(shown: [("b", 1)])])
    }

    @Test("asked for a hello, it says one, and acknowledges nothing by it")
    func askedForHello() {
        var inbox = inbox()
        #expect(inbox.receive(push([["7:9:0", "h"]]), now: start) == [hello()])
    }

    @Test("what is no push of ours does nothing")
    func foreign() {
        var inbox = inbox()
        #expect(inbox.receive(["aps": ["alert": "hi"]], now: start) == [.dropped(.foreign)])
        #expect(inbox.receive("text", now: start) == [.dropped(.foreign)])
        #expect(!HushInbox.isOurs(["aps": [:]]))
        #expect(HushInbox.isOurs(["hush": ["v": 2]]))
    }

    @Test("what has expired on its way is not shown, and takes the revision before it off the screen")
    func expiredOnArrival() {
        var inbox = inbox()
        _ = inbox.receive(push([create("a")]), now: start)
        #expect(
            inbox.receive(push([create("a", 2, expires: start)]), now: start)
                == [.remove(["hush.a"]), .acknowledge(["7:1:0"])])
        #expect(inbox.hello == HushHello(shown: [], gone: [.init(id: "a", revision: 2)]))
    }

    @Test("a notification leaves the screen when it expires, or after a week where nobody said when")
    func expiry() {
        var inbox = inbox()
        _ = inbox.receive(push([create("a", expires: start + .seconds(60)), create("b")]), now: start)
        #expect(inbox.nextExpiry == start + .seconds(60))
        #expect(inbox.expire(now: start + .seconds(59)) == [])
        #expect(inbox.expire(now: start + .seconds(60)) == [.remove(["hush.a"])])
        #expect(inbox.expire(now: start + .seconds(7 * 86_400)) == [.remove(["hush.b"])])
        #expect(inbox.nextExpiry == nil)
    }

    @Test("8: a life that its sender gave ends when he said, however long it is")
    func longLife() {
        var inbox = inbox()
        let end = start + .seconds(300 * 86_400)
        _ = inbox.receive(push([create("a", expires: end)]), now: start)
        #expect(inbox.nextExpiry == end)
        #expect(inbox.expire(now: start + HushLimits.life) == [])
        #expect(inbox.foregrounded(now: start + .seconds(200 * 86_400)) == [hello(shown: [("a", 1)])])
        #expect(inbox.expire(now: end) == [.remove(["hush.a"])])
    }

    @Test("8: without a word from its sender a notification stays for as long as he knows it, and no life is longer")
    func lifeAndWindow() {
        #expect(HushLimits.life == Policy().dedupeWindow)
        #expect(HushLimits.life > Policy().lifeMax)
    }

    @Test("the ids that are gone longest are forgotten first, and the oldest shown ones leave")
    func limits() {
        var inbox = inbox()
        for number in 0..<(HushLimits.goneMax + 1) {
            _ = inbox.receive(push([delete(.integer(Int64(number)), 1)]), now: start)
        }
        #expect(inbox.hello.gone.count == HushLimits.goneMax)
        #expect(!inbox.hello.gone.contains(.init(id: "0", revision: 1)))
        for number in 0..<HushLimits.shownMax {
            _ = inbox.receive(push([create(.integer(Int64(1000 + number)))]), now: start)
        }
        #expect(
            inbox.receive(push([create("new")]), now: start)
                == [shown("new"), .remove(["hush.1000"]), .acknowledge(["7:1:0"])])
        #expect(inbox.hello.shown.count == HushLimits.shownMax)
    }
}
