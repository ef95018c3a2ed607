import Foundation
import HushBase
import Synchronization
import Testing

@testable import HushStream

/// Holds the thread of a client that speaks with its group, as a machine that stalls does.
private final class HeartGate: Sendable {
    private struct State {
        var isClosed = false
        var isReached = false
        var taken = 0
        /// Records taken when a commit last began.
        var committing = 0
    }

    private let state = Mutex(State())

    var isReached: Bool { state.withLock { $0.isReached } }
    var taken: Int { state.withLock { $0.taken } }
    var committing: Int { state.withLock { $0.committing } }

    func close() { state.withLock { $0.isClosed = true } }
    func open() { state.withLock { $0.isClosed = false } }
    func beforeRecord() { state.withLock { $0.taken += 1 } }
    func beforeCommit() { state.withLock { $0.committing = $0.taken } }

    func beat() {
        let deadline = ContinuousClock.now + .seconds(60)
        while state.withLock({ state in
            state.isReached = state.isClosed
            return state.isClosed
        }), ContinuousClock.now < deadline { usleep(1000) }
    }
}

extension OnKafka {
    @Suite struct LostAssignmentTests {
        @Test(
            "a slot that loses its partitions in a transaction, or while it commits one, drops it and goes on",
            arguments: [true, false])
        func lost(isCommitting: Bool) throws {
            let rig = try KafkaRig("lostbeats")
            defer { rig.remove() }
            let gate = HeartGate()
            // Where the client tells its log of each heartbeat, the log can hold them back.
            let kafka = try KafkaConfiguration(
                bootstrapServers: rig.kafka.bootstrapServers, properties: ["debug": "cgrp"])
            let log = StreamLog { level, message in
                if message.hasPrefix("kafka s0 HEARTBEAT: ") { gate.beat() }
                rig.log.write(level, message)
            }
            try rig.produce(0..<100)
            let first = try rig.slot(
                "s0", kafka: kafka, log: log, beforeRecord: { _ in gate.beforeRecord() },
                beforeCommit: { gate.beforeCommit() },
                change: {
                    $0.commitInterval = isCommitting ? .milliseconds(100) : .seconds(2)
                    $0.transactionTimeout = .seconds(5)
                    $0.sessionTimeout = .seconds(6)
                })
            try first.start()
            #expect(rig.wait { first.status.recordsIn == 100 })
            gate.close()
            #expect(rig.wait { gate.isReached })
            let second = try rig.slot("s1", home: StateHome(directory: rig.directory + "/other"))
            try second.start()
            #expect(rig.wait { second.status.phase == .running && second.status.partitions.count == 2 })
            // The first one knows nothing of that, and reads on.
            #expect(first.status.partitions.count == 2)
            try rig.produce(100..<200)
            #expect(rig.wait { (isCommitting ? gate.committing : gate.taken) > 100 })
            gate.open()
            #expect(rig.wait { rig.logged.contain("slot s0: the partitions are lost, the transaction is dropped") })
            #expect(rig.wait { first.status.partitions.count == 1 && second.status.partitions.count == 1 })
            #expect(first.status.aborts == (isCommitting ? 1 : 0))
            try rig.produce(200..<300)
            #expect(rig.wait { first.status.recordsIn + second.status.recordsIn == 300 })
            for slot in [first, second] {
                slot.stop()
                #expect(slot.join() == nil)
            }
            try rig.expectCopied(300)
        }
    }
}
