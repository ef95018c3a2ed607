import HushAPNs
import HushCore
import HushKit
import HushSimulator
import HushWorkers
import Testing

/// Notifications that the system shows by itself, from the intent to the screen.
@Suite("The path: alerts and badges")
struct AlertPathTests {
    private func show(_ id: String, _ revision: Int = 1, more: String = "") -> String {
        #"{"id":"\#(id)","revision":\#(revision),"title":"T","mode":"visible"\#(more)}"#
    }

    private func badges(_ path: VirtualPath) -> [Int64?] {
        let reader = PayloadReader()
        return path.apns.requests.filter { $0.kind == .alert }.map {
            reader.read($0.payload)?["aps"]?["badge"]?.integer
        }
    }

    @Test("11: a visible notification that is read elsewhere goes 10 s after APNs took it, and rang once")
    func readElsewhere() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        let pad = try path.phone()
        path.publish(.intents, show("x"))
        try path.settle()
        #expect(phone.shown == ["x"] && pad.shown == ["x"])
        path.publish(phone.read("x", revision: 1, now: path.now))
        try path.settle()
        #expect(phone.shown == [] && pad.shown == ["x"])
        try path.pass(.seconds(10))
        #expect(pad.shown == [])
        #expect(!phone.rangTwice && !pad.rangTwice && pad.screen.rings["x"] == [1: 1])
        try path.pass(.seconds(12 * 3600))
        #expect(path.books.problems == [] && path.books.pending == [] && path.apns.refused == [])
    }

    @Test("11: an alert whose answer is lost is repeated without a sound under the same collapse-id")
    func repeats() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.apns.fate = .takeAndLoseAnswer
        path.isDetained = true
        path.publish(.intents, show("x"))
        try path.settle()
        path.apns.fate = .accept
        try path.pass(.seconds(5))
        let alerts = path.apns.requests.filter { $0.kind == .alert }
        #expect(alerts.count == 2 && Set(alerts.map(\.collapseID)).count == 1)
        path.letGo()
        try path.settle()
        #expect(phone.shown == ["x"] && phone.screen.rings["x"] == [1: 1])
        #expect(path.books.problems == [] && path.books.pending == [])
    }

    @Test("11: an alert whose acknowledgement is lost comes again as a background push, and rings no second time")
    func lostAcknowledgement() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        let before = path.apns.requests.count
        path.isDetained = true
        path.publish(.intents, show("x"))
        try path.settle()
        path.letGo { _ in [] }
        try path.pass(.seconds(1800))
        #expect(path.apns.requests.dropFirst(before).map(\.kind) == [.alert, .background])
        #expect(phone.shown == ["x"] && phone.screen.rings["x"] == [1: 1])
        #expect(path.books.problems == [] && path.books.pending == [])
    }

    @Test("a visible create that is read while it waits never leaves")
    func readWhileWaiting() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.apns.fate = .hold
        path.publish(.intents, #"{"id":"first","title":"T"}"#)
        try path.settle()
        path.publish(.intents, show("x"))
        path.publish(.reads, #"{"id":"x"}"#)
        try path.settle()
        path.apns.fate = .accept
        path.apns.release()
        try path.settle()
        try path.pass(.seconds(12 * 3600))
        #expect(phone.shown == ["first"] && phone.screen.rings["x"] == nil)
        #expect(path.apns.requests.allSatisfy { $0.kind == .background })
        #expect(path.books.problems == [] && path.books.pending == [])
    }

    @Test("a badge of auto is the number of live notifications for the app, on alerts and on the phone")
    func autoBadge() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        let shop = try path.phone(app: VirtualPath.otherApp)
        path.publish(.intents, #"{"id":"s","title":"T","app":"com.example.shop"}"#)
        for id in ["a", "b", "c"] {
            path.publish(.intents, show(id, more: #","badge":"auto","app":"com.example.hush""#))
            try path.settle()
        }
        #expect(badges(path) == [1, 2, 3])
        #expect(phone.screen.badge == 3 && shop.screen.badge == nil)
        path.publish(.reads, #"{"ids":["a","b"]}"#)
        try path.settle()
        try path.pass(.seconds(10))
        #expect(phone.shown == ["c"] && phone.screen.badge == 1)
        path.publish(phone.read("c", revision: 1, now: path.now))
        try path.settle()
        #expect(phone.shown == [] && phone.screen.badge == 0)
        #expect(shop.shown == ["s"])
    }

    @Test("37, 38: no badge leaves the number; a 0 is sent, but not where it would clear other notifications")
    func zeroBadge() throws {
        let path = try VirtualPath()
        let phone = try path.phone(dialect: .airship)
        path.publish(.intents, show("a", more: #","badge":0"#))
        try path.settle()
        path.publish(.intents, show("b"))
        try path.settle()
        path.publish(.intents, show("c", more: #","badge":0"#))
        try path.settle()
        #expect(badges(path) == [0, nil, nil])
        #expect(phone.shown == ["a", "b", "c"] && phone.screen.badge == 0)
    }

    @Test("38: a badge of 0 in a silent create clears nothing either")
    func zeroBadgeSilent() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(.intents, #"{"id":"a","title":"T","badge":2}"#)
        path.publish(.intents, #"{"id":"b","title":"T","badge":0}"#)
        try path.settle()
        #expect(phone.shown == ["a", "b"] && phone.screen.badge == 2)
    }

    @Test("auto is silent while the app is woken, and an alert where it said that it is not")
    func auto() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(.intents, #"{"id":"a","title":"T","mode":"auto"}"#)
        try path.settle()
        #expect(path.apns.requests.last?.kind == .background)
        path.publish(.signals, #"{"device":"d1","background_refresh":false}"#)
        path.publish(.intents, #"{"id":"b","title":"T","mode":"auto"}"#)
        try path.settle()
        #expect(path.apns.requests.last?.kind == .alert)
        #expect(phone.shown == ["a", "b"] && !phone.rangTwice)
    }

    @Test("auto: what reaches no app silently comes as an alert at its repeat")
    func autoRepeat() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.goOffline(phone)
        path.publish(.intents, #"{"id":"a","title":"T","mode":"auto"}"#)
        try path.settle()
        try path.pass(.seconds(1800))
        #expect(path.apns.requests.suffix(2).map(\.kind) == [.background, .alert])
        try path.comeOnline(phone)
        #expect(phone.shown == ["a"] && !phone.rangTwice)
        #expect(path.books.problems == [] && path.books.pending == [])
    }
}
