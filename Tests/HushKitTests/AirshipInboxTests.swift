import HushCore
import HushKit
import Testing

@Suite("Airship's dialect on the phone")
struct AirshipInboxTests {
    @Test(
        "a delete removes what is ours, an alert is the system's to show, and anything else is dropped",
        arguments: [
            (
                ["aps": ["content-available": 1], "hush.remove": ["hush.a", "hush#b", "another's", 7]],
                [.remove(["hush.a", "hush#b"])]
            ),
            (["hush.badge": 2, "hush.remove": ["hush.a"]], [.remove(["hush.a"]), .badge(2)]),
            (["aps": ["alert": "B"]], []), (["aps": ["alert": ["title": "T"]], "^d": "x"], []),
            (["aps": ["content-available": 1]], [.dropped(.foreign)]), (["hush.remove": []], [.dropped(.foreign)]),
            (["hush.remove": "hush.a"], [.dropped(.foreign)]), (3, [.dropped(.foreign)]),
        ] as [(PayloadValue, [HushAction])])
    func receives(payload: PayloadValue, expected: [HushAction]) {
        #expect(AirshipInbox.receive(payload) == expected)
    }

    @Test("an alert is read whether it is a string or an object, and tags whether one or many")
    func reads() {
        let short = HushContent(airship: ["aps": ["alert": "B"], "^+t": "tag1", "^-t": ["a", "b"]])
        #expect(short.title == nil && short.body == "B")
        #expect(short.tagsAdded == ["tag1"] && short.tagsRemoved == ["a", "b"])
        let long = HushContent(airship: [
            "aps": [
                "alert": ["title": "T", "body": "B"], "badge": 0, "sound": "s", "category": "c", "thread-id": "t",
            ], "_": "send", "^u": "https://u", "^p": "https://p", "^s": "share", "^mc": "auto", "someKey": ["n": 1],
        ])
        #expect(long.title == "T" && long.body == "B" && long.badge == 0 && long.thread == "t")
        #expect(long.sendID == "send" && long.extras == ["someKey": ["n": 1]])
        #expect(
            long.calls(.opened) == [
                .url("https://u"), .landingPage("https://p"), .share("share"), .messageCenter("auto"),
            ])
    }
}

@Suite("Badges on the phone")
struct BadgeTests {
    private func create(_ id: PayloadValue, badge: PayloadValue) -> PayloadValue {
        ["7:1:0", "c", id, 1, ["title": "hello", "badge": badge]]
    }

    private func badges(_ actions: [HushAction]) -> [Int64] {
        actions.compactMap { if case .badge(let count) = $0 { count } else { nil } }
    }

    @Test("auto counts what is on the screen, with every change of it, until nothing asks for it any more")
    func counts() throws {
        var inbox = inbox()
        #expect(badges(inbox.receive(push([create("a", badge: "auto")]), now: start)) == [1])
        #expect(badges(inbox.receive(push([create("a", badge: "auto")]), now: start)) == [])
        #expect(badges(inbox.receive(push([HushKitTests.create("b")]), now: start)) == [2])
        #expect(badges(inbox.swiped(identifier: "hush.b", reports: false)) == [1])
        #expect(badges(inbox.receive(push([create("c", badge: "auto")]), presented: "hush.c", now: start)) == [2])
        #expect(badges(inbox.read("a")) == [1])
        #expect(badges(inbox.receive(push([delete("c")]), now: start)) == [0])
        #expect(badges(inbox.receive(push([HushKitTests.create("d")]), now: start)) == [])
    }

    /// An alert with a number of its own, or the one that the planner counted.
    private func alert(_ id: PayloadValue, badge: PayloadValue, number: Int64?) -> PayloadValue {
        guard case .object(var payload) = push([create(id, badge: badge)]) else { return .null }
        payload["aps"] = .object(number.map { ["alert": "hello", "badge": .integer($0)] } ?? ["alert": "hello"])
        return .object(payload)
    }

    private static let alerts: [(id: PayloadValue, badge: PayloadValue, number: Int64?, says: [Int64])] = [
        // a and b are counted already: what replaces b leaves the count at 2, and c makes it 3.
        ("b", "auto", nil, [2]), ("b", "auto", 2, []), ("b", "auto", 5, [2]), ("b", 7, 7, [2]),
        ("c", "auto", 3, []), ("c", "auto", 2, [3]), ("c", 7, 7, [3]), ("c", 7, nil, [3]),
    ]

    @Test("an alert's number on the icon is believed, and put right where something counts", arguments: alerts)
    func alertNumbers(_ example: (id: PayloadValue, badge: PayloadValue, number: Int64?, says: [Int64])) {
        var inbox = inbox()
        _ = inbox.receive(push([create("a", badge: "auto"), HushKitTests.create("b")]), now: start)
        guard case .object(var payload) = alert(example.id, badge: example.badge, number: example.number),
            let id = example.id.id
        else {
            Issue.record("a payload is an object")
            return
        }
        payload["hush"] = push([["7:3:0", "c", example.id, 2, ["title": "u", "badge": example.badge]]])["hush"]
        let actions = inbox.receive(.object(payload), presented: StableIdentifier.of(id), now: start)
        #expect(badges(actions) == example.says)
    }

    @Test("an alert that nobody saw may have changed the icon: the next change, or the app's opening, puts it right")
    func unseenAlert() {
        var inbox = inbox()
        _ = inbox.receive(push([create("a", badge: "auto"), create("b", badge: "auto")]), now: start)
        // The system showed c and a 3, and the app could not run. What comes next takes a off, and the count is 2 as before.
        let told: PayloadValue = ["7:3:0", "c", "c", 1, ["title": "hello", "badge": "auto"], 1]
        #expect(badges(inbox.receive(push([told, delete("a")]), now: start)) == [2])
        #expect(badges(inbox.receive(push([told, delete("a")]), now: start)) == [])
        // d came and was read elsewhere: only its delete is left to take.
        #expect(badges(inbox.receive(push([delete("d")]), now: start)) == [2])
        // e came while the app was away, and b was swiped.
        let kept = HushDelivered(identifier: "hush.c")
        let e = HushDelivered(identifier: "hush.e", payload: alert("e", badge: "auto", number: 3))
        #expect(badges(inbox.foregrounded(delivered: [kept, e], now: start)) == [2])
    }

    @Test("a number that an intent gave stays where nothing counts")
    func givenNumber() {
        var inbox = inbox()
        _ = inbox.receive(push([create("a", badge: "auto")]), now: start)
        let last = push([delete("a"), ["7:3:0", "c", "b", 1, ["title": "hello", "badge": 7]]])
        #expect(badges(inbox.receive(last, now: start)) == [])
        #expect(badges(inbox.receive(alert("c", badge: 9, number: 9), presented: "hush.c", now: start)) == [])
        #expect(badges(inbox.foregrounded(now: start)) == [])
    }

    @Test("38: a badge of 0 is shown only by a notification that stands alone")
    func zero() {
        var inbox = inbox()
        func shownBadge(_ actions: [HushAction]) -> Int64? {
            for case .show(let notification, _) in actions { return notification.content.badge }
            return nil
        }
        #expect(shownBadge(inbox.receive(push([create("a", badge: 0)]), now: start)) == 0)
        #expect(shownBadge(inbox.receive(push([create("b", badge: 0)]), now: start)) == nil)
        #expect(shownBadge(inbox.receive(push([create("c", badge: 7)]), now: start)) == 7)
    }

    @Test("a wipe takes a counted badge off, and leaves another's alone")
    func wipe() {
        var counted = inbox()
        _ = counted.receive(push([create("a", badge: "auto")]), now: start)
        #expect(badges(counted.loggedOut(newInstall: "i2")) == [0])
        var given = inbox()
        _ = given.receive(push([create("a", badge: 3)]), now: start)
        #expect(badges(given.loggedOut(newInstall: "i2")) == [])
    }

    @Test("a create that an alert may have told of is shown without a sound")
    func told() {
        var inbox = inbox()
        let told: PayloadValue = ["7:1:0", "c", "a", 1, ["title": "hello"], 1]
        #expect(
            inbox.receive(push([told]), now: start) == [shown("a", sound: false), .acknowledge(["7:1:0"])])
    }

    @Test("another token is another install where the app gives an id for it, and keeps what is on the screen")
    func backup() {
        var inbox = inbox()
        _ = inbox.registered(token: "AA01", newInstall: "i2")
        #expect(inbox.install == "i1")
        _ = inbox.receive(push([HushKitTests.create("a")]), now: start)
        _ = inbox.registered(token: "aa01", newInstall: "i2")
        #expect(inbox.install == "i1")
        _ = inbox.registered(token: "bb02")
        #expect(inbox.install == "i1")
        _ = inbox.registered(token: "cc03", newInstall: "i2")
        #expect(inbox.install == "i2" && inbox.revisionShown("a") == 1)
    }
}
