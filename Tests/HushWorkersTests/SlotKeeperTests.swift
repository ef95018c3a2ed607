import HushBase
import HushStream
import Synchronization
import Testing

@testable import HushWorkers

@Suite("The keeper of a slot")
struct SlotKeeperTests {
    /// A slot that ends when the test says so.
    private final class FakeSlot: WorkerSlot {
        private struct State {
            var status = SlotStatus()
            var joins = 0
            var stops = 0
        }

        private let state = Mutex(State())

        var status: SlotStatus { state.withLock { $0.status } }
        var inFlight: Int { 0 }
        var joins: Int { state.withLock { $0.joins } }
        var stops: Int { state.withLock { $0.stops } }

        func start() throws(StreamFault) { state.withLock { $0.status.phase = .running } }
        func stop() { state.withLock { $0.stops += 1 } }

        func join() -> StreamFault? {
            state.withLock { state in
                state.joins += 1
                return state.status.fault
            }
        }

        func end(_ fault: StreamFault?) {
            state.withLock { state in
                state.status.phase = .stopped
                state.status.fault = fault
            }
        }
    }

    private struct NoMore: Error, CustomStringConvertible {
        let description = "the key file is gone"
    }

    private static let fenced = StreamFault.fenced(
        KafkaCause(operation: "commit", code: -144, name: "_FENCED", message: "fenced"))

    /// A keeper that has started its first slot; `slots` has all that it makes, at most `most`.
    private func keeper(most: Int = 100) throws -> (keeper: SlotKeeper, slots: () -> [FakeSlot]) {
        let made = Made()
        let keeper = try SlotKeeper(name: "a-plan-0", stage: .plan, log: .silent) {
            guard made.slots.count < most else { throw NoMore() }
            made.slots.append(FakeSlot())
            return made.slots[made.slots.count - 1]
        }
        try keeper.start()
        return (keeper, { made.slots })
    }

    private final class Made {
        var slots: [FakeSlot] = []
    }

    private func at(_ millis: Int64) -> MonotonicTime { MonotonicTime(nanos: millis * 1_000_000) }

    @Test("a slot that was fenced is followed by a new one after half a second, then after one")
    func restarts() throws {
        let (keeper, slots) = try keeper()
        #expect(keeper.look(at(0)) == .fine)
        slots()[0].end(Self.fenced)
        #expect(keeper.look(at(1000)) == .fine)
        #expect(keeper.look(at(1499)) == .fine)
        #expect(slots().count == 1)
        #expect(keeper.look(at(1500)) == .fine)
        #expect(slots().count == 2 && keeper.restarts == 1)
        slots()[1].end(Self.fenced)
        #expect(keeper.look(at(2000)) == .fine)
        #expect(keeper.look(at(2999)) == .fine)
        #expect(slots().count == 2)
        #expect(keeper.look(at(3000)) == .fine)
        #expect(slots().count == 3)
    }

    @Test("the seventh fault within five minutes is the process' end; faults further apart are not")
    func givesUp() throws {
        let (keeper, slots) = try keeper()
        var now: Int64 = 0
        for _ in 1...6 {
            slots()[slots().count - 1].end(Self.fenced)
            #expect(keeper.look(at(now)) == .fine)
            now += 20_000
            #expect(keeper.look(at(now)) == .fine)
        }
        slots()[6].end(Self.fenced)
        #expect(
            keeper.look(at(now))
                == .failed(
                    "slot a-plan-0 ended 7 times within 300.0 seconds, last: commit: fenced (_FENCED), fenced"))

        let (patient, others) = try self.keeper()
        for round in 0..<20 {
            others()[round].end(Self.fenced)
            #expect(patient.look(at(Int64(round) * 100_000)) == .fine)
            #expect(patient.look(at(Int64(round) * 100_000 + 20_000)) == .fine)
        }
    }

    @Test("what a new slot cannot mend ends the process at once, with the reason")
    func refused() throws {
        let (keeper, slots) = try keeper()
        slots()[0].end(.refused("hush.reads is missing"))
        #expect(keeper.look(at(0)) == .failed("slot a-plan-0: hush.reads is missing"))
        #expect(slots().count == 1)
    }

    @Test("a slot that cannot be made again is a reason to end in order, not to fall")
    func cannotBeMade() throws {
        let (keeper, slots) = try keeper(most: 1)
        slots()[0].end(Self.fenced)
        #expect(keeper.look(at(0)) == .fine)
        #expect(
            keeper.look(at(500)) == .failed("slot a-plan-0 cannot be started again: the key file is gone"))
        keeper.stop()
        #expect(keeper.join() == nil)
        #expect(slots()[0].joins == 1 && slots()[0].stops == 0)
    }

    @Test("a slot is joined once, whether it ended by itself or was asked to")
    func joinedOnce() throws {
        let (keeper, slots) = try keeper()
        slots()[0].end(Self.fenced)
        #expect(keeper.look(at(0)) == .fine)
        keeper.stop()
        #expect(keeper.join() == nil)
        #expect(slots()[0].joins == 1 && slots()[0].stops == 0)

        let (other, others) = try self.keeper()
        other.stop()
        others()[0].end(nil)
        #expect(other.join() == nil)
        #expect(others()[0].joins == 1 && others()[0].stops == 1)
    }
}
