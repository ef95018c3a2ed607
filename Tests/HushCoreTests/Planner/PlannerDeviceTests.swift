import HushCore
import Testing

@Suite struct PlannerDeviceTests {
    @Test("a register binds its address and gets all that is live")
    func binds() {
        var rig = PlannerRig()
        #expect(rig.feed(.show("a")) == ["waiting a/1"])
        rig.feed(.show("b", app: "shop"))
        rig.feed(.show("c", expiry: .after(.seconds(5))))
        rig.seconds += 10
        #expect(
            rig.feed(.register("phone", "t1", fresh: true)) == [
                "registered: phone bind, phone create a", "t1 <- bind ada @14 fresh", "t1 <- create a/1 first",
            ])
    }

    @Test("a register that changes nothing keeps its version and emits nothing")
    func renews() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1", install: "i1"))
        #expect(rig.feed(.register("phone", "t1", install: "i1", tags: ["de"])) == ["registered"])
        let device = rig.state.recipient("ada").devices[0]
        #expect(device.version == PlannerRig.version(1, 0))
        #expect(device.renewed == PlannerRig.version(2, 1))
        #expect(device.registration.tags == ["de"])
    }

    static let changes: [(String, PlannerEvent, [String])] = [
        ("token", .register("phone", "t2", install: "i1"), ["t1 <- unbind ada @1", "t2 <- bind ada @2"]),
        ("app", .register("phone", "t1", install: "i1", app: "shop"), ["t1 <- unbind ada @1", "t1 <- bind ada @2"]),
        ("dialect", .register("phone", "t1", install: "i1", dialect: .crt), ["t1 <- bind ada @2"]),
        ("acks", .register("phone", "t1", install: "i1", acks: false), ["t1 <- bind ada @2"]),
        ("install", .register("phone", "t1", install: "i2"), ["t1 <- bind ada @2"]),
    ]

    @Test("any other change binds anew and unbinds an address that is left", arguments: changes)
    func rebinds(_ field: String, _ event: PlannerEvent, _ expected: [String]) {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1", install: "i1"))
        #expect(rig.feed(event) == ["registered: phone bind"] + expected)
        #expect(rig.state.recipient("ada").devices.count == 1)
    }

    @Test("another device id on the same token takes the address over")
    func sameToken() {
        var rig = PlannerRig()
        rig.feed(.register("old", "t1"))
        #expect(rig.feed(.register("new", "t1")) == ["registered: new bind", "t1 <- bind ada @2"])
        #expect(rig.state.recipient("ada").devices.map(\.registration.device) == ["new"])
    }

    @Test("a logout unbinds the device, whose ops then stay out")
    func unregisters() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1"))
        #expect(rig.feed(.unregister("phone")) == ["unregistered", "t1 <- unbind ada @1"])
        #expect(rig.feed(.unregister("phone")) == ["duplicate"])
        #expect(rig.feed(.show("x")) == ["waiting x/1"])
        #expect(
            rig.feed(.register("phone", "t1")) == [
                "registered: phone bind, phone create x", "t1 <- bind ada @5", "t1 <- create x/1",
            ])
    }

    @Test("above the limit of devices the one that was silent longest goes")
    func limitsDevices() {
        var rig = PlannerRig()
        rig.planner.policy.devicesPerRecipientMax = 2
        rig.feed(.register("a", "t1"))
        rig.feed(.register("b", "t2"))
        rig.feed(.register("a", "t1"))
        #expect(
            rig.feed(.register("c", "t3")) == ["registered: c bind", "t2 <- unbind ada @2", "t3 <- bind ada @4"])
        #expect(rig.state.recipient("ada").devices.map(\.registration.device) == ["a", "c"])
    }

    static let brought: [(dialects: [Dialect], mode: Mode, isTold: Bool)] = [
        ([.hush], .silent, false), ([.hush], .visible, true), ([.hush], .auto, true),
        ([.airship], .silent, true), ([.airship], .visible, true),
        // An app that spoke it before has rung for what it brings along.
        ([.airship, .hush], .silent, true), ([.crt, .hush], .silent, false),
    ]

    @Test("what a bind or a hello brings again says whether an alert may have told of it", arguments: brought)
    func told(_ example: (dialects: [Dialect], mode: Mode, isTold: Bool)) {
        var rig = PlannerRig()
        rig.feed(.show("x", mode: example.mode))
        for dialect in example.dialects { rig.feed(.register("phone", "t1", dialect: dialect)) }
        #expect(rig.lastOp?.isTold == example.isTold)
        rig.feed(.hello("phone"))
        #expect(rig.lastOp?.isTold == (example.mode != .silent || example.dialects.last == .airship))
    }

    @Test("a hello is answered with what the screen lacks and with what it should not show")
    func hello() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1"))
        for id: Bytes in ["kept", "swiped", "old", "lost"] { rig.feed(.show(id)) }
        rig.feed(.show("old", 2))
        rig.feed(.show("shop", app: "shop"))
        rig.feed(.retract("dead", 3))
        let hello = PlannerEvent.hello(
            "phone", shown: [("kept", 1), ("old", 1), ("dead", 2), ("unknown", 5), ("shop", 1)], gone: [("swiped", 1)])
        #expect(
            rig.feed(hello) == [
                "hello: phone delete dead, phone delete unknown, phone delete shop, phone create lost, phone create old",
                "t1 <- signal hello", "t1 <- delete dead/3", "t1 <- delete unknown/5", "t1 <- delete shop/1",
                "t1 <- create lost/1", "t1 <- create old/2",
            ])
    }

    @Test("what expired and is still shown is deleted by a hello")
    func helloExpired() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1"))
        rig.feed(.show("x", expiry: .after(.seconds(5))))
        rig.seconds += 10
        #expect(rig.feed(.hello("phone", shown: [("x", 1)])).last == "t1 <- delete x/1")
    }

    @Test("a hello that shows too much is mended in steps")
    func helloInSteps() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1"))
        let shown = (0..<300).map { (Bytes("n\($0)"), Int64(1)) }
        #expect(rig.feed(.hello("phone", shown: shown)).count == 1 + 1 + Planner.helloDeletesMax)
        #expect(rig.feed(.hello("phone", shown: Array(shown[Planner.helloDeletesMax...]))).count == 1 + 1 + 44)
    }

    @Test("a signal goes on to the device's address, without a line")
    func signals() {
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1"))
        let op = OpID(partition: 3, offset: 1207, index: 0)
        let signal = Signal(
            recipient: "ada", device: "phone", reading: DeviceReading(battery: 0.12), acks: [op])
        #expect(rig.feed(.signal(signal)) == ["t1 <- signal battery 0.12 acks 3:1207:0"])
        guard case .signal("ada", let reading, [op], hello: false) = rig.pushes.last?.record else {
            Issue.record("no signal")
            return
        }
        #expect(reading.at == rig.now)
    }

    @Test("a device that nobody registered gets nothing, and its hello a line")
    func unknownDevice() {
        var rig = PlannerRig()
        rig.feed(.show("x"))
        #expect(rig.feed(.signal(Signal(recipient: "ada", device: "phone"))) == [])
        #expect(rig.feed(.hello("phone", shown: [("x", 1)])) == ["hello"])
    }

    @Test("a snapshot larger than a record goes out in several")
    func splitsRecords() {
        var rig = PlannerRig()
        rig.planner.policy.livePerRecipientMax = 100
        for number in 0..<70 { rig.feed(.show(Bytes("n\(number)"))) }
        rig.feed(.register("phone", "t1"))
        let sizes = rig.pushes.map { push in
            if case .ops(_, let ops, _) = push.record { ops.count } else { 0 }
        }
        #expect(sizes == [0, 64, 6])
        let long = String(repeating: "x", count: 100 << 10)
        for id: Bytes in ["a", "b"] { rig.feed(.show(id, to: "bob", title: long)) }
        let before = rig.pushes.count
        rig.feed(.register("pad", "t2", of: "bob"))
        #expect(rig.pushes.count == before + 3)
    }
}
