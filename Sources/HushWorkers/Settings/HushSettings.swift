public import HushBase

/// Every setting of hush. `docs/reference/settings.md` is made from it (`hush config --markdown`), and a test compares the two.
public enum HushSettings {
    /// What all verbs share, in the order of the documentation.
    public static let table = SettingsTable(
        kafka + topics + run + state + planner + deliver + apns + ledger + dead + admin + log,
        passThroughPrefixes: [kafkaPrefix]
    )

    /// Behind it, keys are librdkafka's: `kafka.security.protocol=SSL`, or `-X security.protocol=SSL`.
    public static let kafkaPrefix = "kafka."

    // MARK: kafka

    public static let bootstrap = Setting.text(
        "kafka.bootstrap", default: "localhost:9092", "The brokers to ask first, host:port, by commas.")

    private static let kafka = [bootstrap.definition]

    // MARK: log

    /// What log lines look like.
    public enum LogForm: String, CaseIterable, Sendable {
        case auto
        case json
        case text
    }

    public static let logLevel = Setting.choice(
        "log.level", default: LogLevel.info, "The lowest level that is written.")
    public static let logFormat = Setting.choice(
        "log.format", default: LogForm.auto, "JSON lines, or text; auto writes text where standard error is a terminal."
    )

    private static let log = [logLevel.definition, logFormat.definition]

    // MARK: admin

    public static let adminHost = Setting.text(
        "admin.host", default: "127.0.0.1", "The address that the admin server listens on; it has no authentication.")
    public static let adminPort = Setting.integer(
        "admin.port", in: 0...65_535, default: 9464, "Its port, for metrics, probes and snapshots; 0 turns it off.")
    public static let adminStallMax = Setting.duration(
        "admin.stall.max", in: .seconds(1)...(.seconds(3600)), default: .seconds(30),
        "A loop that did not turn for so long makes /livez fail.")
    public static let adminProgressMax = Setting.duration(
        "admin.progress.max", in: .seconds(30)...(.seconds(7 * 86_400)), default: .seconds(300),
        "So does a slot that takes nothing of an input for so long, though the brokers say that there is something. "
            + "Longer than admin.stall.max.")

    private static let admin = [
        adminHost.definition, adminPort.definition, adminStallMax.definition, adminProgressMax.definition,
    ]
}
