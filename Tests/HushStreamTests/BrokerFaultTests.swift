import Foundation
import HushBase
import Synchronization
import Testing

@testable import HushStream

/// Holds a slot in the middle of a transaction, so that what happens there happens at that place.
private final class TransactionGate: Sendable {
    private struct State {
        /// Records taken since the last commit began.
        var taken = 0
        var isArmed = false
        var isReached = false
    }

    static let recordsBefore = 5
    private let state = Mutex(State())

    var isReached: Bool { state.withLock { $0.isReached } }

    func arm() { state.withLock { $0.isArmed = true } }

    func open() { state.withLock { $0 = State(taken: $0.taken) } }

    func beforeCommit() { state.withLock { $0.taken = 0 } }

    func beforeRecord() {
        usleep(1000)
        let holds = state.withLock { state in
            state.taken += 1
            if state.isArmed, state.taken > Self.recordsBefore { state.isReached = true }
            return state.isReached
        }
        guard holds else { return }
        let deadline = ContinuousClock.now + .seconds(20)
        while isReached, ContinuousClock.now < deadline { usleep(1000) }
    }
}

extension OnKafka {
    @Suite struct BrokerFaultTests {
        @Test(
            "two of three brokers are killed in turn, each in the middle of a transaction: nothing is lost or repeated",
            .enabled(if: KafkaRig.script != nil, "needs a real Kafka that scripts/test started"))
        func brokersKilled() throws {
            // Brokers of its own, for other suites use the common one meanwhile.
            let brokers = FileManager.default.temporaryDirectory.appending(path: "hush-brokers-\(getpid())").path
            let port = Int.random(in: 3000..<3800) * 5
            KafkaRig.control(
                "start", brokers, "--nodes", "3", "--port", "\(port)", "--heap", "256m",
                // What a dead broker led goes to others after this.
                "--set", "broker.session.timeout.ms=3000", "--set", "broker.heartbeat.interval.ms=500")
            defer {
                KafkaRig.control("stop", brokers)
                try? FileManager.default.removeItem(atPath: brokers)
            }
            let addresses = [0, 2, 4].map { "127.0.0.1:\(port + $0)" }.joined(separator: ",")
            // Two replicas, both needed: with either away the output takes nothing, and transactions are aborted.
            let rig = try KafkaRig("restart", bootstrap: addresses, outputReplicas: 2)
            defer { rig.remove() }
            let gate = TransactionGate()
            var slot = try makeSlot(rig, gate)
            try slot.start()
            var restarts = 0
            // What is open for too long ends a slot, and its owner starts another: as often as it takes.
            func keepRunning() throws {
                guard slot.status.phase == .stopped else { return }
                let fault = try #require(slot.join())
                try #require(fault.isMendedByRestart, "\(fault)")
                restarts += 1
                slot = try makeSlot(rig, gate)
                try slot.start()
            }
            for (round, node) in ["1", "2"].enumerated() {
                gate.arm()
                try rig.produce(round * 1000..<(round + 1) * 1000)
                let isInside = try rig.wait(atMost: .seconds(60)) {
                    try keepRunning()
                    return gate.isReached
                }
                #expect(isInside, "the slot did not come to work before broker \(node) was to be killed")
                KafkaRig.control("kill", brokers, node)
                gate.open()
                KafkaRig.control("restart", brokers, node)
                // The next one may only go when this one has all it had: else partitions are without a leader.
                let isWhole = try rig.wait(atMost: .seconds(60)) {
                    try keepRunning()
                    return KafkaRig.listsNothing(
                        "tool", brokers, "topics", "--describe", "--under-replicated-partitions")
                }
                #expect(isWhole)
            }
            let isDone = try rig.wait(atMost: .seconds(60)) {
                try keepRunning()
                return try rig.committed() == 2000
            }
            #expect(isDone)
            slot.stop()
            #expect(slot.join() == nil)
            #expect(rig.logged.contain("transaction aborted") || rig.logged.contain("fenced") || restarts > 0)
            #expect(try rig.read(rig.input).count == 2000)
            try rig.expectCopied(2000)
        }

        private func makeSlot(_ rig: KafkaRig, _ gate: TransactionGate) throws -> StreamSlot<CopyApplication> {
            try rig.slot(
                beforeRecord: { _ in gate.beforeRecord() }, beforeCommit: { gate.beforeCommit() },
                change: {
                    $0.transactionTimeout = .seconds(2)
                    // A broker that starts slowly must not end the test's process by the watchdog.
                    $0.callLimit = .seconds(55)
                })
        }
    }
}
