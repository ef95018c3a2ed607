import Foundation
import HushBase
import HushCore
import HushStream
import HushWorkers
import Synchronization
import Testing

@testable import HushSimulator

/// The path on real parts but for Kafka: slots on the embedded broker, our client, the simulated APNs on HTTP/2.
@Suite("The path in real time", .serialized, .timeLimit(.minutes(3)))
struct EmbeddedPathTests {
    private final class AcceptedLog: Sendable {
        let pushes = Mutex<[AcceptedPush]>([])
    }

    /// Workers, a broker and an APNs, from start to stop.
    private final class Rig {
        private let log = AcceptedLog()
        private let directory: String
        private let broker: EmbeddedBroker
        private let kafka: KafkaConfiguration
        private let producer: RecordProducer
        private let pipeline: DemoPipeline
        private let apns: SimulatedAPNs

        init() throws {
            directory = FileManager.default.temporaryDirectory.appending(path: "hush-path-\(UUID())").path
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            broker = try EmbeddedBroker()
            var plan = TopicPlan()
            plan.plannerPartitions = 2
            plan.delivererPartitions = 2
            for topic in Topic.allCases {
                try broker.create(topic.name, partitionCount: plan.partitionCount(of: topic))
            }
            kafka = try KafkaConfiguration(bootstrapServers: broker.bootstrapServers)
            for (group, topics) in WorkerGroup.all {
                _ = try GroupOffsets.commitStart(of: topics.map(\.name), group: group, kafka: kafka)
            }
            producer = try RecordProducer(kafka, topics: InputTopic.allCases.map(\.topic.name), name: "test")
            let log = log
            apns = try SimulatedAPNs(SimulatedAPNsOptions(directory: directory, topics: [World.app])) { push in
                log.pushes.withLock { $0.append(push) }
            }
            pipeline = try DemoPipeline(
                DemoPipeline.policy(in: .none), kafka: kafka, plan: plan, apns: apns, directory: directory,
                streamLog: .silent, log: .silent)
            try pipeline.start()
            try wait("the workers' partitions") { $0.pipeline.isReady }
        }

        /// The clients must go before the broker does.
        func stop() {
            pipeline.stop()
            apns.close()
            try? FileManager.default.removeItem(atPath: directory)
        }

        func publish(_ topic: Topic, _ value: String, key: String) throws {
            try producer.send(topic.name, key: Array(key.utf8), value: Array(value.utf8))
        }

        func pushes(_ token: Bytes) -> [AcceptedPush] {
            log.pushes.withLock { $0.filter { $0.token == token } }
        }

        /// How many addresses the planner has told of.
        func addresses() throws -> Int { Set(try planned().map(\.key)).count }

        /// What the planner has told deliverers so far.
        func planned() throws -> [ReadRecord] {
            try RecordReader(kafka, topics: [Topic.pushes.name]).readToEnd()
        }

        func wait(_ what: String, _ isMet: (Rig) throws -> Bool) throws {
            let deadline = ContinuousClock.now + .seconds(60)
            while try !isMet(self) {
                try #require(ContinuousClock.now < deadline, "waited in vain for \(what)")
                producer.poll()
                usleep(10_000)
            }
        }
    }

    @Test(
        "the first seed's bytes arrive as background pushes of priority 5; a hint holds one phone while another rings")
    func shows() throws {
        let rig = try Rig()
        defer { rig.stop() }
        for (recipient, token) in [("ada", "aa000001"), ("bob", "bb000002")] {
            try rig.publish(
                .devices, #"{"device":"d","token":"\#(token)","app":"com.example.hush","dialect":"crt"}"#,
                key: recipient)
        }
        // An intent that overtakes its device comes with the device's snapshot, as an update: a delete goes first.
        try rig.wait("the devices") { try $0.addresses() == 2 }
        try rig.publish(.intents, #"{"id":1,"title":"hello there"}"#, key: "ada")
        try rig.wait("the create") { $0.pushes("aa000001").count == 1 }
        try rig.publish(.reads, #"{"id":1,"revision":1}"#, key: "ada")
        try rig.wait("the delete") { $0.pushes("aa000001").count == 2 }
        let seed = rig.pushes("aa000001")
        #expect(
            seed.map { String(decoding: $0.body, as: UTF8.self) } == [
                #"{"aps":{"content-available":1},"crt":1,"title":"hello there"}"#,
                #"{"aps":{"content-available":1},"dlt":1}"#,
            ])
        for (name, value) in [("apns-push-type", "background"), ("apns-priority", "5")] as [(Bytes, Bytes)] {
            #expect(seed.allSatisfy { push in push.headers.first { $0.name == name }?.value == value })
        }

        let hint = Timestamp(seconds: Timestamp(millis: WallClock.nowMillis()).seconds + 5)
        try rig.publish(
            .signals, #"{"device":"d","battery":0.05,"not_before":\#(hint.seconds)}"#, key: "ada")
        try rig.wait("the signal") { rig in
            try rig.planned().contains { String(decoding: $0.value ?? [], as: UTF8.self).contains(#""kind":"signal""#) }
        }
        for recipient in ["ada", "bob"] {
            try rig.publish(.intents, #"{"id":2,"title":"T"}"#, key: recipient)
        }
        try rig.wait("bob's push") { $0.pushes("bb000002").count == 1 }
        try rig.publish(.intents, #"{"id":3,"title":"now","urgent":true}"#, key: "ada")
        try rig.wait("all of ada's") { $0.pushes("aa000001").count == 4 }
        for push in rig.pushes("aa000001").dropFirst(2) {
            let isUrgent = String(decoding: push.body, as: UTF8.self).contains(#""crt":3"#)
            #expect(isUrgent || push.at >= hint, "held until the hint")
        }
    }
}
