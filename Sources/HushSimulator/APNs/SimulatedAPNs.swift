import HushAPNs
import HushBase
public import HushCore
import Synchronization

/// How a simulated APNs listens and behaves.
public struct SimulatedAPNsOptions: Sendable {
    /// On the loopback interface; 0 takes a free one.
    public var port: UInt16 = 0
    /// An existing directory for the certificates and keys that are made at start.
    public var directory: String
    public var topics: Set<Bytes>
    public var keyID = "HUSHTEST01"
    public var teamID = "HUSHTEAM01"
    public var faults = APNsFaults()
    public var seed: UInt64 = 1

    public init(directory: String, topics: Set<Bytes>) {
        self.directory = directory
        self.topics = topics
    }
}

/// A connection that its client closed, or that broke, before all of its requests were answered.
public struct BrokenConnection: Sendable {
    public var at: Timestamp
    /// The `apns-id` of each request whose answer was still to come.
    public var unanswered: [Bytes]
}

/// An APNs on this machine: HTTP/2 over TLS, with Apple's rules, and faults from a seed.
///
/// Pushes that it takes go to `onAccept`, connections that end before their answers to `onBreak`, on the server's thread,
/// which must not block.
public final class SimulatedAPNs: Sendable {
    /// How long its certificates are good.
    private static let certificateLifeSeconds: Int64 = 7 * 86_400

    public let port: UInt16
    /// What its clients must trust.
    public let caFile: String
    /// The key its clients sign with.
    public let tokenKeyFile: String
    public let keyID: String
    public let teamID: String
    private let service: SharedService
    private let server: H2Server

    /// Makes certificates, listens, and starts.
    /// - Throws: what cannot be made or listened on, as a sentence.
    public init(
        _ options: SimulatedAPNsOptions, onAccept: @escaping @Sendable (AcceptedPush) -> Void,
        onBreak: @escaping @Sendable (BrokenConnection) -> Void = { _ in }
    ) throws {
        let now = WallClock.nowMillis() / 1000
        let files = try TestCertificates.write(
            into: options.directory, validFromSeconds: now - 3600,
            validUntilSeconds: now + Self.certificateLifeSeconds)
        let verifier = ProviderTokenVerifier(keys: [
            (keyID: Array(options.keyID.utf8), key: try SigningKey(file: files.tokenKeyFile))
        ])
        let tokens = ProviderTokens(verifier: verifier, teamID: options.teamID)
        let rules = APNsRules(topics: options.topics) { tokens.check($0, now: $1) }
        let service = SharedService(APNsService(rules: rules, faults: options.faults, seed: options.seed))
        var serverOptions = H2ServerOptions(certificateFile: files.certificateFile, keyFile: files.keyFile)
        serverOptions.port = options.port
        // APNs lets one stream through until it has seen a good provider token.
        serverOptions.streamsMax = 1
        let (faults, seed) = (options.faults, options.seed)
        if let slow = faults.slowReaders {
            serverOptions.readBytesPerSecond = { slow.has(connection: $0, seed: seed) ? slow.bytesPerSecond : nil }
        }
        server = try H2Server(serverOptions) {
            APNsHandler(service: service, faults: faults, seed: seed, onAccept: onAccept, onBreak: onBreak)
        }
        self.service = service
        port = server.port
        caFile = files.caFile
        tokenKeyFile = files.tokenKeyFile
        keyID = options.keyID
        teamID = options.teamID
    }

    /// From now on pushes to this token are answered 410 with this time.
    public func bury(_ token: Bytes, at: Timestamp) {
        service.state.withLock { $0.bury(token, at: at) }
    }

    /// From now on pushes to this token are answered with this reason, nil: with what the rules say.
    public func answer(_ token: Bytes, with reason: APNsReason?) {
        service.state.withLock { $0.answer(token, with: reason) }
    }

    public var counts: APNsService.Counts { service.state.withLock { $0.counts } }

    /// Closes all connections; a second call does nothing.
    public func close() {
        server.close()
    }
}

/// The service, shared by the server's thread and its owner.
private final class SharedService: Sendable {
    let state: Mutex<APNsService>

    init(_ service: APNsService) {
        state = Mutex(service)
    }
}

/// What turns HTTP/2 into the service's questions and answers.
private struct APNsHandler: H2Handler {
    /// Streams of a connection once a provider token was good.
    static let streamsMax = 1000

    private struct Connection {
        var streams = 0
        var isTrusted = false
        var isLeaving = false
        /// Of a slow reader, how long an answer takes at least.
        var latencyMin = Duration.zero
        /// Requests whose answer waits for its time.
        var waiting: [(apnsID: Bytes, due: MonotonicTime)] = []
    }

    let service: SharedService
    let faults: APNsFaults
    let seed: UInt64
    let onAccept: @Sendable (AcceptedPush) -> Void
    let onBreak: @Sendable (BrokenConnection) -> Void
    private let reader = PayloadReader()
    private var connections: [UInt64: Connection] = [:]

    init(
        service: SharedService, faults: APNsFaults, seed: UInt64,
        onAccept: @escaping @Sendable (AcceptedPush) -> Void, onBreak: @escaping @Sendable (BrokenConnection) -> Void
    ) {
        self.service = service
        self.faults = faults
        self.seed = seed
        self.onAccept = onAccept
        self.onBreak = onBreak
    }

    mutating func opened(connection: UInt64, at now: MonotonicTime, commands: inout H2Commands) {
        connections[connection] = Connection()
        if let slow = faults.slowReaders, slow.has(connection: connection, seed: seed) {
            connections[connection]?.latencyMin = slow.latency
        }
    }

    mutating func closed(connection: UInt64, at now: MonotonicTime) {
        guard let ended = connections.removeValue(forKey: connection) else { return }
        let unanswered = ended.waiting.filter { $0.due > now }.map(\.apnsID)
        if unanswered.isEmpty { return }
        onBreak(BrokenConnection(at: Timestamp(millis: WallClock.nowMillis()), unanswered: unanswered))
    }

    mutating func received(_ request: H2Request, at now: MonotonicTime, commands: inout H2Commands) {
        let headers = (0..<request.headerCount).map { index in
            let field = request.header(index)
            return SimulatedRequest.Header(Bytes(field.name), Bytes(field.value))
        }
        let simulated = SimulatedRequest(headers: headers, body: request.body, payload: reader.read(request.body))
        let time = Timestamp(millis: WallClock.nowMillis())
        let latencyMin = connections[request.id.connection]?.latencyMin ?? .zero
        let (reply, push) = service.state.withLock { $0.receive(simulated, now: time, latencyMin: latencyMin) }
        if let push { onAccept(push) }
        var isRefused = false
        switch reply {
        case .answer(let reason, let apnsID, let timestampMillis, let retryAfterSeconds, let delay):
            isRefused = reason?.status == 403
            if delay > .zero { wait(for: apnsID, until: now + delay, request.id.connection, now) }
            commands.add(
                .respond(request.id, Self.response(reason, apnsID, timestampMillis, retryAfterSeconds)), after: delay)
        // INTERNAL_ERROR, which leaves open whether the request was processed.
        case .reset: commands.add(.reset(request.id, code: 2))
        case .silence: break
        }
        advance(request.id.connection, isRefused: isRefused, commands: &commands)
    }

    private mutating func wait(for apnsID: Bytes, until due: MonotonicTime, _ id: UInt64, _ now: MonotonicTime) {
        guard connections[id] != nil else { return }
        connections[id]?.waiting.removeAll { $0.due <= now }
        connections[id]?.waiting.append((apnsID, due))
    }

    private mutating func advance(_ id: UInt64, isRefused: Bool, commands: inout H2Commands) {
        guard var connection = connections[id] else { return }
        connection.streams += 1
        if !connection.isTrusted && !isRefused {
            connection.isTrusted = true
            commands.add(.allowStreams(connection: id, Self.streamsMax))
        }
        if let goAwayEvery = faults.goAwayEvery, connection.streams >= goAwayEvery, !connection.isLeaving {
            connection.isLeaving = true
            commands.add(.goAway(connection: id, lastStream: nil, debug: Array(#"{"reason":"Shutdown"}"#.utf8)))
        }
        connections[id] = connection
    }

    private static func response(
        _ reason: APNsReason?, _ apnsID: Bytes, _ timestampMillis: Int64?, _ retryAfterSeconds: Int64?
    ) -> H2Response {
        var response = H2Response(status: reason?.status ?? 200, headers: [("apns-id", apnsID.raw)])
        if let retryAfterSeconds { response.headers.append(("retry-after", Array("\(retryAfterSeconds)".utf8))) }
        if let reason { response.body = APNsReply.body(reason, timestampMillis: timestampMillis) }
        return response
    }
}
