import Foundation
import HushBase
import Testing

@testable import HushStream

extension OnKafka {
    @Suite struct RestoreTests {
        @Test("a state directory that is gone comes back from the changelogs")
        func lostDirectory() throws {
            let rig = try KafkaRig("lost")
            defer { rig.remove() }
            try rig.produce(0..<500)
            try rig.run(500)
            rig.remove()
            try rig.produce(500..<900)
            try rig.run(400)
            try rig.expectCopied(900)
        }

        @Test(
            "a state that missed the last commits, as after a crash before its write, is repaired from its checkpoint on"
        )
        func oldState() throws {
            let rig = try KafkaRig("old")
            defer { rig.remove() }
            try rig.produce(0..<300)
            try rig.run(300)
            try FileManager.default.copyItem(atPath: rig.directory, toPath: rig.directory + "-copy")
            try rig.produce(300..<600)
            try rig.run(300)
            rig.remove()
            try FileManager.default.moveItem(atPath: rig.directory + "-copy", toPath: rig.directory)
            try rig.produce(600..<900)
            try rig.run(300)
            try rig.expectCopied(900)
        }

        @Test("a changelog with an open transaction is not complete until that has ended")
        func openTransaction() throws {
            let rig = try KafkaRig("open", partitions: 1)
            defer { rig.remove() }
            try rig.produce(0..<10)
            try rig.run(10)
            let deliveries = Deliveries(name: "other", log: .silent)
            let other = try Producer(
                rig.kafka, name: "other", topics: [rig.changelog],
                transactional: Producer.Transactional(id: "\(rig.name)-other", timeoutMillis: 20_000),
                deliveries: deliveries)
            try other.initTransactions(timeoutMillis: 20_000)
            try other.begin()
            Array("key-0".utf8).withUnsafeBytes { key in
                Array("41".utf8).withUnsafeBytes { _ = other.produce(0, partition: 0, key: key, value: $0, tag: 0) }
            }
            try other.flush(timeoutMillis: 20_000)
            let slot = try rig.slot()
            try slot.start()
            #expect(rig.wait { slot.status.phase == .restoring })
            try rig.produce(10..<20)
            try other.commit(timeoutMillis: 20_000)
            #expect(rig.wait { slot.status.recordsIn == 10 })
            slot.stop()
            #expect(slot.join() == nil)
            #expect(try rig.counts()["key-0"] == 42)
        }

        @Test("a changelog that ends before what the local state has seen stops the slot")
        func changelogMadeAnew() throws {
            let rig = try KafkaRig("anew", partitions: 1)
            defer { rig.remove() }
            try rig.produce(0..<50)
            try rig.run(50)
            let slot = try rig.slot(change: { $0.tables[0].changelog = rig.output + "-2" })
            try TopicAdmin(rig.kafka).create([TopicDefinition(name: rig.output + "-2", partitionCount: 1)])
            try slot.start()
            #expect(rig.wait { slot.status.phase == .stopped })
            guard case .refused(let reason) = slot.join() else {
                Issue.record("ended with \(String(describing: slot.status.fault))")
                return
            }
            #expect(reason.contains("the topic was made anew or lost records"))
        }
    }
}
