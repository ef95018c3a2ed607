import HushAPNs
import HushCore
import HushKit
import HushSimulator
import HushStream
import HushWorkers
import Testing

/// Each dialect from an intent on a topic to the screen, byte for byte where a seed gives the bytes.
@Suite("The path: dialects")
struct DialectPathTests {
    private let reader = PayloadReader()

    private func payload(_ json: String) throws -> PayloadValue { try #require(reader.read(Array(json.utf8))) }

    @Test(
        "the first seed's payloads leave as they stand, with aps added, and show on the phone",
        arguments: [
            (
                Dialect.crt, #"{"aps":{"content-available":1},"crt":1,"title":"hello there"}"#,
                #"{"aps":{"content-available":1},"crt":2,"title":"hello there again"}"#,
                #"{"aps":{"content-available":1},"dlt":1}"#
            ),
            (
                .pushwoosh, #"{"aps":{"content-available":1},"u":"{\"crt\":1,\"title\":\"hello there\"}"}"#,
                #"{"aps":{"content-available":1},"u":"{\"crt\":2,\"title\":\"hello there again\"}"}"#,
                #"{"aps":{"content-available":1},"u":"{\"dlt\":1}"}"#
            ),
        ])
    func firstSeed(dialect: Dialect, first: String, second: String, delete: String) throws {
        let path = try VirtualPath()
        let phone = try path.phone(dialect: dialect)
        path.publish(.intents, #"{"id":1,"title":"hello there"}"#)
        try path.settle()
        #expect(phone.entries["1"]?.title == "hello there")
        path.publish(.intents, #"{"id":2,"title":"hello there again"}"#)
        try path.settle()
        #expect(phone.shown == ["1", "2"])
        path.publish(.reads, #"{"id":1}"#)
        try path.settle()
        #expect(phone.shown == ["2"])
        #expect(path.left == [first, second, delete])
        #expect(path.apns.requests.allSatisfy { $0.kind == .background && $0.priority == 5 })
        #expect(path.apns.refused == [] && path.books.problems == [] && path.books.pending == [])
    }

    /// The second seed's example, as its author has it.
    private let airship = #"""
        {"com.urbanairship.in_app": {"actions": {"button_actions": {"yes": {"^+t": ["tag2"],
          "^u": "https://google.com"}}, "button_group": "ua_yes_no_foreground",
          "on_click": {"^+t": ["tag1"], "^d": "app://deepLinkPage"}},
          "display": {"alert": "In-App Message Goes Here", "position": "bottom", "type": "banner"},
          "expiry": "2015-12-03T13:42:15"},
         "_": "XXXXXXXXXXXXX",
         "aps": {"alert": {"body": "Push Message Goes Here", "title": "Watch Message Text"}, "badge": 1,
          "category": "ua_yes_no_foreground", "content-available": 1, "sound": "default"},
         "someKey": "someValue", "^+t": ["tag1"],
         "com.urbanairship.interactive_actions": {"yes": {"^+t": ["tag2"], "^u": "https://google.com"}},
         "^d": "app://deepLinkPage"}
        """#

    /// The intent that asks for it.
    private let airshipIntent = #"""
        {"id": "promo-1", "mode": "visible", "title": "Watch Message Text", "body": "Push Message Goes Here", "badge": 1,
         "sound": "default", "category": "ua_yes_no_foreground", "content_available": true, "send_id": "XXXXXXXXXXXXX",
         "link": "app://deepLinkPage", "tags": {"add": ["tag1"]}, "extras": {"someKey": "someValue"},
         "in_app": {"actions": {"button_actions": {"yes": {"^+t": ["tag2"], "^u": "https://google.com"}},
           "button_group": "ua_yes_no_foreground", "on_click": {"^+t": ["tag1"], "^d": "app://deepLinkPage"}},
           "display": {"alert": "In-App Message Goes Here", "position": "bottom", "type": "banner"},
           "expiry": "2015-12-03T13:42:15"},
         "actions": {"yes": {"^+t": ["tag2"], "^u": "https://google.com"}}}
        """#

    @Test("the second seed's payload leaves with the same fields and values, as an alert, and its delete takes it back")
    func secondSeed() throws {
        let path = try VirtualPath()
        let phone = try path.phone(dialect: .airship)
        path.publish(.intents, airshipIntent)
        try path.settle()
        #expect(try payload(path.left[0]) == payload(airship))
        #expect(!path.left[0].contains(": ") && !path.left[0].contains("\n"))
        let request = path.apns.requests[0]
        #expect(request.kind == .alert && request.priority == 10)
        #expect(request.collapseID.map { Bytes($0) } == "hush.promo-1")
        #expect(phone.shown == ["promo-1"] && phone.screen.badge == 1)
        path.publish(.intents, #"{"id": "promo-1", "revision": 2, "body": "Only today"}"#)
        try path.settle()
        #expect(path.left[1] == #"{"aps":{"alert":"Only today"}}"#)
        #expect(phone.screen.shown["promo-1"]?.content.body == "Only today")
        path.publish(.reads, #"{"id": "promo-1", "revision": 2}"#)
        try path.settle()
        #expect(phone.shown == ["promo-1"], "its delete must not overtake it")
        try path.pass(.seconds(10))
        #expect(phone.shown == [])
        #expect(path.left[2] == #"{"aps":{"content-available":1},"hush.remove":["hush.promo-1"]}"#)
        #expect(path.apns.requests[2].kind == .background && path.apns.requests[2].priority == 5)
        #expect(path.apns.refused == [] && path.books.problems == [] && path.books.pending == [])
        #expect(phone.drops == [:])
    }

    @Test("HushKit reads the second seed's payload back and calls the app's handler for what it carries")
    func handlers() throws {
        let content = try HushContent(airship: payload(airship))
        #expect(content.title == "Watch Message Text" && content.body == "Push Message Goes Here")
        #expect(content.badge == 1 && content.sound == "default" && content.category == "ua_yes_no_foreground")
        #expect(content.sendID == "XXXXXXXXXXXXX" && content.extras == ["someKey": "someValue"])
        final class Recorder: HushHandler {
            var heard: [String] = []
            func open(deepLink: Bytes) { heard.append("link \(deepLink)") }
            func open(url: Bytes) { heard.append("url \(url)") }
            func add(tags: [Bytes]) { heard.append("add \(tags)") }
            func present(inApp: PayloadValue) { heard.append("in-app \(inApp["expiry"]?.string ?? "")") }
        }
        let recorder = Recorder()
        for (situation, expected) in [
            (.received, ["add [tag1]", "in-app 2015-12-03T13:42:15"]), (.opened, ["link app://deepLinkPage"]),
            (.pressed(button: "yes"), ["add [tag2]", "url https://google.com"]), (.pressed(button: "no"), []),
            (.inAppOpened, ["add [tag1]", "link app://deepLinkPage"]),
            (.inAppPressed(button: "yes"), ["add [tag2]", "url https://google.com"]),
        ] as [(HushSituation, [String])] {
            recorder.heard = []
            for call in content.calls(situation) { call.perform(on: recorder) }
            #expect(recorder.heard == expected, "\(situation)")
        }
    }

    @Test("the same intent in the hush dialect is an alert too, whose app reads the same content")
    func sameInHush() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(.intents, airshipIntent)
        try path.settle()
        let sent = try payload(path.left.last ?? "")
        #expect(sent["aps"]?["content-available"] == 1 && sent["aps"]?["badge"] == 1)
        let ops = try #require(sent["hush"]?["ops"]?.array)
        let content = try #require(ops[0].array?[4])
        #expect(try HushContent(content) == HushContent(airship: payload(airship)))
        #expect(phone.shown == ["promo-1"] && !phone.rangTwice)
    }
}
