/// Where pushes go and how hard the client tries. `APNsClient.init` checks it all, and names what to mend.
public struct APNsConfiguration: Sendable {
    /// An endpoint of APNs and the credential to use there; a request names its route by index.
    public struct Route: Sendable {
        /// The name in SNI, `:authority` and the certificate, as `api.push.apple.com`.
        public var host: String
        public var port: UInt16
        /// Where to connect instead of `host:port`: an address or a name, for tests and tunnels.
        public var connectTo: Endpoint?
        public var trust: Trust
        public var credential: Credential

        public init(
            host: String, port: UInt16 = 443, connectTo: Endpoint? = nil, trust: Trust = .system,
            credential: Credential
        ) {
            self.host = host
            self.port = port
            self.connectTo = connectTo
            self.trust = trust
            self.credential = credential
        }
    }

    public struct Endpoint: Sendable, Hashable {
        public var host: String
        public var port: UInt16

        public init(host: String, port: UInt16) {
            self.host = host
            self.port = port
        }
    }

    /// Whose signature on the server's certificate is believed. There is no way to believe any.
    public enum Trust: Sendable, Hashable {
        case system
        /// A PEM file of CA certificates.
        case file(String)
    }

    public enum Credential: Sendable, Hashable {
        /// A provider token signed by an Apple `.p8` key.
        case token(keyFile: String, keyID: String, teamID: String)
        /// A provider certificate and its key, both PEM.
        case certificate(certificateFile: String, keyFile: String)
    }

    public var routes: [Route]
    /// Connections of each route on each thread; they open as the queue needs them.
    public var connectionsPerRoute = 2
    /// Streams in flight on a connection, where the peer allows as many.
    public var streamsPerConnection = 1000
    /// Requests the client holds in all, from `submit` until their answer is drained.
    public var queueCapacity = 16_384
    /// From `submit` to the answer; then `notSent` or `unknown`.
    public var requestDeadline: Duration = .seconds(30)
    /// A PING leaves when nothing was received for so long; Apple asks for at least an hour's patience, networks for less.
    public var pingInterval: Duration = .seconds(60)
    public var pingTimeout: Duration = .seconds(10)
    /// From the first packet to the end of the TLS handshake.
    public var connectTimeout: Duration = .seconds(10)
    /// The pause before the second attempt to connect; it doubles, with full jitter.
    public var backoffFirst: Duration = .milliseconds(200)
    public var backoffCap: Duration = .seconds(30)
    /// A client that finds that its process stood still for longer (SIGSTOP, a frozen virtual machine) drops its
    /// connections before it sends another byte, and refuses requests until `resume()`. At least 2 s; nil: never.
    public var stopLimit: Duration?
    /// Loop threads, each with connections of its own.
    public var threads = 1
    /// Told of what happens to connections, on the client's threads: it must not block.
    public var onEvent: (@Sendable (APNsEvent) -> Void)?

    public init(routes: [Route]) {
        self.routes = routes
    }
}

/// What is wrong with a configuration: the setting or file, and what to do.
public struct APNsConfigurationFault: Error, Hashable, Sendable, CustomStringConvertible {
    public var description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Something that happened to a connection and is worth a line in the log.
public struct APNsEvent: Sendable, Hashable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        case connected
        case connectFailed = "connect_failed"
        case goAway = "go_away"
        case closed
        case tokenRenewed = "token_renewed"
        case stopped
    }

    public var kind: Kind
    /// The index of the route.
    public var route: Int
    /// The reason as the peer or the system gave it; of the peer's text at most 256 bytes.
    public var detail: String

    public var description: String { "\(kind.rawValue) route \(route): \(detail)" }
}

extension APNsConfiguration {
    /// Throws the first fault of the numbers, which needs no file.
    func checkNumbers() throws(APNsConfigurationFault) {
        func require(_ condition: Bool, _ text: String) throws(APNsConfigurationFault) {
            if !condition { throw APNsConfigurationFault(text) }
        }
        try require(!routes.isEmpty, "no route: name at least one APNs endpoint and its credential")
        for (index, route) in routes.enumerated() {
            try require(
                !route.host.isEmpty && !route.host.contains(":") && route.host.utf8.count <= 253,
                "route \(index): host \"\(route.host)\" must be a host name without scheme or port")
            try require(route.port > 0, "route \(index): port must be 1 to 65535")
            if let endpoint = route.connectTo {
                try require(
                    !endpoint.host.isEmpty && endpoint.port > 0,
                    "route \(index): the address to connect to needs a host and a port")
            }
        }
        try require((1...64).contains(connectionsPerRoute), "connections per route must be 1 to 64")
        try require((1...10_000).contains(streamsPerConnection), "streams per connection must be 1 to 10000")
        try require((1...1_000_000).contains(queueCapacity), "the queue's capacity must be 1 to 1000000")
        try require((1...16).contains(threads), "threads must be 1 to 16")
        let waits: [(String, Duration)] = [
            ("request deadline", requestDeadline), ("ping interval", pingInterval), ("ping timeout", pingTimeout),
            ("connect timeout", connectTimeout), ("first backoff", backoffFirst),
        ]
        for (name, wait) in waits {
            try require(
                wait >= .milliseconds(1) && wait <= .seconds(86_400), "the \(name) must be 1 ms to 1 day")
        }
        try require(backoffCap >= backoffFirst, "the longest backoff must not be shorter than the first")
        if let stopLimit {
            try require(stopLimit >= .seconds(2), "the stop limit must be at least 2 s, or an ordinary pause is a stop")
        }
    }
}
