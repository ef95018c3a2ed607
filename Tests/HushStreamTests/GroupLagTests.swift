import HushBase
import Testing

@testable import HushStream

extension OnKafka {
    @Suite struct GroupLagTests {
        private func watch(_ rig: KafkaRig) throws -> GroupLagWatch {
            let watch = try GroupLagWatch(
                topic: rig.input, partitionCount: rig.partitions, group: rig.name, kafka: rig.kafka, log: rig.log)
            try watch.start()
            return watch
        }

        @Test("what a group has not taken is known while somebody asks, open transactions of its own or not")
        func counts() throws {
            let rig = try KafkaRig("lag")
            defer { rig.remove() }
            try rig.produce(0..<10)
            let watch = try watch(rig)
            defer { watch.stop() }
            #expect(watch.last == nil)
            #expect(rig.wait { watch.latest()?.count == 10 })
            let number = try #require(watch.latest()?.number)
            try rig.produce(10..<15)
            #expect(rig.wait { watch.latest()?.count == 15 })
            #expect(try #require(watch.latest()?.number) > number)
            // What the group has taken in a transaction that is open is not taken yet, and nobody waits for its end.
            let held = try rig.holdOffsets()
            #expect(rig.wait { watch.latest().map { $0.number > number + 3 } ?? false })
            #expect(watch.latest()?.count == 15)
            try held.producer.abort(timeoutMillis: 20_000)
            try rig.run(15)
            #expect(rig.wait { watch.latest()?.count == 0 })
        }

        @Test("a topic that ends before a group's offset, as one that was made anew, has no lag")
        func madeAnew() throws {
            let rig = try KafkaRig("lag-anew")
            defer { rig.remove() }
            try rig.produce(0..<10)
            for partition in 0..<rig.partitions {
                try GroupOffsets.commit(
                    1_000_000, topic: rig.input, partition: partition, group: rig.name, kafka: rig.kafka)
            }
            let lag = try GroupLag(
                topic: rig.input, partitionCount: rig.partitions, group: rig.name, kafka: rig.kafka, name: "test",
                log: rig.log)
            #expect(try lag.read(timeoutMillis: 20_000) == 0)
        }

        @Test("of a group without offsets nothing is known")
        func unknown() throws {
            let rig = try KafkaRig("lag-none", commitsOffsets: false)
            defer { rig.remove() }
            try rig.produce(0..<10)
            let lag = try GroupLag(
                topic: rig.input, partitionCount: rig.partitions, group: rig.name, kafka: rig.kafka, name: "test",
                log: rig.log)
            #expect(try lag.read(timeoutMillis: 20_000) == nil)
        }
    }
}
