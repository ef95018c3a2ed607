import Foundation
import HushBase
import Synchronization
import Testing

@testable import HushStream

extension OnKafka {
    /// What brokers refuse, and what cannot be read from them.
    @Suite struct RefusalTests {
        @Test("a record that is too large for the output is found and kept aside; all others go on, in order")
        func tooLarge() throws {
            let rig = try KafkaRig("large", partitions: 1, outputSettings: ["max.message.bytes": "2000"])
            defer { rig.remove() }
            try rig.produce(0..<40)
            // Random, so that no compression helps it.
            let large = (0..<5000).map { _ in UInt8.random(in: 0...255) }
            try rig.produce([large])
            try rig.produce(40..<100)
            let slot = try rig.slot(change: { $0.transactionRecordsMax = 30 })
            try slot.start()
            let isDone = try rig.wait(atMost: .seconds(150)) {
                try slot.status.phase == .stopped || rig.committed() == 101
            }
            #expect(isDone)
            slot.stop()
            #expect(slot.join() == nil)
            #expect(slot.status.aborts > 0)
            let records = try rig.read(rig.output)
            #expect(records.map(\.number) == Array(0..<40) + [-1] + Array(40..<100))
            #expect(records.first { $0.number == -1 }?.value.isEmpty == true)
            #expect(rig.logged.contain("\(rig.input)-0 offset 40 cannot be written"))
        }

        @Test(
            "a record whose checksum is wrong stops the slot, which names the partition; it is not skipped",
            .enabled(if: KafkaRig.brokerDirectory != nil, "needs a real Kafka that scripts/test started"))
        func corrupt() throws {
            let rig = try KafkaRig("corrupt", partitions: 1)
            defer { rig.remove() }
            try rig.produce(0..<50)
            try rig.produce(50..<100)
            let directory = try #require(KafkaRig.brokerDirectory)
            let path = "\(directory)/data-1/\(rig.input)-0/00000000000000000000.log"
            let file = try #require(FileHandle(forUpdatingAtPath: path))
            let end = try file.seekToEnd()
            try file.seek(toOffset: end - 1)
            let last = try #require(try file.readToEnd()?.first)
            try file.seek(toOffset: end - 1)
            try file.write(contentsOf: [last ^ 0xff])
            try file.close()
            let slot = try rig.slot()
            try slot.start()
            #expect(rig.wait { slot.status.phase == .stopped })
            slot.stop()
            let fault = slot.join()
            // The broker itself may find the damage first, and then says that the offset is not there.
            let words = fault?.description ?? ""
            #expect(
                ["a record cannot be read", "the offset of group"].contains { words.hasPrefix("\(rig.input)-0: \($0)") }
            )
            #expect(fault?.isMendedByRestart == false)
            // Whatever was committed before is what came out, and nothing behind the damage.
            let count = try rig.read(rig.output).count
            #expect(try rig.committed() == count)
            #expect(count < 100)
        }

        @Test("offsets that a transaction holds which does not end stop the start of a slot, which says what to do")
        func heldOffsets() throws {
            let rig = try KafkaRig("held")
            defer { rig.remove() }
            try rig.produce(0..<10)
            let holder = try rig.holdOffsets()
            let slot = try rig.slot(change: { $0.callLimit = .seconds(8) })
            try slot.start()
            #expect(rig.wait { slot.status.phase == .stopped })
            slot.stop()
            let words = slot.join().map { "\($0)" } ?? ""
            #expect(words.contains("group \(rig.name) does not tell its offsets of \(rig.input)"))
            #expect(words.contains("kafka-transactions.sh find-hanging"))
            try holder.producer.abort(timeoutMillis: 10_000)
            try rig.run(10)
            try rig.expectCopied(10)
        }

        @Test("offsets that a transaction holds for a while are waited for, and then work goes on")
        func heldForAWhile() throws {
            let rig = try KafkaRig("heldshort")
            defer { rig.remove() }
            try rig.produce(0..<10)
            let holder = try rig.holdOffsets()
            let slot = try rig.slot()
            try slot.start()
            #expect(rig.wait { slot.status.rebalances == 1 || slot.status.phase == .stopped })
            #expect(slot.status.recordsIn == 0)
            try holder.producer.abort(timeoutMillis: 10_000)
            #expect(rig.wait { slot.status.recordsIn == 10 || slot.status.phase == .stopped })
            slot.stop()
            #expect(slot.join() == nil)
            try rig.expectCopied(10)
        }
    }
}
