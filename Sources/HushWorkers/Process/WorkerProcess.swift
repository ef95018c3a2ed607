import HushAPNs
public import HushBase
import HushCore
import HushStream

/// The workers of one process: the slots of its stages, their restarts, probes and metrics.
public final class WorkerProcess {
    private let settings: Settings
    private let log: Log
    private let metrics = Metrics()
    private let health: Health
    private let home: StateHome
    private let lock: StateLock
    private let kafka: KafkaConfiguration
    private let plan: TopicPlan
    private let times: SlotTimes
    private let policy: Policy
    /// Knows what waits for deliverers; nil where nothing is planned here.
    private let backlog: GroupLagWatch?
    private let waiting: Gauge
    private let stallWatch: StallWatch
    private let pseudonymKey: PseudonymKey?
    private var keepers: [SlotKeeper] = []
    private var watched: [(keeper: SlotKeeper, metrics: WorkerMetrics, pulse: Health.Pulse)] = []
    /// Nil where nothing is delivered here.
    private var board: CredentialBoard?
    private var admin: AdminServer?
    /// Nil where nothing is planned here.
    private var snapshots: SnapshotKeeper?
    private let wakeUp: WakeUp

    /// How often the process looks at its slots.
    static let lookInterval = Duration.milliseconds(100)

    /// Reads the settings and opens what the process owns, without starting anything.
    ///
    /// - Throws: `SettingsFault` and faults of state, keys and certificates, each naming what to mend.
    public init(_ settings: Settings, log: Log) throws {
        self.settings = settings
        self.log = log
        policy = try Policy(settings)
        plan = try TopicPlan(settings)
        pseudonymKey = try PseudonymKey(settings)
        times = try SlotTimes(settings)
        kafka = try Self.asSettings { try KafkaConfiguration(settings) }
        let probes = try ProbeLimits(settings)
        health = Health(stallMax: probes.stallMax)
        let stages = settings[HushSettings.stages]
        stallWatch = try StallWatch(
            limit: probes.progressMax,
            group: stages.contains(.plan) ? WorkerGroup.planner : WorkerGroup.deliverer,
            kafka: kafka, log: StreamLog(log))
        wakeUp = try WakeUp()
        home = try StateHome(
            directory: settings[HushSettings.stateDirectory], cacheBytes: settings[HushSettings.stateCache],
            writeBufferBytes: settings[HushSettings.stateWrites])
        lock = try StateLock(directory: settings[HushSettings.stateDirectory])
        let plans = stages.contains(.plan)
        waiting = metrics.gauge(
            "hush_pushes_waiting",
            "Records that deliverers have not taken, asked while audiences are worked off; else 0.")
        backlog =
            plans
            ? try GroupLagWatch(
                topic: Topic.pushes.name, partitionCount: plan.delivererPartitions,
                group: DelivererConfiguration.groupID, kafka: kafka, log: StreamLog(log)) : nil
        if plans {
            snapshots = SnapshotKeeper(
                home: home, stream: plannerStream(slotName: "snapshot"), policy: policy, build: Bytes(Build.version),
                metrics: metrics, log: log)
        }
        for stage in stages {
            for number in 0..<settings[HushSettings.slots] {
                keepers.append(try Self.asSettings { try makeKeeper(stage, number) })
            }
        }
    }

    /// What is refused before anything runs is a matter of settings, whichever module found it.
    private static func asSettings<Made>(_ make: () throws -> Made) throws -> Made {
        do {
            return try make()
        } catch StreamFault.refused(let reason) {
            throw SettingsFault([reason])
        } catch let fault as APNsConfigurationFault {
            throw SettingsFault(["apns: \(fault)"])
        }
    }

    /// The port of the admin server once it runs; nil where it is off.
    public var adminPort: Int? { admin?.port }

    /// Runs until `isStopped`, then drains, commits and leaves; returns why it could not go on, nil where it was asked
    /// to end.
    public func run(started: () -> Void, isStopped: () -> Bool) throws -> String? {
        let port = settings[HushSettings.adminPort]
        if port > 0 {
            admin = try AdminServer(
                host: settings[HushSettings.adminHost], port: port, metrics: metrics, health: health,
                snapshots: snapshots)
        }
        defer { admin?.close() }
        try backlog?.start()
        try stallWatch.start()
        let now = MonotonicTime.now()
        for keeper in keepers {
            watched.append(
                (
                    keeper, WorkerMetrics(metrics, slot: keeper.name, stage: keeper.stage),
                    health.watch(keeper.name, now: now)
                ))
            health.set(keeper.name, waitsFor: "starting")
            try keeper.start()
        }
        started()
        var failure: String?
        while failure == nil, !isStopped() {
            _ = wakeUp.wait(atMost: Self.lookInterval)
            failure = look(MonotonicTime.now())
        }
        stop()
        return failure
    }

    /// Looks at every slot once; returns why the process cannot go on.
    private func look(_ now: MonotonicTime) -> String? {
        var failure: String?
        let stalls = stallWatch.stalls
        for (keeper, metrics, pulse) in watched {
            if case .failed(let reason) = keeper.look(now) { failure = failure ?? reason }
            let status = keeper.slot.status
            if let turn = status.lastTurn { pulse.turned(turn) }
            health.set(keeper.name, waitsFor: Self.wait(status))
            stallWatch.saw(keeper.name, status)
            let own = stalls.filter { $0.slot == keeper.name }
            health.set(keeper.name, stalls: own.map { "\($0)" })
            metrics.update(keeper, stalls: own.count)
        }
        waiting.set(Int(backlog?.last?.count ?? 0))
        for (place, reason) in board?.standing ?? [] { health.set("apns \(place)", waitsFor: reason) }
        return failure
    }

    /// What keeps a slot from working; nil where it works. A member without partitions is a spare one, and ready.
    private static func wait(_ status: SlotStatus) -> String? {
        switch status.phase {
        case .running, .idle: nil
        case .restoring: "restoring \(status.restoring) partitions"
        case .starting: "reaching Kafka"
        case .stopping, .stopped: "stopped"
        }
    }

    /// Asks all slots at once to drain and end, each under its own limits, and waits for them.
    private func stop() {
        snapshots?.stop()
        for keeper in keepers { keeper.stop() }
        for keeper in keepers {
            health.set(keeper.name, waitsFor: "stopping")
            if let fault = keeper.join() {
                log.warn("a slot did not end cleanly", ["slot": .text(keeper.name), "fault": .text("\(fault)")])
            }
        }
        snapshots?.close()
        stallWatch.stop()
        backlog?.stop()
    }

    private func makeKeeper(_ stage: Stage, _ number: Int) throws -> SlotKeeper {
        let given = settings[HushSettings.runName]
        let name = "\(given.isEmpty ? HostName.current : given)-\(stage.rawValue)-\(number)"
        switch stage {
        case .plan:
            let configuration = PlannerConfiguration(
                policy: policy, build: Bytes(Build.version),
                cacheBytesMax: settings[HushSettings.cache] / Int(plan.plannerPartitions), pseudonymKey: pseudonymKey,
                metrics: metrics,
                backlog: { [backlog] in backlog?.latest() })
            let stream = times.applied(to: plannerStream(slotName: name))
            return try SlotKeeper(name: name, stage: stage, log: log) { [kafka, home, log] in
                PlannerSlot(
                    slot: try StreamSlot(stream, kafka: kafka, home: home, log: StreamLog(log)) {
                        PlannerApplication(configuration)
                    })
            }
        case .deliver:
            let ways = try APNsRoutes(settings)
            let board = board ?? CredentialBoard(metrics, routes: ways.routes)
            self.board = board
            var apns = ways.apns
            apns.onEvent = Self.logger(log, ways.routes)
            let configuration = DelivererConfiguration(
                policy: policy, build: Bytes(Build.version), routes: ways.routes,
                cacheBytesMax: settings[HushSettings.cache] / Int(plan.delivererPartitions),
                pseudonymKey: pseudonymKey, log: log,
                metrics: metrics, board: board)
            let stream = times.applied(
                to: DelivererConfiguration.stream(
                    slotName: name, partitionCount: plan.delivererPartitions,
                    plannerPartitionCount: plan.plannerPartitions))
            return try SlotKeeper(name: name, stage: stage, log: log) { [kafka, home, log, apns] in
                let client: APNsClient
                do {
                    client = try APNsClient(apns)
                } catch let fault as APNsConfigurationFault {
                    throw SettingsFault([fault.description])
                }
                return DelivererSlot(
                    slot: try StreamSlot(stream, kafka: kafka, home: home, log: StreamLog(log)) {
                        DelivererApplication(configuration, transport: client)
                    }, client: client)
            }
        }
    }

    private func plannerStream(slotName: String) -> StreamConfiguration {
        PlannerConfiguration.stream(
            slotName: slotName, partitionCount: plan.plannerPartitions,
            pushesPartitionCount: plan.delivererPartitions)
    }

    /// Tells of what happens to APNs' connections and credentials.
    private static func logger(
        _ log: Log, _ routes: [DelivererConfiguration.Route]
    ) -> @Sendable (APNsEvent) -> Void {
        { event in
            let place = routes.first { $0.index == event.route }?.place
            log.write(
                event.isTrouble ? .warn : .info, "APNs connection",
                [
                    "event": .text(event.kind.rawValue), "credential": .text(place.map { "\($0)" } ?? ""),
                    "detail": .text(event.detail),
                ])
        }
    }
}

extension APNsEvent {
    fileprivate var isTrouble: Bool {
        switch kind {
        case .connectFailed, .stopped, .credentialBad: true
        case .connected, .goAway, .closed, .tokenRenewed, .credentialRenewed: false
        }
    }
}
