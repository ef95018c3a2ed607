import HushCore
import Testing

/// Sequences that once lost, doubled or misdirected a notification, each with the rule that mends it.
@Suite struct PlannerTraceTests {
    @Test("2: a read deletes on the device it was read on too, quietly, for a held create must not pop up later")
    func readOnTheReadingDevice() {
        var rig = PlannerRig()
        rig.feed(.register("pad", "t2", install: "i2"))
        rig.feed(.register("phone", "t1", install: "i1"))
        rig.feed(.show("x"))
        #expect(
            rig.feed(.read("x", 1, device: "phone", install: "i1")) == [
                "read x/1: pad delete, phone delete", "t2 <- delete x/1", "t1 <- delete x/1 quiet",
            ])
    }

    @Test("5: a hello tells live from dead: what was deleted meanwhile goes, what was swiped does not come back")
    func helloTellsLiveFromDead() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1"))
        rig.feed(.show("dead"))
        rig.feed(.show("swiped"))
        rig.feed(.retract("dead"))
        #expect(
            rig.feed(.hello("phone", shown: [("dead", 1)], gone: [("swiped", 1)])) == [
                "hello: phone delete dead", "t1 <- signal hello", "t1 <- delete dead/all",
            ])
    }

    @Test("6: an intent that comes before the first register waits and is planned by it")
    func welcomeBeforeRegister() {
        var rig = PlannerRig()
        #expect(rig.feed(.show("welcome")) == ["waiting welcome/1"])
        #expect(
            rig.feed(.register("phone", "t1")) == [
                "registered: phone bind, phone create welcome", "t1 <- bind ada @2", "t1 <- create welcome/1",
            ])
        #expect(
            rig.feed(.register("pad", "t2")) == [
                "registered: pad bind, pad create welcome", "t2 <- bind ada @3", "t2 <- create welcome/1",
            ])
    }

    @Test("7: a retract without a revision takes an update off; a read of r1 ends the same before and after r2")
    func retractAndReadOfRevisions() {
        var rig = PlannerRig()
        rig.feed(.show("x"))
        rig.feed(.show("x", 2))
        #expect(rig.feed(.retract("x")).first == "retracted x")
        #expect(rig.live() == [])
        for events: [PlannerEvent] in [
            [.show("y"), .show("y", 2), .read("y", 1)], [.show("y"), .read("y", 1), .show("y", 2)],
        ] {
            var rig = PlannerRig()
            for event in events { rig.feed(event) }
            #expect(rig.live() == ["y"])
        }
    }

    @Test("8: topics replayed weeks later notify nobody again, whatever the marks still know")
    func replayedTopic() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1"))
        let created = rig.now
        rig.feed(.show("x", created: created))
        rig.seconds += 10 * 86_400
        #expect(rig.feed(.show("x", created: created)) == ["stale x/1"])
        #expect(Policy().violations() == [])
        var short = Policy()
        short.dedupeWindow = short.lifeMax
        #expect(short.violations().count == 1)
    }

    @Test("8: a create that comes after its retract is forgotten is stale by its own time, and shows only without one")
    func createBeyondTheTombstone() {
        for (created, expected) in [(PlannerRig.start, "stale x/1"), (nil, "planned x/1: phone create")] {
            var rig = PlannerRig()
            rig.feed(.register("phone", "t1"))
            rig.feed(.retract("x"))
            rig.seconds += 6 * 86_400
            #expect(rig.feed(.show("x", created: created)) == ["suppressed x/1"])
            rig.seconds += 9 * 86_400
            #expect(rig.feed(.show("x", created: created)).first == expected)
        }
    }

    @Test("8: whatever goes to a phone says when it ends, before the planner forgets it")
    func everyCreateExpires() {
        let far = PlannerRig.start + .seconds(500 * 86_400)
        for expiry in [nil, Expiry.at(far), .after(.seconds(60))] {
            var rig = PlannerRig()
            rig.feed(.register("phone", "t1"))
            rig.feed(.show("x", expiry: expiry))
            rig.feed(.register("pad", "t2"))
            let creates = rig.pushes.flatMap { push -> [Op] in
                guard case .ops(_, let ops, _) = push.record else { return [] }
                return ops.filter { $0.kind == .create }
            }
            let forgotten = PlannerRig.start + rig.planner.policy.dedupeWindow
            #expect(creates.count == 2)
            #expect(creates.allSatisfy { $0.expires.map { $0 <= forgotten } == true })
        }
    }

    @Test("5: a hello from before a create arrived plans it once more, under the same revision")
    func helloBeforeTheCreate() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1"))
        rig.feed(.show("x"))
        #expect(
            rig.feed(.hello("phone")) == ["hello: phone create x", "t1 <- signal hello", "t1 <- create x/1"])
    }

    @Test("14: a 410 for a token that was replaced since, told late, leaves the device alone")
    func lateLossOfAnOldToken() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1"))
        let first = PlannerRig.version(1, 0)
        rig.feed(.register("phone", "t2"))
        #expect(rig.feed(.unregister("phone", "t1", version: first, at: rig.now)) == ["duplicate"])
        #expect(rig.state.recipient("ada").devices.map(\.registration.token) == ["t2"])
        // The same address bound anew since: the loss names the older version.
        rig.feed(.register("phone", "t1"))
        #expect(rig.feed(.unregister("phone", "t1", version: first, at: rig.now)) == ["superseded"])
        #expect(rig.state.recipient("ada").devices.map(\.registration.token) == ["t1"])
    }

    @Test(
        "14: a loss that names a time and no version takes off what was registered before that time, and nothing newer")
    func lossByTime() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1"))
        let death = rig.now
        // The app registers again, with nothing changed, before the news of the loss is here.
        rig.feed(.register("phone", "t1"))
        #expect(rig.feed(.unregister("phone", "t1", at: death)) == ["superseded"])
        #expect(rig.state.recipient("ada").devices.map(\.registration.token) == ["t1"])
        #expect(rig.feed(.unregister("phone", "t1", at: rig.now)).first == "unregistered")
        #expect(rig.state.recipient("ada").devices == [])
    }

    @Test(
        "11: what a bind or a hello brings again of alerts is silent, and says that it was told of",
        arguments: [Mode.visible, .auto])
    func silentSnapshot(mode: Mode) {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1"))
        rig.feed(.show("x", mode: mode))
        #expect(rig.lastOp?.mode == mode && rig.lastOp?.isTold == false)
        rig.feed(.register("pad", "t2"))
        #expect(rig.lastOp?.id == "x" && rig.lastOp?.mode == .silent && rig.lastOp?.isTold == true)
        rig.feed(.hello("phone"))
        #expect(rig.lastOp?.id == "x" && rig.lastOp?.mode == .silent && rig.lastOp?.isTold == true)
    }

    @Test("18: a register that was re-keyed keeps the version of its origin, so a newer one stands")
    func rekeyedRegister() {
        var rig = PlannerRig()
        let origin = BindingVersion(at: rig.now, partition: 9, offset: 4)
        rig.feed(.register("phone", "t2"))
        #expect(rig.feed(.register("phone", "t1"), origin: origin) == ["superseded"])
        rig.feed(.unregister("phone"))
        #expect(rig.feed(.register("phone", "t1"), origin: origin) == ["superseded"])
        #expect(rig.state.recipient("ada").devices == [])
    }

    @Test("24: ids are their UTF-8 bytes: composed and decomposed forms are two notifications")
    func idsByBytes() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1"))
        #expect(rig.feed(.show("caf\u{e9}")).first == "planned caf\u{e9}/1: phone create")
        #expect(rig.feed(.show("cafe\u{301}")).first == "planned cafe\u{301}/1: phone create")
        #expect(rig.feed(.show("caf\u{e9}")) == ["duplicate caf\u{e9}/1"])
        #expect(rig.live().count == 2)
    }

    @Test("F1: a delete names every revision it covers, so an older one on the screen goes with a waiting update")
    func deleteCoversOlderRevisions() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1"))
        rig.feed(.show("x"))
        #expect(rig.feed(.show("x", 2)).last == "t1 <- create x/2")
        #expect(rig.feed(.retract("x")).last == "t1 <- delete x/all")
    }

    @Test("F3: a read without a revision, or from another install, is not quiet")
    func loudReads() {
        let reads: [(PlannerEvent, String)] = [
            (.read("x", device: "phone", install: "i1"), "t1 <- delete x/2"),
            (.read("x", 2, device: "phone", install: "i0"), "t1 <- delete x/2"),
            (.read("x", 2, device: "phone"), "t1 <- delete x/2"),
            (.read("x", 2), "t1 <- delete x/2"),
            (.read("x", 2, device: "pad", install: "i1"), "t1 <- delete x/2"),
            (.read("x", 2, device: "phone", install: "i1"), "t1 <- delete x/2 quiet"),
        ]
        for (read, expected) in reads {
            var rig = PlannerRig()
            rig.feed(.register("phone", "t1", install: "i1"))
            rig.feed(.show("x", 2))
            #expect(rig.feed(read).last == expected)
        }
    }

    @Test("F4: a delete unfinished on the old token is made good by the hello that answers the new bind")
    func newTokenSameInstall() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1", install: "i1"))
        rig.feed(.show("x"))
        rig.feed(.retract("x"))
        #expect(
            rig.feed(.register("phone", "t2", install: "i1")) == [
                "registered: phone bind", "t1 <- unbind ada @1", "t2 <- bind ada @4",
            ])
        #expect(rig.feed(.hello("phone", shown: [("x", 1)])).last == "t2 <- delete x/all")
    }

    @Test("F5: a 410 removes the binding its push was sent under, though its timestamp is older than the register")
    func tokenDeadBeforeItsRegister() {
        var rig = PlannerRig()
        let dead = rig.now
        rig.feed(.register("phone", "t1"))
        let loss = PlannerEvent.unregister("phone", "t1", version: PlannerRig.version(1, 0), at: dead)
        #expect(rig.feed(loss) == ["unregistered", "t1 <- unbind ada @1"])
        #expect(rig.state.recipient("ada").devices == [])
    }

    @Test("F7: an owner whose address went to another is told, and lets it go unless its own version is higher")
    func reassigned() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1"))
        rig.feed(.register("phone", "t1", of: "bob"))
        // The deliverer knows the address and the version it holds, not by which device id ada calls it.
        let told = PlannerEvent.unregister("", "t1", version: PlannerRig.version(2, 1))
        #expect(rig.feed(told) == ["unregistered", "t1 <- unbind ada @1"])
        #expect(rig.state.recipient("bob").devices.count == 1)
        rig.feed(.register("phone", "t1"))
        #expect(rig.feed(told) == ["superseded"])
    }

    @Test("F9: a wipe makes a new install, so the login that follows is a bind and not a renewal")
    func wipedInstall() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1", install: "i1"))
        rig.feed(.show("x"))
        rig.feed(.unregister("phone"))
        #expect(
            rig.feed(.register("phone", "t1", install: "i2", fresh: true)) == [
                "registered: phone bind, phone create x", "t1 <- bind ada @4 fresh", "t1 <- create x/1 first",
            ])
    }

    @Test("G1: a loss older than the last renewal binds anew under the renewal's position, once")
    func lossAgainstRenewal() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1", install: "i1"))
        rig.feed(.show("x"))
        let dead = rig.now
        #expect(rig.feed(.register("phone", "t1", install: "i1")) == ["registered"])
        let first = PlannerEvent.unregister("phone", "t1", version: PlannerRig.version(1, 0), at: dead)
        #expect(
            rig.feed(first) == [
                "registered: phone bind, phone create x", "t1 <- bind ada @3", "t1 <- create x/1",
            ])
        // The binding is the renewal's, but the record that brings it about is the loss, and the line says so.
        guard case .bind(_, _, let cause)? = rig.pushes.dropLast().last?.record else {
            Issue.record("the loss binds anew")
            return
        }
        #expect(cause == Position(topic: .devices, partition: 3, offset: 2))
        #expect(rig.feed(first) == ["superseded"])
        let second = PlannerEvent.unregister("phone", "t1", version: PlannerRig.version(3, 1), at: dead)
        #expect(rig.feed(second) == ["unregistered", "t1 <- unbind ada @3"])
    }

    @Test("G1: A, B and A log in on one install: told that B holds the address, A binds anew")
    func ownersInTurn() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1", install: "i1"))
        rig.feed(.register("phone", "t1", install: "i1", of: "bob"))
        #expect(rig.feed(.register("phone", "t1", install: "i1")) == ["registered"])
        #expect(
            rig.feed(.unregister("", "t1", version: PlannerRig.version(2, 1))) == [
                "registered: phone bind", "t1 <- bind ada @3",
            ])
    }
}
