import Foundation
import HushBase
import Testing

@testable import HushStream

extension OnKafka {
    @Suite struct StartTests {
        private func fault(_ rig: KafkaRig, _ change: (inout StreamConfiguration) -> Void = { _ in }) throws
            -> StreamFault?
        {
            defer { rig.remove() }
            let slot = try rig.slot(change: change)
            try slot.start()
            #expect(rig.wait { slot.status.phase == .stopped })
            slot.stop()
            return slot.join()
        }

        @Test("a missing topic is named, with the command that makes it")
        func missingTopic() throws {
            let rig = try KafkaRig("missing")
            let fault = try fault(rig) { $0.outputs[0].topic = "\(rig.name)-nowhere" }
            let message =
                "topic \(rig.name)-nowhere does not exist (hush topics create makes it), or this process may not describe it"
            #expect(fault == .refused(message))
        }

        @Test("other partition counts are refused: they are part of the state's identity")
        func partitionCounts() throws {
            let rig = try KafkaRig("counts")
            let fault = try fault(rig) { $0.outputs[0].partitionCount = 3 }
            #expect(
                fault
                    == .refused(
                        "topic \(rig.output) has 2 partitions where 3 are expected; the state belongs to that number"))
        }

        @Test("a group without offsets stops instead of skipping or repeating records")
        func noOffsets() throws {
            let rig = try KafkaRig("offsets", partitions: 1, commitsOffsets: false)
            #expect(
                try fault(rig)
                    == .refused(
                        "group \(rig.name) has no offset for \(rig.input)-0: a new group gets its first offsets from hush "
                            + "topics create; one that had offsets has lost them"))
        }

        @Test("an offset that is not in the topic stops the slot")
        func offsetOutOfRange() throws {
            let rig = try KafkaRig("range", partitions: 1)
            try rig.produce(0..<10)
            try GroupOffsets.commit(1000, topic: rig.input, partition: 0, group: rig.name, kafka: rig.kafka)
            let fault = try fault(rig)
            guard case .refused(let reason) = fault else {
                Issue.record("ended with \(String(describing: fault))")
                return
            }
            #expect(reason.hasPrefix("\(rig.input)-0: the offset of group \(rig.name) is not in the topic"))
        }

        @Test("a slot that cannot reach a broker can be stopped")
        func noBroker() throws {
            let home = try StateHome(
                directory: FileManager.default.temporaryDirectory.appending(path: "hush-nobroker").path)
            let configuration = CopyApplication.configuration(
                name: "n", slot: "s0", input: "i", output: "o", changelog: "c", partitionCount: 1)
            let kafka = try KafkaConfiguration(bootstrapServers: "127.0.0.1:1")
            let slot = try StreamSlot(configuration, kafka: kafka, home: home, log: .silent) { CopyApplication() }
            try slot.start()
            slot.stop()
            #expect(slot.join() == nil)
        }
    }
}
