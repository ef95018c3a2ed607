import HushAPNs
import HushBase
import HushCore
import HushStream
import HushWorkers

/// The workers of a demo: planner and deliverer slots in this process, as `hush run` would run them.
final class DemoPipeline {
    static let slotsPerStage = 2

    private let planners: [StreamSlot<PlannerApplication>]
    private let deliverers: [StreamSlot<DelivererApplication>]
    private let clients: [APNsClient]
    private let plan: TopicPlan

    /// What a demo wants otherwise than production: it has no hour to wait for a budget, and no minutes for a backoff.
    static func policy(in trouble: WorldTrouble) -> Policy {
        var policy = Policy()
        policy.wakeUpBurst = 0
        policy.retryBase = .milliseconds(200)
        policy.retryMax = .seconds(2)
        if trouble != .none {
            policy.repeatIntervals = [.seconds(3), .seconds(5), .seconds(8)]
            policy.helloInterval = .seconds(5)
            policy.alertDeleteWait = trouble.lateness
        }
        return policy
    }

    init(
        _ policy: Policy, kafka: KafkaConfiguration, plan: TopicPlan, apns: SimulatedAPNs, directory: String,
        streamLog: StreamLog,
        log: Log
    ) throws {
        self.plan = plan
        let home = try StateHome(directory: directory + "/state", cacheBytes: 32 << 20, writeBufferBytes: 64 << 20)
        let build = Bytes("demo")
        let plannerConfiguration = PlannerConfiguration(policy: policy, build: build)
        planners = try (0..<Self.slotsPerStage).map { number in
            try StreamSlot(
                PlannerConfiguration.stream(
                    slotName: "demo-plan-\(number)", partitionCount: plan.plannerPartitions,
                    pushesPartitionCount: plan.delivererPartitions), kafka: kafka, home: home, log: streamLog
            ) { PlannerApplication(plannerConfiguration) }
        }
        let deliverer = DelivererConfiguration(
            policy: policy, build: build,
            routes: [DelivererConfiguration.Route(environment: .production, index: 0)], log: log)
        let clients = try (0..<Self.slotsPerStage).map { _ in try APNsClient(Self.configuration(apns)) }
        self.clients = clients
        deliverers = try clients.enumerated().map { number, client in
            try StreamSlot(
                DelivererConfiguration.stream(
                    slotName: "demo-deliver-\(number)", partitionCount: plan.delivererPartitions,
                    plannerPartitionCount: plan.plannerPartitions), kafka: kafka, home: home, log: streamLog
            ) { DelivererApplication(deliverer, transport: client) }
        }
    }

    func start() throws(StreamFault) {
        for slot in planners { try slot.start() }
        for slot in deliverers { try slot.start() }
    }

    /// Whether every partition of both stages has its task, and none is being restored.
    var isReady: Bool {
        func isWhole(_ statuses: [SlotStatus], _ count: Int32) -> Bool {
            statuses.reduce(0) { $0 + $1.partitions.count } == Int(count)
                && statuses.allSatisfy { $0.restoring == 0 && $0.phase != .starting }
        }
        return isWhole(planners.map(\.status), plan.plannerPartitions)
            && isWhole(deliverers.map(\.status), plan.delivererPartitions)
    }

    /// Why a slot ended by itself; nil while all run.
    var fault: StreamFault? {
        planners.compactMap(\.status.fault).first ?? deliverers.compactMap(\.status.fault).first
    }

    /// Drains, commits and ends all slots, and closes the connections to APNs.
    func stop() {
        for slot in planners { slot.stop() }
        for slot in deliverers { slot.stop() }
        for slot in planners { _ = slot.join() }
        for slot in deliverers { _ = slot.join() }
        for client in clients { client.close(deadline: .seconds(2)) }
    }

    private static func configuration(_ apns: SimulatedAPNs) -> APNsConfiguration {
        var configuration = APNsConfiguration(routes: [
            APNsConfiguration.Route(
                host: "localhost", port: apns.port,
                connectTo: APNsConfiguration.Endpoint(host: "127.0.0.1", port: apns.port),
                trust: .file(apns.caFile),
                credential: .token(keyFile: apns.tokenKeyFile, keyID: apns.keyID, teamID: apns.teamID))
        ])
        // A push that is never answered is known as unknown after this.
        configuration.requestDeadline = .seconds(2)
        return configuration
    }
}
