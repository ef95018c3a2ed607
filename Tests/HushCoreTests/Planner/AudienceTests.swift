import HushCore
import Testing

@Suite("Audiences")
struct AudienceTests {
    static let matches: [(audience: Audience, tags: [Bytes], isMeant: Bool)] = [
        (Audience(all: ["ios"]), ["ios"], true),
        (Audience(all: ["ios", "de"]), ["de", "ios", "beta"], true),
        (Audience(all: ["ios", "de"]), ["ios"], false),
        (Audience(all: ["ios"]), ["iOS"], false),
        (Audience(all: ["ios"]), [], false),
        (Audience(any: ["de", "at"]), ["at"], true),
        (Audience(any: ["de", "at"]), ["ch"], false),
        (Audience(none: ["muted"]), [], true),
        (Audience(none: ["muted"]), ["ios", "muted"], false),
        (Audience(all: ["ios"], any: ["de", "at"], none: ["muted"]), ["ios", "at"], true),
        (Audience(all: ["ios"], any: ["de", "at"], none: ["muted"]), ["ios", "at", "muted"], false),
        (Audience(all: ["ios"], any: ["de", "at"], none: ["muted"]), ["ios"], false),
        (Audience(all: ["a"], none: ["a"]), ["a"], false),
        (Audience(all: ["caf\u{e9}"]), ["cafe\u{301}"], false),
    ]

    @Test("a device is meant that has all, any and none of the tags", arguments: matches)
    func matching(_ example: (audience: Audience, tags: [Bytes], isMeant: Bool)) {
        #expect(example.audience.matches(example.tags) == example.isMeant)
    }

    static let ios = Audience(all: ["ios"])

    /// Ada, bob and eve have a phone with the tag each, dan has none with it.
    static func rig() -> PlannerRig {
        var rig = PlannerRig()
        for (name, tags) in [("ada", ["ios"]), ("bob", ["ios", "de"]), ("dan", ["de"]), ("eve", ["ios"])]
            as [(Bytes, [Bytes])]
        {
            rig.feed(.register(Bytes("\(name)-phone"), name, of: name, tags: tags))
        }
        return rig
    }

    @Test("an audience goes to whose device matches, in slices of a bounded number of pushes, each with its range")
    func slices() {
        var rig = Self.rig()
        rig.planner.policy.sliceOpsMax = 2
        #expect(rig.feed(.show("promo", audience: Self.ios)) == ["planned promo/1"])
        #expect(
            rig.slice() == [
                "slice promo/1 ...dan: 2",
                "ada: planned promo/1: ada-phone create", "bob: planned promo/1: bob-phone create",
                "ada <- create promo/1 first", "bob <- create promo/1 first",
            ])
        #expect(
            rig.slice() == [
                "slice promo/1 dan...eve: 1 last", "eve: planned promo/1: eve-phone create",
                "eve <- create promo/1 first",
            ])
        #expect(rig.slice() == [])
        #expect(rig.live("eve") == ["promo"])
        #expect(rig.live("dan") == [])
    }

    @Test("a slice looks at a bounded number of recipients, so a walk that finds nobody goes on in pieces")
    func boundedWalk() {
        var rig = Self.rig()
        rig.planner.policy.sliceRowsMax = 3
        rig.feed(.show("promo", audience: Audience(all: ["tv"])))
        #expect(rig.slice() == ["slice promo/1 ...dan: 0"])
        #expect(rig.slice() == ["slice promo/1 dan...eve: 0 last"])
        #expect(rig.slice() == [])
    }

    @Test("each device decides by its own tags; one that is left out gets nothing later, by hello or update, either")
    func devices() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1", install: "i1", tags: ["ios"]))
        rig.feed(.register("pad", "t2", install: "i2", tags: ["ios", "muted"]))
        rig.feed(.register("watch", "t3", install: "i3", app: "shop", tags: ["ios"]))
        rig.feed(.show("promo", audience: Audience(all: ["ios"], none: ["muted"]), app: "chat"))
        #expect(rig.sliceAll() == ["t1 <- create promo/1 first"])
        #expect(rig.feed(.hello("pad")) == ["hello", "t2 <- signal hello"])
        #expect(
            rig.feed(.hello("phone")) == [
                "hello: phone create promo", "t1 <- signal hello", "t1 <- create promo/1",
            ])
        rig.feed(.show("promo", 2, audience: nil, title: "u", app: "chat"))
        #expect(rig.sliceAll() == ["t1 <- create promo/2"])
        #expect(rig.feed(.read("promo", 2)) == ["read promo/2: phone delete", "t1 <- delete promo/2"])
        // After the read too: the next revision is for those who were chosen.
        rig.feed(.show("promo", 3, audience: nil, title: "v", app: "chat"))
        #expect(rig.sliceAll() == ["t1 <- create promo/3"])
        // What a person adds later is theirs.
        #expect(
            rig.feed(.register("phone-2", "t4", install: "i4", fresh: true)) == [
                "registered: phone-2 bind, phone-2 create promo", "t4 <- bind ada @10 fresh",
                "t4 <- create promo/3 first",
            ])
    }

    @Test("tags count as they are when the walk passes; who comes to match behind it is reached while it lasts")
    func changes() {
        var rig = Self.rig()
        rig.planner.policy.sliceOpsMax = 1
        rig.feed(.show("promo", audience: Self.ios))
        #expect(rig.slice().last == "ada <- create promo/1 first")
        #expect(rig.feed(.register("ada-phone", "ada", of: "ada", tags: [])) == ["registered"])
        #expect(
            rig.feed(.register("aaa-phone", "aaa", of: "aaa", tags: ["ios"])) == [
                "registered: aaa-phone bind", "planned promo/1: aaa-phone create",
                "aaa <- bind aaa @7", "aaa <- create promo/1 first",
            ])
        #expect(rig.feed(.register("aab-phone", "aab", of: "aab", tags: ["de"])).count == 2)
        #expect(
            rig.feed(.register("aab-phone", "aab", of: "aab", tags: ["ios"])) == [
                "registered", "planned promo/1: aab-phone create", "aab <- create promo/1 first",
            ])
        #expect(rig.feed(.register("aab-phone", "aab", of: "aab", tags: ["ios"])) == ["registered"])
        rig.feed(.register("bob-phone", "bob", of: "bob", tags: ["de"]))
        #expect(rig.feed(.register("dan-phone", "dan", of: "dan", tags: ["ios"])) == ["registered"])
        rig.feed(.register("zoe-phone", "zoe", of: "zoe", tags: ["ios"]))
        #expect(
            rig.sliceAll() == [
                "dan <- create promo/1 first", "eve <- create promo/1 first", "zoe <- create promo/1 first",
            ])
        // The walk is over: nobody else is asked.
        #expect(rig.feed(.register("abe-phone", "abe", of: "abe", tags: ["ios"])).count == 2)
        #expect(rig.feed(.register("bob-phone", "bob", of: "bob", tags: ["ios"])) == ["registered"])
        #expect(rig.live("bob") == [])
        #expect(rig.live("ada") == ["promo"])
        // Ada's tag is gone, and she holds it all the same.
        rig.feed(.retract(audience: "promo"))
        #expect(
            rig.sliceAll() == ["aaa", "aab", "ada", "dan", "eve", "zoe"].map { "\($0) <- delete promo/all" })
    }

    @Test("a device that was left out, and matches while the walk lasts, gets what its owner holds; later it does not")
    func admitted() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1", install: "i1", tags: ["ios"]))
        rig.feed(.register("pad", "t2", install: "i2"))
        rig.feed(.register("tv", "t3", install: "i3"))
        rig.feed(.register("z", "t4", of: "zoe", tags: ["ios"]))
        rig.planner.policy.sliceOpsMax = 1
        rig.feed(.show("promo", audience: Self.ios))
        #expect(rig.slice().last == "t1 <- create promo/1 first")
        #expect(
            rig.feed(.register("pad", "t2", install: "i2", tags: ["ios"])) == [
                "registered", "planned promo/1: pad create", "t2 <- create promo/1",
            ])
        #expect(rig.sliceAll() == ["t4 <- create promo/1 first"])
        #expect(rig.feed(.register("tv", "t3", install: "i3", tags: ["ios"])) == ["registered"])
        rig.feed(.show("promo", 2, audience: nil))
        #expect(rig.sliceAll() == ["t2", "t1", "t4"].map { "\($0) <- create promo/2" })
    }

    @Test("who registers behind the walk of what was read, retracted or is over gets nothing")
    func changesTooLate() {
        for end in ["read", "retract", "expiry"] {
            var rig = Self.rig()
            rig.planner.policy.sliceOpsMax = 1
            rig.feed(.show("promo", audience: Self.ios, expiry: .after(.seconds(60))))
            #expect(rig.slice().last == "ada <- create promo/1 first")
            switch end {
            case "read": rig.feed(.read("promo", of: "aaa"))
            case "retract": rig.feed(.retract(audience: "promo"))
            default: rig.seconds += 60
            }
            let bound = rig.feed(.register("aaa-phone", "aaa", of: "aaa", tags: ["ios"]))
            #expect(bound.count == 2 && bound.last?.hasPrefix("aaa <- bind") == true, "\(end): \(bound)")
        }
    }

    @Test("a device that has the id by an intent of its owner's, and is left out of the next revision, loses it")
    func leftOutOfUpdate() {
        var rig = PlannerRig()
        rig.feed(.register("pad", "t2", tags: []))
        rig.feed(.register("phone", "t1", tags: ["ios"]))
        rig.feed(.show("promo"))
        rig.feed(.show("promo", 2, audience: Self.ios))
        #expect(rig.sliceAll() == ["t2 <- delete promo/2", "t1 <- create promo/2"])
    }

    @Test("a device that was chosen and loses its tag gets the update, when another of its owner's brings it about")
    func chosenStays() {
        var rig = PlannerRig()
        rig.feed(.register("pad", "t2", install: "i2", tags: []))
        rig.feed(.register("phone", "t1", install: "i1", tags: ["ios"]))
        rig.feed(.register("tv", "t3", install: "i3", tags: []))
        rig.feed(.register("z", "t4", of: "zoe", tags: ["ios"]))
        rig.planner.policy.sliceOpsMax = 1
        rig.feed(.show("promo", audience: Self.ios))
        #expect(rig.slice().last == "t1 <- create promo/1 first")
        rig.feed(.show("promo", 2, audience: nil, title: "u"))
        #expect(rig.feed(.register("phone", "t1", install: "i1", tags: [])) == ["registered"])
        // The slice that tells of the update has not come yet.
        #expect(
            rig.feed(.register("pad", "t2", install: "i2", tags: ["ios"])) == [
                "registered", "updated promo/2: pad create, phone create", "t2 <- create promo/2",
                "t1 <- create promo/2",
            ])
        #expect(rig.sliceAll() == ["t4 <- create promo/2 first"])
        rig.feed(.retract(audience: "promo"))
        #expect(rig.sliceAll() == ["t2", "t1", "t4"].map { "\($0) <- delete promo/all" })
    }

    @Test(
        "a holder whom no slice has told yet spreads nothing that was taken back: neither a hello nor a bind brings it",
        arguments: ["retract", "retract 1", "expired update"])
    func takenBack(_ end: String) {
        var rig = Self.rig()
        rig.feed(.show("promo", audience: Self.ios))
        #expect(rig.sliceAll().count == 3)
        rig.feed(.show("own", to: "bob"))
        switch end {
        case "retract": rig.feed(.retract(audience: "promo"))
        case "retract 1": rig.feed(.retract(audience: "promo", 1))
        default: rig.feed(.show("promo", 2, audience: nil, expiry: .at(PlannerRig.start)))
        }
        #expect(
            rig.feed(.register("bob-pad", "pad", of: "bob")) == [
                "registered: bob-pad bind, bob-pad create own", "pad <- bind bob @8", "pad <- create own/1",
            ])
        #expect(
            rig.feed(.hello("bob-pad", of: "bob")) == [
                "hello: bob-pad create own", "pad <- signal hello", "pad <- create own/1",
            ])
        let told = rig.sliceAll().map { String($0.prefix(13)) }
        #expect(told == ["ada", "pad", "bob", "eve"].map { "\($0) <- delete" })
    }

    @Test("what a recipient has under the same id of their own is theirs, whatever becomes of the audience's")
    func ownStays() {
        var rig = Self.rig()
        rig.feed(.show("promo", audience: Self.ios))
        #expect(rig.sliceAll().count == 3)
        rig.feed(.show("promo", to: "dan"))
        rig.feed(.retract(audience: "promo"))
        #expect(rig.feed(.hello("dan-phone", of: "dan")).last == "dan <- create promo/1")
    }

    @Test("a slice that finds an audience's life over lets it be remembered no longer than its last record does")
    func expiryTouchesNothing() {
        var rig = Self.rig()
        rig.planner.policy.sliceOpsMax = 1
        rig.feed(.show("promo", audience: Self.ios, expiry: .after(.seconds(60))))
        let touched = rig.state.audience("promo")?.mark.touched
        #expect(rig.slice().count == 3)
        rig.seconds += 3600
        #expect(rig.slice() == ["slice promo/1 ada...dan: 1"])
        let mark = rig.state.audience("promo")?.mark
        #expect(mark?.standing == Standing(created: 1, deleted: 1) && mark?.live == nil)
        #expect(mark?.touched == touched)
    }

    static let room: [(more: PlannerEvent, hasRoom: Bool)] = [
        (.show("new", audience: ios), false),
        (.show("promo", audience: ios), true),
        (.show("promo", 2, audience: ios), true),
        (.show("promo", 2, audience: nil), true),
        (.show("new", audience: nil), true),
        (.retract(audience: "promo"), true),
        (.retract(audience: "new"), true),
    ]

    @Test("where as many audiences are asked as may be, only one that would ask anew finds no room", arguments: room)
    func bounded(_ example: (more: PlannerEvent, hasRoom: Bool)) {
        var rig = Self.rig()
        rig.planner.policy.audiencesMax = 2
        for id in ["promo", "other"] as [Bytes] { rig.feed(.show(id, audience: Self.ios)) }
        guard case .audience(let addressed) = example.more else {
            Issue.record("an audience's intent is asked for")
            return
        }
        #expect(rig.planner.hasRoom(for: addressed, now: rig.now, &rig.state) == example.hasRoom)
        // One that only tells holds no place.
        #expect(rig.slice().first == "slice promo/1 ...eve: 3 last")
        rig.feed(.show("promo", 2, audience: nil))
        #expect(rig.planner.hasRoom(for: addressed, now: rig.now, &rig.state))
    }

    @Test("15: a retract during the slicing takes it off those who have it, and nobody else gets it")
    func retractDuring() {
        var rig = Self.rig()
        rig.planner.policy.sliceOpsMax = 1
        rig.feed(.show("promo", audience: Self.ios))
        #expect(rig.slice().last == "ada <- create promo/1 first")
        #expect(rig.feed(.retract(audience: "promo")) == ["retracted promo"])
        #expect(
            rig.slice() == [
                "slice promo/all ...ada: 1", "ada: retracted promo: ada-phone delete", "ada <- delete promo/all",
            ])
        #expect(rig.sliceAll() == [])
        #expect(rig.live("eve") == [])
        #expect(rig.feed(.show("promo", 2, audience: Self.ios)) == ["suppressed promo/2"])
        #expect(rig.feed(.retract(audience: "promo")) == ["duplicate promo"])
        #expect(rig.sliceAll() == [])
    }

    @Test("a retract that comes first lets nothing show")
    func retractFirst() {
        var rig = Self.rig()
        #expect(rig.feed(.retract(audience: "promo")) == ["retracted promo"])
        #expect(rig.feed(.show("promo", audience: Self.ios)) == ["suppressed promo/1"])
        #expect(rig.slice() == [])
    }

    @Test("a retract of revision 1 in the midst of it leaves what revision 2 needs to reach all who were meant")
    func retractOne() {
        var rig = Self.rig()
        rig.planner.policy.sliceOpsMax = 1
        rig.feed(.show("promo", audience: Self.ios))
        #expect(rig.slice().last == "ada <- create promo/1 first")
        rig.feed(.retract(audience: "promo", 1))
        #expect(rig.sliceAll() == ["ada <- delete promo/1"])
        #expect(rig.feed(.show("promo", 2, audience: nil)) == ["updated promo/2"])
        #expect(rig.sliceAll() == ["ada", "bob", "eve"].map { "\($0) <- create promo/2" })
    }

    @Test("an update in the midst of it reaches those who have it, and the others get it alone")
    func updateDuring() {
        var rig = Self.rig()
        rig.planner.policy.sliceOpsMax = 1
        rig.feed(.show("promo", audience: Self.ios))
        #expect(rig.slice().last == "ada <- create promo/1 first")
        #expect(rig.feed(.show("promo", 2, audience: nil, title: "u")) == ["updated promo/2"])
        #expect(
            rig.sliceAll() == [
                "ada <- create promo/2", "bob <- create promo/2 first", "eve <- create promo/2 first",
            ])
    }

    @Test("an update that comes first waits for the tags")
    func updateFirst() {
        var rig = Self.rig()
        #expect(rig.feed(.show("promo", 2, audience: nil, title: "u")) == ["waiting promo/2"])
        #expect(rig.sliceAll() == [])
        #expect(rig.feed(.show("promo", audience: Self.ios)) == ["planned promo/2"])
        #expect(rig.sliceAll() == ["ada", "bob", "eve"].map { "\($0) <- create promo/2 first" })
        #expect(rig.feed(.show("promo", audience: Self.ios)) == ["superseded promo/1"])
        #expect(rig.feed(.show("promo", 2, audience: nil, title: "u")) == ["duplicate promo/2"])
    }

    @Test("the same again is a duplicate; other content or other tags are a conflict; the first stays")
    func repeats() {
        var rig = Self.rig()
        rig.feed(.show("promo", audience: Self.ios))
        #expect(rig.feed(.show("promo", audience: Self.ios, created: PlannerRig.start)) == ["duplicate promo/1"])
        #expect(rig.feed(.show("promo", audience: Self.ios, title: "u")) == ["conflict promo/1"])
        #expect(rig.feed(.show("promo", audience: Audience(all: ["de"]))) == ["conflict promo/1"])
        #expect(rig.sliceAll() == ["ada", "bob", "eve"].map { "\($0) <- create promo/1 first" })
        #expect(rig.feed(.show("promo", audience: Self.ios)) == ["duplicate promo/1"])
        #expect(rig.sliceAll() == [])
    }

    @Test("a read before its turn keeps it off, and a read after it takes it off; an update reaches both")
    func reads() {
        var rig = Self.rig()
        rig.planner.policy.sliceOpsMax = 1
        rig.feed(.show("promo", audience: Self.ios))
        _ = rig.slice()
        #expect(rig.feed(.read("promo")) == ["read promo: ada-phone delete", "ada <- delete promo/1"])
        #expect(rig.feed(.read("promo", of: "eve")) == ["read promo"])
        #expect(rig.sliceAll() == ["bob <- create promo/1 first"])
        rig.feed(.show("promo", 2, audience: nil))
        #expect(rig.sliceAll() == ["ada", "bob", "eve"].map { "\($0) <- create promo/2" })
    }

    @Test("what is over asks nobody; what ends in the midst of it goes on without pushes, for a later revision")
    func expiry() {
        var rig = Self.rig()
        rig.planner.policy.sliceOpsMax = 1
        let old = Expiry.at(PlannerRig.start)
        #expect(rig.feed(.show("old", audience: Self.ios, expiry: old)) == ["expired old/1"])
        #expect(rig.slice() == [])
        #expect(rig.feed(.show("old", 2, audience: Self.ios)) == ["planned old/2"])
        #expect(rig.sliceAll().count == 3)

        rig.feed(.show("promo", audience: Self.ios, expiry: .after(.seconds(60))))
        #expect(rig.slice().last == "ada <- create promo/1 first")
        rig.seconds += 60
        #expect(rig.slice() == ["slice promo/1 ada...dan: 1"])
        #expect(rig.sliceAll() == [])
        #expect(rig.feed(.show("promo", 2, audience: nil)) == ["updated promo/2"])
        #expect(rig.sliceAll() == ["ada", "bob", "eve"].map { "\($0) <- create promo/2" })
    }

    @Test("an update that is over when it comes takes the older revision off")
    func expiredUpdate() {
        var rig = Self.rig()
        rig.feed(.show("promo", audience: Self.ios))
        #expect(rig.sliceAll().count == 3)
        #expect(rig.feed(.show("promo", 2, audience: nil, expiry: .at(PlannerRig.start))) == ["expired promo/2"])
        #expect(rig.sliceAll() == ["ada", "bob", "eve"].map { "\($0) <- delete promo/2" })
    }

    @Test("an intent from before the window is stale, and one for a single recipient is another notification")
    func stale() {
        var rig = Self.rig()
        let before = PlannerRig.start - .seconds(8 * 86_400)
        #expect(rig.feed(.show("promo", audience: Self.ios, created: before)) == ["stale promo/1"])
        #expect(rig.feed(.show("promo")) == ["planned promo/1: ada-phone create", "ada <- create promo/1 first"])
        // Ada has that id already, under her own name: she is not told twice.
        rig.feed(.show("promo", audience: Self.ios))
        #expect(rig.sliceAll() == ["bob <- create promo/1 first", "eve <- create promo/1 first"])
    }

    @Test("jobs take turns, so a small audience does not wait for a large one")
    func turns() {
        var rig = Self.rig()
        rig.planner.policy.sliceOpsMax = 1
        rig.feed(.show("big", audience: Self.ios))
        rig.feed(.show("small", audience: Audience(all: ["ios", "de"])))
        let order = (0..<5).map { _ in rig.slice().first ?? "" }
        #expect(
            order == [
                "slice big/1 ...ada: 1", "slice small/1 ...eve: 1 last", "slice big/1 ada...dan: 1",
                "slice big/1 dan...eve: 1 last", "",
            ])
    }

    @Test("above the limit of live notifications an audience's makes room as any does")
    func evicts() {
        var rig = Self.rig()
        rig.planner.policy.livePerRecipientMax = 1
        rig.feed(.show("x"))
        rig.feed(.show("promo", audience: Self.ios))
        #expect(
            rig.slice().prefix(3) == [
                "slice promo/1 ...eve: 3 last", "ada: planned promo/1: ada-phone create",
                "ada: evicted x/1: ada-phone delete",
            ])
        #expect(rig.live() == ["promo"])
    }

    @Test("a holder whose devices are gone gets the newest when one comes, or nothing after a retract")
    func deviceless() {
        var rig = Self.rig()
        rig.feed(.show("promo", audience: Self.ios))
        #expect(rig.sliceAll().count == 3)
        rig.feed(.unregister("ada-phone"))
        rig.feed(.show("promo", 2, audience: nil))
        #expect(rig.sliceAll() == ["bob <- create promo/2", "eve <- create promo/2"])
        #expect(rig.feed(.register("new", "t9")).last == "t9 <- create promo/2")
        rig.feed(.unregister("new"))
        rig.feed(.retract(audience: "promo"))
        _ = rig.sliceAll()
        #expect(rig.feed(.register("newer", "t8")).count == 2)
    }
}
