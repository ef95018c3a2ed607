import Foundation
import HushBase
import Synchronization
import Testing

@testable import HushStream

extension OnKafka {
    @Suite struct StreamSlotTests {
        @Test("every record is copied once, in order, and counted; librdkafka places keys as Murmur2 does")
        func copies() throws {
            let rig = try KafkaRig("copy")
            defer { rig.remove() }
            try rig.produce(0..<1000)
            let slot = try rig.slot()
            try slot.start()
            #expect(rig.wait { slot.status.recordsIn == 1000 })
            try rig.produce(1000..<1500)
            #expect(rig.wait { slot.status.recordsIn == 1500 })
            slot.stop()
            #expect(slot.join() == nil)
            try rig.expectCopied(1500)
            for record in try rig.read(rig.input) {
                #expect(record.partition == Murmur2.partition(of: Array(record.key.utf8), count: 2))
            }
        }

        @Test("two slots of one process share the partitions, and one takes all over when the other stops")
        func takeOver() throws {
            let rig = try KafkaRig("share", partitions: 4)
            defer { rig.remove() }
            let home = try StateHome(directory: rig.directory)
            try rig.produce(0..<2000)
            let first = try rig.slot("s0", home: home)
            try first.start()
            #expect(rig.wait { first.status.recordsIn > 0 })
            let second = try rig.slot("s1", home: home)
            try second.start()
            #expect(rig.wait { first.status.partitions.count == 2 && second.status.partitions.count == 2 })
            try rig.produce(2000..<4000)
            #expect(rig.wait { first.status.recordsIn + second.status.recordsIn == 4000 })
            first.stop()
            #expect(first.join() == nil)
            #expect(rig.wait { second.status.partitions.count == 4 && second.status.phase == .running })
            try rig.produce(4000..<5000)
            #expect(rig.wait { first.status.recordsIn + second.status.recordsIn == 5000 })
            second.stop()
            #expect(second.join() == nil)
            try rig.expectCopied(5000)
        }

        @Test("a second slot of the same name fences the first, which ends; nothing is written twice")
        func fencing() throws {
            let rig = try KafkaRig("fence")
            defer { rig.remove() }
            try rig.produce(0..<500)
            let first = try rig.slot(beforeRecord: { _ in usleep(2000) })
            try first.start()
            #expect(rig.wait { first.status.recordsIn > 0 })
            let second = try rig.slot(home: StateHome(directory: rig.directory + "/other"))
            try second.start()
            #expect(rig.wait { first.status.phase == .stopped })
            guard case .fenced = first.join() else {
                Issue.record("the first ended with \(String(describing: first.status.fault))")
                return
            }
            #expect(rig.wait { first.status.recordsIn + second.status.recordsIn == 500 })
            second.stop()
            #expect(second.join() == nil)
            try rig.expectCopied(500)
        }

        @Test("a slot that was idle when its name was taken ends at its next transaction, and does not hang there")
        func fencedWhileIdle() throws {
            let rig = try KafkaRig("idlefence")
            defer { rig.remove() }
            try rig.produce(0..<10)
            let slot = try rig.slot()
            try slot.start()
            #expect(rig.wait { slot.status.recordsIn == 10 })
            let other = try Producer(
                rig.kafka, name: "other", topics: [],
                transactional: Producer.Transactional(
                    id: rig.configuration().transactionalID, timeoutMillis: 2000),
                deliveries: Deliveries(name: "other", log: .silent))
            try other.initTransactions(timeoutMillis: 30_000)
            try rig.produce(10..<20)
            #expect(rig.wait { slot.status.phase == .stopped })
            guard case .fenced = slot.join() else {
                Issue.record("ended with \(String(describing: slot.status.fault))")
                return
            }
            try rig.run(10)
            try rig.expectCopied(20)
        }

        @Test("the lag counts what is there to be read and no more, and ends at 0, behind a trimmed beginning too")
        func lag() throws {
            let rig = try KafkaRig("lag", partitions: 1)
            defer { rig.remove() }
            try rig.produce(0..<100)
            try rig.run(100)
            if KafkaRig.brokerDirectory != nil { try rig.trim(rig.input, before: 100) }
            try rig.produce(100..<400)
            let highest = Mutex<Int64>(0)
            let slot = try rig.slot(beforeRecord: { _ in usleep(5000) })
            try slot.start()
            let isDone = rig.wait {
                highest.withLock { $0 = max($0, slot.status.lag) }
                return slot.status.recordsIn == 300 && slot.status.lag == 0
            }
            #expect(isDone)
            #expect((1...300).contains(highest.withLock { $0 }))
            slot.stop()
            #expect(slot.join() == nil)
        }

        @Test(
            "what an open transaction has written counts as lag until it ends, and is told with its place if it does not"
        )
        func lagOfOpenTransaction() throws {
            let rig = try KafkaRig("lagopen", partitions: 1)
            defer { rig.remove() }
            try rig.produce(0..<10)
            let slot = try rig.slot()
            try slot.start()
            #expect(rig.wait { slot.status.recordsIn == 10 })
            let other = try rig.openTransaction(in: rig.input, key: "k", values: ["1", "2", "3", "4", "5"])
            #expect(rig.wait { slot.status.lag == 5 })
            // Beyond the time that a transaction of hush's may take.
            #expect(
                rig.wait {
                    rig.logged.contain("5 offsets of \(rig.input)-0 wait: a transaction there, open at offset 10")
                })
            #expect(rig.logged.contain("find-hanging --topic \(rig.input) --partition 0"))
            try other.producer.abort(timeoutMillis: 20_000)
            #expect(rig.wait { slot.status.lag == 0 })
            #expect(slot.status.recordsIn == 10)
            slot.stop()
            #expect(slot.join() == nil)
        }

        @Test("a transaction that the broker timed out is not committed; a new slot does its work again")
        func timedOut() throws {
            let rig = try KafkaRig("timeout")
            defer { rig.remove() }
            try rig.produce(0..<200)
            let isSlow = Mutex(true)
            let slow = try rig.slot(beforeRecord: { record in
                // The middle of a transaction, for longer than the broker lets one be open.
                guard record.offset == 20,
                    isSlow.withLock({ slow in
                        defer { slow = false }; return slow
                    })
                else { return }
                usleep(4_000_000)
            })
            try slow.start()
            #expect(rig.wait { slow.status.phase == .stopped })
            guard case .fenced = slow.join() else {
                Issue.record("ended with \(String(describing: slow.status.fault))")
                return
            }
            let committed = Int(slow.status.recordsIn)
            try rig.run(200 - committed)
            try rig.expectCopied(200)
        }

        @Test("a record that a task cannot process ends the slot, and nothing of its transaction is committed")
        func taskFailure() throws {
            let rig = try KafkaRig("failure")
            defer { rig.remove() }
            let deliveries = Deliveries(name: "test", log: .silent)
            let producer = try Producer(
                rig.kafka, name: "test", topics: [rig.input], transactional: nil, deliveries: deliveries)
            _ = producer.produce(0, partition: 0, key: nil, value: nil, tag: 0)
            try producer.flush(timeoutMillis: 10_000)
            let slot = try rig.slot()
            try slot.start()
            #expect(rig.wait { slot.status.phase == .stopped })
            #expect(slot.join() == .task(TaskFailure("offset 0 of partition 0 has no key")))
            #expect(slot.status.transactions == 0)
        }
    }
}
