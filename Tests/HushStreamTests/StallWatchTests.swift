import Foundation
import HushBase
import Synchronization
import Testing

@testable import HushStream

/// Real slots on librdkafka's mock cluster, which can be told to answer fetches with errors and nothing else.
@Suite("The watch over slots that take nothing", .serialized, .timeLimit(.minutes(4)))
struct StallWatchTests {
    private static let fetch: Int16 = 1
    private static let listOffsets: Int16 = 2
    /// KAFKA_STORAGE_ERROR: librdkafka fetches again and again, and tells nobody.
    private static let storageError: Int32 = 56

    /// A slot that has read ten records, and the watch over it.
    private struct Watched {
        let rig: KafkaRig
        let slot: StreamSlot<CopyApplication>
        let watch: StallWatch

        init(_ label: String, on broker: EmbeddedBroker, isFull: @escaping @Sendable () -> Bool = { false }) throws {
            rig = try KafkaRig(label, on: broker)
            try rig.produce(0..<10)
            slot = try rig.slot(isFull: isFull)
            try slot.start()
            watch = try StallWatch(limit: .seconds(3), group: rig.name, kafka: rig.kafka, log: rig.log)
            try watch.start()
            #expect(wait { slot.status.recordsIn == 10 })
            #expect(watch.stalls == [])
        }

        /// The slot's status reaches the watch as the process' loop hands it on.
        func wait(_ isDone: () -> Bool) -> Bool {
            rig.wait(atMost: .seconds(90)) {
                watch.saw("s0", slot.status)
                return isDone()
            }
        }

        /// Waits for so many looks more: ten make the limit.
        func wait(looks: Int) -> Bool {
            let seen = watch.judgements
            return wait { watch.judgements > seen + looks }
        }

        func end() {
            watch.stop()
            slot.stop()
            #expect(slot.join() == nil)
            rig.remove()
        }
    }

    @Test("10: a slot that is given nothing though brokers answer is told with its place, once, until it reads again")
    func stalls() throws {
        let broker = try EmbeddedBroker()
        let watched = try Watched("stall", on: broker)
        let (rig, slot) = (watched.rig, watched.slot)
        broker.answerNext(Self.fetch, with: Array(repeating: Self.storageError, count: 10_000))
        try rig.produce(10..<15)
        var stall: Stall?
        #expect(
            watched.wait {
                stall = watched.watch.stalls.first
                return stall != nil
            })
        let found = try #require(stall)
        #expect(found.slot == "s0" && found.topic == rig.input && found.partition == 0)
        // At least those of the five that a fetch under way did not bring.
        #expect((1...5).contains(found.lag) && found.lasting >= .seconds(3))
        #expect(watched.wait(looks: 3))
        // A machine that is slow beyond measure begins anew, and then tells it again.
        let told = rig.logged.count("nothing was taken of \(rig.input)-0")
        #expect(told == rig.logged.count("stands still no more") + 1)
        // The loop of a slot that takes nothing turns.
        #expect(slot.status.phase == .running)

        broker.answerRightly(Self.fetch)
        #expect(watched.wait { slot.status.recordsIn == 15 && watched.watch.stalls.isEmpty })
        #expect(rig.logged.count("stands still no more") == told)
        watched.end()
    }

    @Test("10: a slot whose application lets records wait has not stalled, however long that lasts")
    func waits() throws {
        let broker = try EmbeddedBroker()
        let isFull = Flag()
        let watched = try Watched("waits", on: broker, isFull: { isFull.value.load(ordering: .relaxed) })
        let slot = watched.slot
        isFull.value.store(true, ordering: .relaxed)
        slot.wakeUp.signal()
        #expect(watched.wait { slot.status.isWaiting })
        try watched.rig.produce(10..<15)
        #expect(watched.wait(looks: 25))
        #expect(watched.watch.stalls == [] && watched.rig.logged.count("nothing was taken") == 0)
        #expect(slot.status.recordsIn == 10)
        isFull.value.store(false, ordering: .relaxed)
        #expect(watched.wait { slot.status.recordsIn == 15 })
        #expect(slot.status.waits == 1)
        watched.end()
    }

    @Test("10: where brokers do not tell the ends of inputs either, nothing is told of a slot")
    func brokersAway() throws {
        let broker = try EmbeddedBroker()
        let watched = try Watched("away", on: broker)
        for request in [Self.fetch, Self.listOffsets] {
            broker.answerNext(request, with: Array(repeating: Self.storageError, count: 10_000))
        }
        try watched.rig.produce(10..<15)
        #expect(watched.wait(looks: 25))
        #expect(watched.watch.stalls == [])
        watched.end()
    }

    private final class Flag: Sendable {
        let value = Atomic<Bool>(false)
    }
}

extension OnKafka {
    @Suite struct StallKafkaTests {
        @Test("10: a slot that its broker throttles to nothing has stalled, though its own lag says 0")
        func throttled() throws {
            let rig = try KafkaRig("throttled", partitions: 1)
            defer { rig.remove() }
            // The slot's client id: no other client is meant.
            let name = "\(rig.name)-slot"
            func limit(_ change: String...) {
                let place = ["--alter", "--entity-type", "clients", "--entity-name", name] + change
                KafkaRig.tool("configs", place)
            }
            let slot = try rig.slot(name)
            try slot.start()
            let watch = try StallWatch(limit: .seconds(3), group: rig.name, kafka: rig.kafka, log: rig.log)
            try watch.start()
            try rig.produce(0..<10)
            #expect(rig.wait { slot.status.recordsIn == 10 })
            limit("--add-config", "consumer_byte_rate=1")
            defer { limit("--delete-config", "consumer_byte_rate") }
            // What is fetched before the broker counts is taken still.
            var written = 10
            var stall: Stall?
            let isFound = try rig.wait(atMost: .seconds(90)) {
                watch.saw(name, slot.status)
                stall = watch.stalls.first
                if slot.status.recordsIn == written {
                    try rig.produce(written..<written + 1)
                    written += 1
                }
                return stall != nil
            }
            #expect(isFound && stall?.slot == name && stall?.topic == rig.input)
            #expect(slot.status.phase == .running && slot.status.recordsIn < written)
            // As of the last fetch, which was before.
            #expect(slot.status.lag == 0)
            watch.stop()
            slot.stop()
            #expect(slot.join() == nil)
        }

        @Test("10: a slot comes to the end of an input whose last records are aborted, or transactions' markers")
        func markers() throws {
            let rig = try KafkaRig("markers", partitions: 1)
            defer { rig.remove() }
            let ends = try StableEnds(group: rig.name, kafka: rig.kafka, name: "ends", log: rig.log)
            let producer = try Producer(
                rig.kafka, name: "other", topics: [rig.input],
                transactional: Producer.Transactional(id: "\(rig.name)-other", timeoutMillis: 60_000),
                deliveries: Deliveries(name: "other", log: .silent))
            try producer.initTransactions(timeoutMillis: 30_000)
            func write(_ count: Int) throws {
                try producer.begin()
                Array("key".utf8).withUnsafeBytes { key in
                    for _ in 0..<count { _ = producer.produce(0, partition: 0, key: key, value: key, tag: 0) }
                }
                try producer.flush(timeoutMillis: 20_000)
            }
            func isAtEnd(_ slot: StreamSlot<CopyApplication>, _ end: Int64) -> Bool {
                rig.wait {
                    (try? ends.read([(rig.input, 0)], timeoutMillis: 5000)) == [end]
                        && slot.status.positions.map(\.offset) == [end]
                }
            }
            var slot = try rig.slot()
            try slot.start()
            try write(2)
            try producer.commit(timeoutMillis: 20_000)
            #expect(isAtEnd(slot, 3))
            try write(2)
            try producer.abort(timeoutMillis: 20_000)
            #expect(isAtEnd(slot, 6))
            slot.stop()
            #expect(slot.join() == nil)
            #expect(slot.status.positions == [])
            // What was committed may lie before the markers.
            slot = try rig.slot()
            try slot.start()
            #expect(isAtEnd(slot, 6))
            slot.stop()
            #expect(slot.join() == nil)
        }

        @Test("10: an input ends before an open transaction, so one that somebody leaves open stalls nobody")
        func openTransaction() throws {
            let rig = try KafkaRig("stable", partitions: 1)
            defer { rig.remove() }
            try rig.produce(0..<3)
            let ends = try StableEnds(group: rig.name, kafka: rig.kafka, name: "ends", log: rig.log)
            let places = [(topic: rig.input, partition: Int32(0)), (rig.input, 7)]
            #expect(rig.wait { (try? ends.read(places, timeoutMillis: 5000)) == [3, nil] })
            let producer = try Producer(
                rig.kafka, name: "open", topics: [rig.input],
                transactional: Producer.Transactional(id: "\(rig.name)-open", timeoutMillis: 60_000),
                deliveries: Deliveries(name: "open", log: .silent))
            try producer.initTransactions(timeoutMillis: 30_000)
            try producer.begin()
            Array("key".utf8).withUnsafeBytes { key in
                for _ in 0..<4 { _ = producer.produce(0, partition: 0, key: key, value: key, tag: 0) }
            }
            try producer.flush(timeoutMillis: 20_000)
            // The high watermark is further, and the group has taken nothing.
            let lag = try GroupLag(
                topic: rig.input, partitionCount: 1, group: rig.name, kafka: rig.kafka, name: "lag", log: rig.log)
            #expect(try lag.read(timeoutMillis: 20_000) == 7)
            #expect(try ends.read(places, timeoutMillis: 20_000) == [3, nil])
            try producer.commit(timeoutMillis: 20_000)
            #expect(try rig.wait { try ends.read(places, timeoutMillis: 20_000) == [8, nil] })
        }
    }
}
