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

    /// An HTTP proxy that is asked to CONNECT (RFC 9110 §9.3.6); TLS goes through it from end to end.
    public struct Proxy: Sendable, Hashable {
        public var endpoint: Endpoint
        /// The value of `Proxy-Authorization`, as `Basic dXNlcjpwYXNz`.
        public var authorization: String?

        public init(endpoint: Endpoint, authorization: String? = nil) {
            self.endpoint = endpoint
            self.authorization = authorization
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
        /// A provider token signed by an Apple `.p8` key. An empty key id is taken from the name of the file, or of the one
        /// that it links to: `AuthKey_ABC123DEFG.p8`.
        case token(keyFile: String, keyID: String, teamID: String)
        /// A provider certificate and its key, both PEM.
        case certificate(certificateFile: String, keyFile: String)
    }

    public var routes: [Route]
    public var proxy: Proxy?
    /// How often the files of credentials are looked at. One that changed is read again; where it is bad, the old one goes on.
    public var credentialInterval: Duration = .seconds(5)
    /// Connections of each route on each thread; they open as the queue needs them.
    public var connectionsPerRoute = 2
    /// A connection beyond a route's first that had nothing to do for so long is closed.
    public var spareIdleMax: Duration = .seconds(300)
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
    /// Answers in the place of the system's resolver, with numeric addresses: for tests.
    package var lookUp: (@Sendable (Endpoint) -> [Endpoint])?

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
        /// The files of a credential changed, and are in use.
        case credentialRenewed = "credential_renewed"
        /// The files of a credential changed, and are no good: the old ones stay in use.
        case credentialBad = "credential_bad"
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
        if let proxy {
            try require(
                !proxy.endpoint.host.isEmpty && proxy.endpoint.port > 0, "the proxy needs a host and a port")
            let isPlain = (proxy.authorization ?? "").utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f }
            try require(isPlain, "the proxy's authorization must be one line of ASCII")
        }
        try require((1...64).contains(connectionsPerRoute), "connections per route must be 1 to 64")
        try require((1...10_000).contains(streamsPerConnection), "streams per connection must be 1 to 10000")
        try require((1...1_000_000).contains(queueCapacity), "the queue's capacity must be 1 to 1000000")
        try require((1...16).contains(threads), "threads must be 1 to 16")
        let waits: [(String, Duration)] = [
            ("request deadline", requestDeadline), ("ping interval", pingInterval), ("ping timeout", pingTimeout),
            ("connect timeout", connectTimeout), ("first backoff", backoffFirst),
            ("credentials' interval", credentialInterval), ("spare connections' idle time", spareIdleMax),
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
