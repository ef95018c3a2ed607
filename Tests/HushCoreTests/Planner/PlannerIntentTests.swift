import HushCore
import Testing

@Suite struct PlannerIntentTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var rule: String
        var events: [PlannerEvent]
        /// What the last event did.
        var expected: [String]
        var live: [Bytes]

        init(_ rule: String, _ events: [PlannerEvent], _ expected: [String], live: [Bytes]) {
            self.rule = rule
            self.events = events
            self.expected = expected
            self.live = live
        }

        var testDescription: String { rule }
    }

    static let week: Int64 = 7 * 86_400

    static let cases: [Case] = [
        Case(
            "a new notification goes to the device", [.show("x")],
            ["planned x/1: phone create", "t1 <- create x/1 first"], live: ["x"]),
        Case("the same again is a duplicate", [.show("x"), .show("x")], ["duplicate x/1"], live: ["x"]),
        Case(
            "a producer that sends again with another creation time sends a duplicate",
            [.show("x", created: PlannerRig.start), .show("x")], ["duplicate x/1"], live: ["x"]),
        Case(
            "other content under the same revision is a conflict", [.show("x"), .show("x", title: "u")],
            ["conflict x/1"], live: ["x"]),
        Case(
            "another expiry under the same revision is a conflict",
            [.show("x"), .show("x", expiry: .after(.seconds(9)))],
            ["conflict x/1"], live: ["x"]),
        Case(
            "a higher revision updates", [.show("x"), .show("x", 2)],
            ["updated x/2: phone create", "t1 <- create x/2"], live: ["x"]),
        Case("a lower revision comes too late", [.show("x", 2), .show("x")], ["superseded x/1"], live: ["x"]),
        Case(
            "a retract takes every revision off", [.show("x"), .show("x", 7), .retract("x")],
            ["retracted x: phone delete", "t1 <- delete x/all"], live: []),
        Case("a retracted id stays dead", [.show("x"), .retract("x"), .show("x", 9)], ["suppressed x/9"], live: []),
        Case(
            "a retract that comes first leaves a tombstone", [.retract("x"), .show("x")], ["suppressed x/1"], live: []),
        Case("a second retract is a duplicate", [.retract("x"), .retract("x")], ["duplicate x"], live: []),
        Case(
            "a retract of a revision leaves a higher one alone", [.show("x", 2), .retract("x", 1)],
            ["superseded x/1"], live: ["x"]),
        Case(
            "a retract of a revision lets a higher one come", [.show("x"), .retract("x", 1), .show("x", 2)],
            ["updated x/2: phone create", "t1 <- create x/2"], live: ["x"]),
        Case(
            "what has expired on arrival is not planned", [.show("x", expiry: .at(PlannerRig.start))], ["expired x/1"],
            live: []),
        Case(
            "an update that has expired on arrival takes the older one off",
            [.show("x"), .show("x", 2, expiry: .at(PlannerRig.start))],
            ["expired x/2: phone delete", "t1 <- delete x/2"], live: []),
        Case(
            "what was created before the window is stale",
            [.show("x", created: Timestamp(seconds: PlannerRig.start.seconds - week))], ["stale x/1"], live: []),
        Case(
            "a retract created before the window is stale",
            [.show("x"), .retract("x", created: Timestamp(seconds: PlannerRig.start.seconds - week))], ["stale x"],
            live: ["x"]),
        Case(
            "what is meant for another app waits", [.show("x", app: "shop")], ["waiting x/1"], live: ["x"]),
        Case(
            "an update that moves to another app takes the older one off", [.show("x"), .show("x", 2, app: "shop")],
            ["waiting x/2: phone delete", "t1 <- delete x/2"], live: ["x"]),
        Case(
            "a read before its create keeps it from showing", [.read("x", 1), .show("x")], ["suppressed x/1"], live: []),
        Case(
            "a read without a revision before its create means the first", [.read("x"), .show("x"), .show("x", 2)],
            ["updated x/2: phone create", "t1 <- create x/2"], live: ["x"]),
        Case(
            "a read without a revision means the highest so far", [.show("x", 4), .read("x")],
            ["read x: phone delete", "t1 <- delete x/4"], live: []),
        Case(
            "a read of a lower revision leaves the update", [.show("x"), .show("x", 2), .read("x", 1)],
            ["superseded x/1"], live: ["x"]),
        Case("a second read is a duplicate", [.show("x"), .read("x", 1), .read("x", 1)], ["duplicate x/1"], live: []),
    ]

    @Test("each intent and read has one line, and only what changes screens is pushed", arguments: cases)
    func decides(_ example: Case) {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1", install: "i1"))
        var last: [String] = []
        for event in example.events { last = rig.feed(event) }
        #expect(last == example.expected)
        #expect(rig.live() == example.live)
    }

    @Test("two devices get one record of the same bytes")
    func sharesRecords() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1"))
        rig.feed(.register("pad", "t2"))
        #expect(
            rig.feed(.show("x")) == [
                "planned x/1: pad create, phone create", "t2 <- create x/1 first", "t1 <- create x/1 first",
            ])
        #expect(rig.pushes.suffix(2).map(\.repeatsPrevious) == [false, true])
        #expect(rig.pushes.suffix(2).first?.record == rig.pushes.last?.record)
    }

    @Test("a life ends when the intent says, after three days where it does not, after six at the latest")
    func lives() throws {
        let created = PlannerRig.start
        let lives: [(Expiry?, Timestamp)] = [
            (nil, created + .seconds(3 * 86_400)),
            (.after(.seconds(60)), created + .seconds(60)),
            (.at(created + .seconds(90)), created + .seconds(90)),
            (.at(.distantFuture), created + .seconds(6 * 86_400)),
            (.after(.seconds(Int64.max / 1000)), created + .seconds(6 * 86_400)),
        ]
        for (expiry, expected) in lives {
            var rig = PlannerRig()
            rig.feed(.show("x", created: created, expiry: expiry))
            let mark = try #require(rig.state.mark("x", of: "ada"))
            #expect(mark.live?.expires == expected)
        }
    }

    @Test("a sender's clock that runs ahead lengthens no life")
    func future() {
        var rig = PlannerRig()
        rig.feed(.show("x", created: .distantFuture, expiry: .at(.distantFuture)))
        #expect(rig.state.mark("x", of: "ada")?.live?.expires == rig.now + .seconds(6 * 86_400))
    }

    @Test("above the limit the oldest goes, quietly, with a line of its own")
    func evicts() {
        var rig = PlannerRig()
        rig.planner.policy.livePerRecipientMax = 2
        rig.feed(.register("phone", "t1"))
        rig.feed(.show("a"))
        rig.feed(.show("b"))
        #expect(
            rig.feed(.show("c")) == [
                "planned c/1: phone create", "evicted a/1: phone delete", "t1 <- create c/1 first",
                "t1 <- delete a/1 quiet",
            ])
        #expect(rig.live() == ["b", "c"])
        #expect(rig.feed(.show("a")) == ["duplicate a/1"])
        #expect(rig.feed(.show("b", 2)).first == "updated b/2: phone create")
        #expect(rig.feed(.show("d")).contains("evicted c/1: phone delete"))
    }

    @Test("what has expired makes room without being evicted")
    func expiredMakesRoom() {
        var rig = PlannerRig()
        rig.planner.policy.livePerRecipientMax = 1
        rig.feed(.register("phone", "t1"))
        rig.feed(.show("a", expiry: .after(.seconds(10))))
        rig.seconds += 60
        #expect(rig.feed(.show("b")) == ["planned b/1: phone create", "t1 <- create b/1 first"])
    }

    @Test("a mark is forgotten when window and grace are over, not before")
    func forgets() {
        var rig = PlannerRig()
        rig.feed(.show("x"))
        rig.seconds += 8 * 86_400 - 2
        #expect(rig.feed(.show("x")) == ["duplicate x/1"])
        rig.seconds += 2
        #expect(rig.feed(.show("x")) == ["waiting x/1"])
    }

    @Test("a read of several ids has a line for each and one push for a device")
    func manyIDs() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1", install: "i1"))
        for id: Bytes in ["a", "b", "c"] { rig.feed(.show(id)) }
        let before = rig.pushes.count
        let read = Read(recipient: "ada", ids: ["b", "z", "a", "b"], revision: 1, device: "phone", install: "i1")
        #expect(
            rig.feed(.read(read)) == [
                "read b/1: phone delete", "read z/1", "read a/1: phone delete", "t1 <- delete b/1 quiet",
                "t1 <- delete a/1 quiet",
            ])
        #expect(rig.pushes.count == before + 1)
    }
}
