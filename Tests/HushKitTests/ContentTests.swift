import Foundation
import HushCore
import HushKit
import Testing

@Suite("What a notification carries")
struct ContentTests {
    private let content = HushContent([
        "title": "Watch Message Text", "badge": 1, "sound": "default", "link": "app://deepLinkPage",
        "url": "https://example.com/1", "tags": ["add": ["tag1", 7], "remove": ["tag0"]],
        "in_app": ["display": ["alert": "In-App Message Goes Here"]],
        "actions": ["yes": ["^+t": ["tag2"], "^u": "https://google.com", "own": 3, "^d": 5]], "category": 5,
    ])

    @Test("fields of another type are left out, the others kept")
    func fields() {
        #expect(content.title == "Watch Message Text")
        #expect(content.badge == 1)
        #expect(content.category == nil)
        #expect(content.tagsAdded == ["tag1"])
    }

    @Test("42: a null field is an absent one on the phone too, and nulls inside of what is passed on break nothing")
    func nulls() throws {
        let bare = HushContent(title: "T")
        for field in [
            "body", "badge", "sound", "category", "thread", "link", "url", "landing_page", "share", "message_center",
            "send_id", "tags", "in_app", "actions", "extras", "expires",
        ] as [Bytes] {
            #expect(HushContent(.object(["title": "T", field: .null])) == bare, "\(field)")
        }
        #expect(HushContent(["title": .null, "body": "B"]) == HushContent(body: "B"))
        var inbox = inbox()
        let content: PayloadValue = [
            "title": "T", "tags": ["add": [.null, "a"], "remove": .null], "in_app": ["display": .null],
            "actions": ["yes": ["^d": .null]], "extras": ["k": .null, "l": [1, .null]],
        ]
        let actions = inbox.receive(push([["7:1:0", "c", "x", 1, content]]), now: start)
        let shown = actions.compactMap { if case .show(let notification, _) = $0 { notification.content } else { nil } }
        #expect(shown.map(\.tagsAdded) == [["a"]] && shown.map(\.tagsRemoved) == [[]])
        #expect(shown.map(\.extras) == [["k": .null, "l": [1, .null]]])
        #expect(shown[0].calls(.received) == [.addTags(["a"]), .inApp(["display": .null])])
        #expect(shown[0].calls(.pressed(button: "yes")) == [])
        #expect(try JSONDecoder().decode(HushInbox.self, from: JSONEncoder().encode(inbox)) == inbox)
    }

    @Test("tags change on arrival, links open by hand only, buttons do what they say")
    func calls() {
        #expect(
            content.calls(.received) == [
                .addTags(["tag1"]), .removeTags(["tag0"]),
                .inApp(["display": ["alert": "In-App Message Goes Here"]]),
            ])
        #expect(content.calls(.opened) == [.deepLink("app://deepLinkPage"), .url("https://example.com/1")])
        #expect(
            content.calls(.pressed(button: "yes")) == [
                .addTags(["tag2"]), .url("https://google.com"), .action(name: "own", value: 3),
            ])
        #expect(content.calls(.pressed(button: "no")) == [])
    }

    @Test("each call reaches the handler's method of its kind")
    func handler() {
        final class Recorder: HushHandler {
            var heard: [String] = []
            func open(deepLink: Bytes) { heard.append("link \(deepLink)") }
            func open(url: Bytes) { heard.append("url \(url)") }
            func add(tags: [Bytes]) { heard.append("add \(tags)") }
            func remove(tags: [Bytes]) { heard.append("remove \(tags)") }
        }
        let recorder = Recorder()
        for call in content.calls(.received) + content.calls(.opened) { call.perform(on: recorder) }
        #expect(
            recorder.heard == ["add [tag1]", "remove [tag0]", "link app://deepLinkPage", "url https://example.com/1"])
    }
}

@Suite("The crt dialect on the phone")
struct SeedInboxTests {
    @Test("crt shows under its id and dlt removes it, numbers or strings")
    func seedPayloads() {
        let hello = HushNotification(
            identifier: "hush.1", id: "1", revision: 1, content: HushContent(title: "hello there"))
        #expect(SeedInbox.receive(["crt": 1, "title": "hello there"]) == [.show(hello, sound: true)])
        #expect(SeedInbox.receive(["crt": "1", "title": "hello there"]) == [.show(hello, sound: true)])
        #expect(SeedInbox.receive(["aps": ["content-available": 1], "dlt": 1]) == [.remove(["hush.1"])])
    }

    @Test("in Pushwoosh's custom data the same stands as JSON in a string")
    func pushwoosh() {
        let parse: (Bytes) -> PayloadValue? = { $0 == #"{"dlt":1}"# ? ["dlt": 1] : nil }
        #expect(SeedInbox.receive(["u": #"{"dlt":1}"#], parsing: parse) == [.remove(["hush.1"])])
        #expect(SeedInbox.receive(["u": "no JSON"], parsing: parse) == [.dropped(.foreign)])
        #expect(SeedInbox.receive(["u": #"{"dlt":1}"#]) == [.dropped(.foreign)])
    }

    @Test("anything else does nothing", arguments: [["aps": [:]], ["crt": nil], ["crt": 1.5], 3] as [PayloadValue])
    func foreign(payload: PayloadValue) {
        #expect(SeedInbox.receive(payload) == [.dropped(.foreign)])
    }
}
