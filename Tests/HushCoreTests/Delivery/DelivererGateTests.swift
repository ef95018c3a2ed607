import HushCore
import Testing

@Suite("Deliverer: gates")
struct DelivererGateTests {
    private func low(_ bench: DeliveryBench, hint: Duration? = nil) -> DeviceReading {
        DeviceReading(at: bench.now, battery: 0.05, notBefore: hint.map { bench.now + $0 })
    }

    @Test("a hint holds background pushes; a create that was read meanwhile never leaves; urgent goes at once")
    func hint() {
        var bench = DeliveryBench.bound()
        bench.signal(low(bench, hint: .seconds(30)))
        bench.create("a")
        bench.create("b")
        bench.create("c")
        bench.delete("b")
        #expect(bench.left() == [])
        #expect(bench.outcomes() == ["held by battery: create a", "coalesced: create b"])
        #expect(bench.wakeAt == bench.now + .seconds(30))
        bench.pass(.seconds(29))
        #expect(bench.left() == [])
        bench.pass(.seconds(1))
        #expect(
            bench.left() == [
                #"[["7:3:0","c","a",1,{"title":"T"}],["7:5:0","c","c",1,{"title":"T"}],["7:6:0","d","b",1]]"#
            ])
        bench.settle()
        bench.signal(low(bench, hint: .seconds(30)))
        bench.create("otp", urgent: true)
        #expect(bench.left().count == 1)
    }

    @Test("a hint that arrives after its time holds nothing, however low the battery was")
    func passedHint() {
        var bench = DeliveryBench.bound()
        bench.signal(low(bench, hint: .seconds(-1)))
        bench.create("a")
        #expect(bench.left().count == 1)
    }

    @Test("a hint holds no longer than its limit")
    func longHint() {
        var bench = DeliveryBench.bound()
        bench.signal(low(bench, hint: .seconds(900_000)))
        bench.create("a")
        #expect(bench.wakeAt == bench.now + .seconds(12 * 3600))
    }

    @Test(
        "which readings close the gate",
        arguments: [
            (DeviceReading(battery: 0.2), true), (DeviceReading(battery: 0.21), false),
            (DeviceReading(battery: 0.05, charging: true), false), (DeviceReading(battery: 0.9, lowPower: true), true),
            (DeviceReading(), false), (DeviceReading(backgroundRefresh: false), false),
        ])
    func readings(reading: DeviceReading, closes: Bool) {
        var bench = DeliveryBench.bound()
        var reading = reading
        reading.at = bench.now
        bench.signal(reading)
        bench.create("a")
        #expect(bench.left().isEmpty == closes)
    }

    @Test("trace 13: an old reading closes nothing, a newer one lifts the gate, alerts pass, low holds 30 min")
    func trace13() {
        var bench = DeliveryBench.bound()
        bench.signal(DeviceReading(at: bench.now - .seconds(3 * 3600), battery: 0.05))
        bench.create("a")
        #expect(bench.left().count == 1)
        bench.settle()
        bench.signal(low(bench))
        bench.create("b")
        #expect(bench.left() == [] && bench.wakeAt == bench.now + .seconds(1800))
        bench.create("c", mode: .visible)
        #expect(bench.pushes.map(\.isAlert) == [true])
        bench.settle()
        bench.create("d")
        #expect(bench.left() == [])
        bench.signal(DeviceReading(at: bench.now + .seconds(5), battery: 0.05, charging: true))
        #expect(bench.left().count == 1)
    }

    @Test("a reading older than the one behind the gate does not lift it")
    func lateReading() {
        var bench = DeliveryBench.bound()
        bench.signal(low(bench))
        bench.signal(DeviceReading(at: bench.now - .seconds(5), battery: 0.9))
        bench.create("a")
        #expect(bench.left() == [])
    }

    @Test("without a hint: 30 minutes, one probe, then at most the longest hold, again and again")
    func probes() {
        var bench = DeliveryBench.bound()
        bench.signal(low(bench))
        bench.create("a")
        bench.pass(.seconds(1800))
        #expect(bench.left().count == 1)
        bench.settle()
        bench.create("b")
        #expect(bench.outcomes() == ["held by battery: create b"])
        #expect(bench.wakeAt == bench.now + .seconds(3600))
        bench.pass(.seconds(3600))
        #expect(bench.left().count == 1)
        bench.settle()
        bench.pass(.seconds(8000))
        bench.create("c")
        #expect(bench.left().count == 1)
        bench.settle()
        bench.create("d")
        #expect(bench.left().count == 1)
    }

    @Test("the wake-up budget: a burst, then creates wait a minute and deletes for a token; urgent passes")
    func budget() {
        var bench = DeliveryBench.bound(acks: false)
        bench.pass(.seconds(86_400))
        for index in 0..<6 {
            bench.create(Bytes("a\(index)"))
            bench.answer(200)
        }
        #expect(bench.left().count == 6)
        bench.lines.removeAll()
        bench.delete("a0")
        #expect(bench.left() == [] && bench.wakeAt == bench.now + .seconds(1200))
        bench.create("late")
        #expect(bench.left() == [] && bench.wakeAt == bench.now + .seconds(60))
        #expect(bench.outcomes() == ["held by budget: delete a0"])
        bench.create("otp", urgent: true)
        #expect(bench.left().count == 1)
        bench.answer(200)
        #expect(bench.state.row.ops.isEmpty)
        bench.create("later")
        bench.pass(.seconds(60))
        #expect(bench.left().count == 1)
        bench.answer(200)
        bench.delete("a1")
        // What passed without a token took none.
        #expect(bench.wakeAt == bench.now + .seconds(1140))
    }

    @Test("an ack within a minute earns the wake-up back, so a phone that answers is never slowed")
    func earned() {
        var bench = DeliveryBench.bound()
        for index in 0..<20 {
            let op = bench.create(Bytes("a\(index)"))
            bench.answer(200)
            bench.signal(acks: [op])
        }
        #expect(bench.left().count == 20)
    }

    @Test("a burst of 0 lifts the budget")
    func noBudget() {
        var policy = Policy()
        policy.wakeUpBurst = 0
        var bench = DeliveryBench.bound(acks: false, policy: policy)
        for index in 0..<20 {
            bench.delete(Bytes("a\(index)"))
            bench.answer(200)
        }
        #expect(bench.left().count == 20)
    }
}
