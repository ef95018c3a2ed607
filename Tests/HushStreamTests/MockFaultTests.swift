import Foundation
import HushBase
import Testing

@testable import HushStream

/// Answers of brokers that a real one gives only in its worst minutes, by librdkafka's mock cluster. It is no judge of
/// what is committed: it shows aborted records to everyone.
@Suite(.serialized, .timeLimit(.minutes(3))) struct MockFaultTests {
    // The numbers of Kafka's protocol.
    private static let addPartitions: Int16 = 24
    private static let addOffsets: Int16 = 25
    private static let endTransaction: Int16 = 26
    private static let coordinatorLoads: Int32 = 14

    @Test("a transaction whose end was slow to be told is not followed by another of the same producer")
    func slowEnd() throws {
        let broker = try EmbeddedBroker()
        let rig = try KafkaRig("slowend", on: broker)
        defer { rig.remove() }
        try rig.produce(0..<10)
        let slot = try rig.slot(change: { $0.sessionTimeout = .seconds(10) })
        try slot.start()
        #expect(rig.wait { slot.status.recordsIn == 10 })
        #expect(slot.status.producersReplaced == 0)
        // Each costs librdkafka a tenth of a second.
        broker.answerNext(Self.endTransaction, with: Array(repeating: Self.coordinatorLoads, count: 25))
        try rig.produce(10..<20)
        #expect(rig.wait { slot.status.recordsIn == 20 })
        try rig.produce(20..<30)
        #expect(rig.wait { slot.status.recordsIn == 30 })
        #expect(slot.status.producersReplaced == 1 && slot.status.aborts == 0)
        #expect(rig.logged.count("in doubt, it is replaced") == 1)
        slot.stop()
        #expect(slot.join() == nil)
        #expect(try rig.read(rig.output).map(\.number) == Array(0..<30))
    }

    @Test(
        "a producer whose id the brokers have forgotten, or given away, is given up, and the next one goes on",
        arguments: [
            // Nothing of the transaction is at the brokers, so librdkafka ends it by itself and fails the next one too.
            (addPartitions, [49, 49]), (addOffsets, [49]), (endTransaction, [49]), (addPartitions, [90]),
            (addPartitions, [47]),
        ] as [(Int16, [Int32])])
    func forgottenProducer(request: Int16, codes: [Int32]) throws {
        let broker = try EmbeddedBroker()
        let rig = try KafkaRig("forgotten", on: broker)
        defer { rig.remove() }
        try rig.produce(0..<10)
        var slot = try rig.slot()
        try slot.start()
        #expect(rig.wait { slot.status.recordsIn == 10 })
        broker.answerNext(request, with: codes)
        try rig.produce(10..<20)
        var restarts = 0
        let isDone = try rig.wait {
            if slot.status.phase == .stopped {
                let fault = try #require(slot.join())
                try #require(fault.isMendedByRestart, "\(fault)")
                restarts += 1
                slot = try rig.slot()
                try slot.start()
            }
            return slot.status.recordsIn >= (restarts == 0 ? 20 : 10)
        }
        #expect(isDone)
        #expect(restarts + Int(slot.status.producersReplaced) == 1)
        slot.stop()
        #expect(slot.join() == nil)
    }
}
