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
            let other = try rig.openTransaction(in: rig.changelog, key: "key-0", values: ["41"])
            let slot = try rig.slot()
            try slot.start()
            #expect(rig.wait { slot.status.phase == .restoring })
            // Beyond the transaction's own time and the broker's sweep it is told, with its place and what to do.
            #expect(rig.wait { rig.logged.contain("a transaction in \(rig.changelog)-0, open at offset ") })
            #expect(rig.logged.contain("kafka-transactions.sh find-hanging"))
            #expect(slot.status.phase == .restoring)
            try rig.produce(10..<20)
            try other.producer.commit(timeoutMillis: 20_000)
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

        @Test("19: a local state that is too old is deleted and comes back from the changelogs, once")
        func tooOld() throws {
            let rig = try KafkaRig("tooold", partitions: 1)
            defer { rig.remove() }
            try rig.produce(0..<300)
            try rig.run(300)
            try rig.withStore { store in
                var found = try #require(try store.checkpoint())
                found.writtenMillis = 0
                // A row whose deletion is gone from the changelog: reading that again does not take it away.
                try store.add("ghost", "7", found)
            }
            try rig.produce(300..<600)
            try rig.run(300)
            #expect(rig.logged.count("the local state of partition 0 is rebuilt: it is ") == 1)
            try rig.produce(600..<900)
            try rig.run(300)
            #expect(rig.logged.count("is rebuilt") == 1)
            try rig.expectCopied(900)
            #expect(try rig.withStore { try $0.value("ghost") } == nil)
        }

        @Test("25: a checkpoint of a newer format stops the slot, which says what to do, and leaves the state as it is")
        func newerCheckpoint() throws {
            let rig = try KafkaRig("newer", partitions: 1)
            defer { rig.remove() }
            try rig.produce(0..<10)
            try rig.run(10)
            try rig.withStore { store in
                var batch = store.makeBatch()
                [UInt8]([2, 7]).withUnsafeBytes {
                    batch.add(Checkpoint.table, UnsafeRawBufferPointer(start: nil, count: 0), $0)
                }
                try store.write(&batch)
            }
            try rig.produce(10..<20)
            let slot = try rig.slot()
            try slot.start()
            #expect(rig.wait { slot.status.phase == .stopped })
            let fault = slot.join()
            #expect(fault?.description.contains("is of format 2, and this build reads format 1") == true)
            #expect(fault?.isMendedByRestart == false)
            #expect(try rig.withStore { try $0.value("key-0") } == "1")
            rig.remove()
            try rig.run(10)
            try rig.expectCopied(20)
        }

        @Test(
            "a changelog that was trimmed beyond the local state makes it be rebuilt from what is there",
            .enabled(if: KafkaRig.brokerDirectory != nil, "needs a real Kafka that scripts/test started"))
        func trimmed() throws {
            let rig = try KafkaRig("trimmed", partitions: 1)
            defer { rig.remove() }
            try rig.produce(0..<100)
            try rig.run(100)
            try rig.withStore { store in
                try store.add("ghost", "7", try #require(try store.checkpoint()))
            }
            try FileManager.default.copyItem(atPath: rig.directory, toPath: rig.directory + "-copy")
            try rig.produce(100..<300)
            try rig.run(200)
            let end = try rig.watermarks(rig.changelog).end
            // Each key once more, so that what is trimmed is only what compaction could take.
            try rig.produce(300..<310)
            try rig.run(10)
            rig.remove()
            try FileManager.default.moveItem(atPath: rig.directory + "-copy", toPath: rig.directory)
            try rig.trim(rig.changelog, before: end)
            try rig.produce(310..<400)
            try rig.run(90)
            #expect(rig.logged.contain("behind offset"))
            try rig.expectCopied(400)
            #expect(try rig.withStore { try $0.value("ghost") } == nil)
        }

        @Test(
            "segments of a changelog that are deleted under a restore make it begin again, with what is there",
            .enabled(if: KafkaRig.brokerDirectory != nil, "needs a real Kafka that scripts/test started"))
        func deletedMeanwhile() throws {
            let rig = try KafkaRig("meanwhile", partitions: 1)
            defer { rig.remove() }
            try rig.produce(0..<10)
            try rig.run(10)
            // Holds the restore in its middle: it has read what is before, and waits.
            let other = try rig.openTransaction(in: rig.changelog, key: "key-0", values: ["41"])
            let slot = try rig.slot()
            try slot.start()
            #expect(rig.wait { slot.status.phase == .restoring })
            #expect(rig.wait { rig.logged.contain("a transaction in \(rig.changelog)-0, open at offset ") })
            try rig.trim(rig.changelog, before: -1)
            #expect(rig.wait { slot.status.phase == .running })
            #expect(rig.logged.contain("of the local state, which is rebuilt"))
            try other.producer.abort(timeoutMillis: 20_000)
            try rig.produce(10..<20)
            #expect(rig.wait { slot.status.recordsIn == 10 })
            slot.stop()
            #expect(slot.join() == nil)
            #expect(try rig.read(rig.output).map(\.number) == Array(0..<20))
            // What was deleted is counted no more.
            #expect(try rig.counts() == Dictionary(uniqueKeysWithValues: (0..<10).map { ("key-\($0)", 1) }))
        }
    }
}

extension StateStore {
    /// Adds a row of the first table, with a checkpoint.
    fileprivate func add(_ key: String, _ value: String, _ checkpoint: Checkpoint) throws {
        var batch = makeBatch()
        Array(key.utf8).withUnsafeBytes { key in Array(value.utf8).withUnsafeBytes { batch.add(0, key, $0) } }
        try apply(&batch, checkpoint: checkpoint)
    }

    fileprivate func value(_ key: String) throws -> String? {
        var scratch: [UInt8] = []
        let found = try Array(key.utf8).withUnsafeBytes { try get(0, $0, &scratch) }
        defer { found?.release() }
        return found.map { String(decoding: $0.bytes, as: UTF8.self) }
    }
}
