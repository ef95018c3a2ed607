import HushAPNs
import HushCore
import HushSimulator
import HushWorkers
import Testing

/// What the product promises to show, through planner, deliverer, APNs' rules and phones.
@Suite("The path, shown")
struct ShowsTests {
    @Test("the first seed's payloads, byte for byte, as background pushes of priority 5")
    func firstSeed() throws {
        let path = try VirtualPath()
        let phone = try path.phone(dialect: .crt)
        path.publish(.intents, #"{"id":1,"title":"hello there"}"#)
        try path.settle()
        #expect(phone.shown == ["1"])
        path.publish(.reads, #"{"id":1,"revision":1}"#)
        try path.settle()
        #expect(
            path.left == [
                #"{"aps":{"content-available":1},"crt":1,"title":"hello there"}"#,
                #"{"aps":{"content-available":1},"dlt":1}"#,
            ])
        #expect(phone.shown == [])
        #expect(path.apns.accepted.count == 2 && path.apns.refused == [])
        for push in path.apns.accepted {
            #expect(push.headers.first { $0.name == "apns-push-type" }?.value == "background")
            #expect(push.headers.first { $0.name == "apns-priority" }?.value == "5")
        }
        #expect(path.books.problems == [] && path.books.pending == [])
    }

    @Test("a hint 30 s ahead holds a phone's pushes for 30 s while others flow; what is still needed leaves then")
    func batteryHint() throws {
        let path = try VirtualPath()
        let low = try path.phone()
        let other = try path.phone("bob")
        path.publish(low.report(level: 0.05, charging: false, hint: .seconds(30), now: path.now))
        try path.settle()
        let before = path.left.count
        for id in ["a", "b", "c"] {
            path.publish(.intents, #"{"id":"\#(id)","title":"T"}"#)
            path.publish(.intents, #"{"id":"\#(id)","title":"T"}"#, key: "bob")
        }
        path.publish(.reads, #"{"id":"b","revision":1}"#)
        try path.settle()
        try path.pass(.milliseconds(29_999))
        #expect(low.shown == [] && other.shown == ["a", "b", "c"])
        let ada = path.apns.requests.dropFirst(before).filter { $0.token == low.token.raw }
        #expect(ada.isEmpty)
        try path.pass(.milliseconds(1))
        let pushes = path.apns.requests.dropFirst(before).filter { $0.token == low.token.raw }
        #expect(pushes.count == 1)
        let payload = String(decoding: pushes.first?.payload ?? [], as: UTF8.self)
        #expect(payload.contains(#""c","a",1"#) && payload.contains(#""c","c",1"#))
        #expect(!payload.contains(#""c","b",1"#))
        #expect(low.shown == ["a", "c"] && low.screen.rings["b"] == nil)
        #expect(path.books.problems == [] && path.books.pending == [])
    }

    @Test("urgent goes at once, whatever the battery says")
    func urgent() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(phone.report(level: 0.05, charging: false, hint: .seconds(30), now: path.now))
        try path.settle()
        path.publish(.intents, #"{"id":"otp","title":"1234","urgent":true}"#)
        try path.settle()
        #expect(phone.shown == ["otp"])
    }

    @Test("a better signal lifts the hold")
    func betterSignal() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(phone.report(level: 0.05, charging: false, hint: nil, now: path.now))
        path.publish(.intents, #"{"id":"a","title":"T"}"#)
        try path.settle()
        #expect(phone.shown == [])
        try path.pass(.seconds(60))
        path.publish(phone.report(level: 0.06, charging: true, hint: nil, now: path.now))
        try path.settle()
        #expect(phone.shown == ["a"])
    }

    @Test("content that cannot fit a payload is a dead letter, and everything else goes on")
    func tooLarge() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        let body = String(repeating: "🦊", count: 1000)
        path.publish(.intents, #"{"id":"big","body":"\#(body)"}"#)
        path.publish(.intents, #"{"id":"fits","body":"\#(body.prefix(880))"}"#)
        try path.settle()
        #expect(phone.shown == ["fits"])
        #expect(path.decisions("fits") == ["planned"])
        #expect(path.values(.dead) == [#"{"id":"big","body":"\#(body)"}"#])
        #expect(path.apns.refused == [])
        #expect(path.books.problems == [])
    }
}
