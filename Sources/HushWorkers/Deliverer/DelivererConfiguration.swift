import HushAPNs
public import HushBase
public import HushCore
public import HushStream

/// What the deliverer's tasks of a slot share.
public struct DelivererConfiguration: Sendable {
    /// Which route of the APNs client an app's pushes take.
    public struct Route: Hashable, Sendable {
        /// Nil: any app that no other route names.
        public var app: Bytes?
        public var environment: PushEnvironment
        /// The index in `APNsConfiguration.routes`.
        public var index: Int
        /// The name of the credential, for people.
        public var credential: String

        public init(
            app: Bytes? = nil, environment: PushEnvironment, index: Int, credential: String = "default"
        ) {
            self.app = app
            self.environment = environment
            self.index = index
            self.credential = credential
        }
    }

    public var policy: Policy
    /// Names the code that decided, in the ledger's order lines.
    public var build: Bytes
    public var routes: [Route]
    /// What the addresses that a task has in memory may take, about a kilobyte each; idle ones beyond it are let go.
    public var cacheBytesMax: Int
    /// Under which recipients and devices stand in the ledger; nil: in clear. No decision depends on it.
    public var pseudonymKey: PseudonymKey?
    public var log: Log
    public var metrics: Metrics
    public var board: CredentialBoard
    /// The clock: of the wall in production.
    public var now: @Sendable () -> Timestamp

    public init(
        policy: Policy = Policy(), build: Bytes, routes: [Route], cacheBytesMax: Int = 8 << 20,
        pseudonymKey: PseudonymKey? = nil,
        log: Log = .silent, metrics: Metrics = Metrics(), board: CredentialBoard? = nil,
        now: @escaping @Sendable () -> Timestamp = { Timestamp(millis: WallClock.nowMillis()) }
    ) {
        self.policy = policy
        self.build = build
        self.routes = routes
        self.cacheBytesMax = cacheBytesMax
        self.pseudonymKey = pseudonymKey
        self.log = log
        self.metrics = metrics
        self.board = board ?? CredentialBoard(metrics, routes: routes)
        self.now = now
    }

    /// What the deliverer writes: the indices in `StreamConfiguration.outputs`.
    enum Output: Int, CaseIterable {
        case ledger, devices, dead

        var topic: Topic {
            switch self {
            case .ledger: .ledger
            case .devices: .devices
            case .dead: .dead
            }
        }
    }

    /// The index of the only table in `StreamConfiguration.tables`.
    static let rowsTable = 0

    static let groupID = "hush-deliverer"

    /// The stream of a deliverer slot, with the defaults of its times: `hush.pushes` and the changelog have
    /// `partitionCount` partitions, the ledger, the devices and the dead letters those of the planner.
    public static func stream(
        slotName: String, partitionCount: Int32, plannerPartitionCount: Int32
    ) -> StreamConfiguration {
        var stream = StreamConfiguration(
            application: "deliverer", groupID: groupID, slotName: slotName,
            transactionalIDPrefix: "hush-deliverer", inputs: [Topic.pushes.name], partitionCount: partitionCount,
            outputs: Output.allCases.map { StreamOutput(topic: $0.topic.name, partitionCount: plannerPartitionCount) },
            tables: [StateTable(name: "rows", changelog: Topic.delivererRows.name, kind: .compacted)])
        stream.recordBytesMax = recordBytesMax
        return stream
    }

    /// A record of `hush.pushes` as a dead letter.
    static let recordBytesMax = (1 << 20) + DeadLetter.bytesMax

    /// The route of a binding's pushes; nil where none leads there.
    func route(_ app: Bytes, _ environment: PushEnvironment) -> Int? {
        var fallback: Int?
        for route in routes where route.environment == environment {
            if route.app == app { return route.index }
            if route.app == nil { fallback = route.index }
        }
        return fallback
    }

    /// A digest of the settings that decisions depend on: 16 hex digits for the order lines.
    var digest: Bytes {
        let hash = SHA256Digest()
        hash.update(Array("\(policy)".utf8))
        return Bytes(Hex.encode(hash.finish().prefix(8)))
    }
}
