public import HushBase

/// The settings of the processes: topics, worker slots and their state.
extension HushSettings {
    private static let day = Duration.seconds(86_400)

    // MARK: topics

    public static let partitions = Setting.integer(
        "topics.partitions", in: 1...1000, default: 12,
        "Partitions of the planner's inputs, its changelogs and the ledger; part of the state's identity, so never changed."
    )
    public static let pushesPartitions = Setting.integer(
        "topics.pushes.partitions", in: 1...1000, default: 12,
        "Partitions of hush.pushes and the deliverer's changelog; never changed either.")
    public static let replication = Setting.integer(
        "topics.replication", in: 0...9, default: 0, "Replicas of each topic; 0 takes the broker's default.")
    public static let auditWindow = Setting.duration(
        "topics.audit.window", in: day...(day * 4000), default: day * 30, "How long inputs and ledger are kept.")
    public static let pushesRetention = Setting.duration(
        "topics.pushes.retention", in: .seconds(3600)...(day * 400), default: day * 3,
        "How long hush.pushes is kept: longer than the longest outage of deliverers.")
    public static let signalsRetention = Setting.duration(
        "topics.signals.retention", in: .seconds(3600)...(day * 400), default: day * 3,
        "How long hush.signals is kept.")
    public static let deadRetention = Setting.duration(
        "topics.dead.retention", in: day...(day * 4000), default: day * 90, "How long dead letters are kept.")

    static let topics = [
        partitions.definition, pushesPartitions.definition, replication.definition, auditWindow.definition,
        pushesRetention.definition, signalsRetention.definition, deadRetention.definition,
    ]

    // MARK: run

    public static let stages = Setting(
        "run.stages", form: "plan, deliver, or both by a comma", default: "plan,deliver", "What this process does."
    ) { (text) throws(BadValue) -> [Stage] in
        var stages: [Stage] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let stage = Stage(rawValue: String(part)), !stages.contains(stage) else {
                throw BadValue("must be plan, deliver, or plan,deliver")
            }
            stages.append(stage)
        }
        return stages
    }
    public static let runName = Setting.text(
        "run.name", default: "",
        "The stable name of this process among its kind, as a StatefulSet's pod name; empty takes the host's name.")
    public static let slots = Setting.integer(
        "run.slots", in: 1...64, default: 1, "Worker slots of each stage: threads with a consumer and a producer each.")
    public static let commitInterval = Setting.duration(
        "run.commit.interval", in: .milliseconds(10)...(.seconds(5)), default: .milliseconds(200),
        "How often a slot commits its transaction.")
    public static let transactionTimeout = Setting.duration(
        "run.transaction.timeout", in: .seconds(1)...(.seconds(900)), default: .seconds(6),
        "When the broker aborts a transaction whose worker is gone; its readers wait so long.")
    public static let sessionTimeout = Setting.duration(
        "run.session.timeout", in: .seconds(1)...(.seconds(900)), default: .seconds(10),
        "When the group gives the partitions of a silent worker away.")
    public static let drainMax = Setting.duration(
        "run.drain.max", in: .milliseconds(100)...(.seconds(60)), default: .seconds(2),
        "How long pushes under way may take to be answered when partitions go or the process ends.")

    public static let cache = Setting.size(
        "run.cache", in: 1 << 20...1 << 40, default: 64 << 20,
        "Recipients or addresses that were active lately, of all partitions of a stage; about a kilobyte each."
    )

    static let run = [
        stages.definition, runName.definition, slots.definition, commitInterval.definition,
        transactionTimeout.definition, sessionTimeout.definition, drainMax.definition,
        cache.definition,
    ]

    // MARK: ledger

    public static let pseudonymKeyFile = Setting.file(
        "ledger.pseudonym.key.file",
        "A key of 32 bytes or more: recipients and devices stand in the ledger as pseudonyms made with it, else in clear."
    )

    static let ledger = [pseudonymKeyFile.definition]

    // MARK: dead

    public static let deadAttemptsMax = Setting.integer(
        "dead.attempts.max", in: 1...100, default: 3,
        "How often a record is redriven; one that died after each of these is parked.")

    static let dead = [deadAttemptsMax.definition]

    // MARK: state

    public static let stateDirectory = Setting.text(
        "state.dir", default: "hush-state", "Where RocksDB keeps the partitions' state; one process a directory.")
    public static let stateCache = Setting.size(
        "state.cache", in: 1 << 20...1 << 40, default: 64 << 20, "Block cache, shared by all partitions of a process.")
    public static let stateWrites = Setting.size(
        "state.writes", in: 1 << 20...1 << 40, default: 64 << 20, "Write buffers of all partitions together.")

    static let state = [stateDirectory.definition, stateCache.definition, stateWrites.definition]
}
