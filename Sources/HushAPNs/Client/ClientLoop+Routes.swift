import HushBase

/// A connection as its loop knows it.
final class LoopConnection {
    let tag: UInt64
    let route: Int
    let io: ClientConnection
    /// The version of what it was opened with.
    let securedVersion: UInt32
    /// The state that the route's pool was told.
    var known = ConnectionLife.State.connecting
    var hadAnswered = false
    /// What the poller watches for; nil before and after.
    var watched: Readiness?

    init(tag: UInt64, route: Int, io: ClientConnection, securedVersion: UInt32) {
        self.tag = tag
        self.route = route
        self.io = io
        self.securedVersion = securedVersion
    }
}

/// A route as one loop moves it.
struct RouteState {
    let context: RouteContext
    var queue = PushQueue()
    var pool: RoutePool
    var connections: [LoopConnection] = []
    var isResolving = false
    /// Which of several addresses comes next.
    var attempt = 0
    var token: ProviderToken.Current?
    /// The version of the TLS context that connections are opened with.
    var securedVersion: UInt32

    init(index: Int, shared: ClientShared, at now: MonotonicTime) {
        let configuration = shared.configuration
        context = shared.routes[index]
        securedVersion = context.secured.version
        pool = RoutePool(
            places: configuration.connectionsPerRoute,
            backoff: Backoff(first: configuration.backoffFirst, cap: configuration.backoffCap), at: now)
    }

    /// Nothing waits and nothing is in flight.
    var isIdle: Bool { queue.isEmpty && connections.allSatisfy { $0.io.session.openCount == 0 } }

    /// Not even deadlines of connections need a look more often than once a second.
    var isAsleep: Bool { isIdle && connections.allSatisfy { $0.known == .open } && !isResolving }
}

extension ClientLoop {
    func connection(tagged tag: UInt64) -> LoopConnection? {
        for route in routes {
            for connection in route.connections where connection.tag == tag { return connection }
        }
        return nil
    }

    // MARK: Opening and closing

    func connect(_ route: Int, to addresses: [SocketAddress], at now: MonotonicTime) {
        guard routes[route].isResolving, !addresses.isEmpty else {
            return connectFailed(route, "the name has no address", at: now)
        }
        routes[route].isResolving = false
        let address = addresses[routes[route].attempt % addresses.count]
        routes[route].attempt += 1
        let configuration = shared.configuration
        let context = routes[route].context
        let secured = context.secured
        let tunnel = configuration.proxy.map { proxy in
            ProxyTunnel(to: Self.target(context.route), authorization: proxy.authorization)
        }
        let limits = ConnectionLife.Limits(
            connectTimeout: configuration.connectTimeout, pingInterval: configuration.pingInterval,
            pingTimeout: configuration.pingTimeout, streamsMax: configuration.streamsPerConnection,
            oneStreamUntilAccepted: context.token != nil)
        do {
            let io = try ClientConnection(
                to: address, route: context.route, context: secured.context, tunnel: tunnel,
                life: ConnectionLife(limits: limits, at: now),
                // The loop owns the connection and outlives it.
                mayWrite: { [unowned self] in mayWrite() })
            let connection = LoopConnection(tag: nextTag, route: route, io: io, securedVersion: secured.version)
            nextTag += 1
            routes[route].connections.append(connection)
            try watch(connection)
        } catch {
            connectFailed(route, "\(error)", at: now)
        }
    }

    func connectFailed(_ route: Int, _ reason: String, at now: MonotonicTime) {
        routes[route].isResolving = false
        counts.connectFailures += 1
        routes[route].pool.ended(in: .connecting, hadAnswered: false, at: now, using: &random)
        report(.connectFailed, route: route, reason)
    }

    /// Takes a connection off its route: what it had in flight is answered or goes back to the queue.
    func end(_ connection: LoopConnection, _ reason: ConnectionEnd, at now: MonotonicTime) {
        connection.io.session.abandonAll()
        collect(connection, at: now)
        unwatch(connection)
        let route = connection.route
        routes[route].connections.removeAll { $0 === connection }
        // One that was let go before it was needed did not fail.
        let hasServed = connection.hadAnswered || reason == .drained
        routes[route].pool.ended(in: connection.known, hadAnswered: hasServed, at: now, using: &random)
        if connection.known == .connecting {
            counts.connectFailures += 1
            report(.connectFailed, route: route, reason.text)
        } else {
            counts.disconnects += 1
            report(.closed, route: route, reason.text)
        }
        connection.known = .closed
    }

    /// After any progress of a connection: takes its facts, tells the pool, watches what it waits for.
    func settle(_ connection: LoopConnection, at now: MonotonicTime) {
        collect(connection, at: now)
        let state = connection.io.session.life.state
        let route = connection.route
        if connection.known == .connecting && state != .connecting {
            routes[route].pool.opened()
            connection.known = .open
            counts.connects += 1
            if connection.io.channel.wasResumed { counts.resumptions += 1 }
            report(.connected, route: route, routes[route].context.route.host)
            // The credential changed while it was connecting.
            if connection.securedVersion < routes[route].securedVersion { connection.io.session.life.retire() }
        }
        if connection.known == .open && connection.io.session.life.state == .draining {
            routes[route].pool.retired()
            connection.known = .draining
        }
        do {
            try watch(connection)
        } catch {
            end(connection, .failed(error.description), at: now)
        }
    }

    private func collect(_ connection: LoopConnection, at now: MonotonicTime) {
        let session = connection.io.session
        let route = connection.route
        if !session.facts.answers.isEmpty {
            answers.append(contentsOf: session.facts.answers)
            session.facts.answers.removeAll(keepingCapacity: true)
        }
        for push in session.facts.returned { giveBack(push, route) }
        session.facts.returned.removeAll()
        takeTokenFacts(session, route)
        if let text = session.facts.goAway {
            session.facts.goAway = nil
            report(.goAway, route: route, text)
        }
        if session.life.hasAnswered && !connection.hadAnswered {
            connection.hadAnswered = true
            routes[route].pool.answered()
        }
        counts = counts + session.counts
        session.counts = APNsCounts()
    }

    private func takeTokenFacts(_ session: ClientSession, _ route: Int) {
        if session.facts.expired.isEmpty && !session.facts.tooManyTokens { return }
        let seconds = WallClock.nowMillis() / 1000
        for (push, version, answer) in session.facts.expired {
            let token =
                push.hasNewToken ? nil : routes[route].context.token?.expired(version: version, atSeconds: seconds)
            if let token {
                use(token, route)
                var again = push
                again.hasNewToken = true
                giveBack(again, route)
            } else {
                counts.refused += 1
                answers.append(answer)
            }
        }
        session.facts.expired.removeAll()
        if session.facts.tooManyTokens {
            session.facts.tooManyTokens = false
            routes[route].context.token?.tooMany(atSeconds: seconds)
        }
    }

    private func giveBack(_ push: QueuedPush, _ route: Int) {
        var again = push
        again.resends += 1
        guard again.resends <= QueuedPush.resendsMax else { return answerNotSent(push) }
        counts.resent += 1
        routes[route].queue.giveBack(again)
    }

    // MARK: Time

    func tick(at now: MonotonicTime) {
        let seconds = WallClock.nowMillis() / 1000
        for route in routes.indices {
            if let provider = routes[route].context.token { use(provider.current(atSeconds: seconds), route) }
            for push in routes[route].queue.takeLate(at: now) { answerNotSent(push) }
            let secured = routes[route].context.secured.version
            if secured != routes[route].securedVersion {
                routes[route].securedVersion = secured
                retireAll(route) { $0.securedVersion < secured }
            }
            spare(route, at: now)
            for connection in routes[route].connections { tick(connection, at: now) }
        }
    }

    /// The credential changed: what is under way is answered on the old connections, what follows goes over new ones.
    private func retireAll(_ route: Int, where isOld: (LoopConnection) -> Bool = { _ in true }) {
        for connection in routes[route].connections where isOld(connection) { connection.io.session.life.retire() }
    }

    /// Lets the last connection go that was not needed for a while: streams fill the first ones first.
    private func spare(_ route: Int, at now: MonotonicTime) {
        guard let last = routes[route].connections.last(where: { $0.known == .open }) else { return }
        let idle = last.io.session.life.idle(at: now)
        if routes[route].pool.canSpare(idle: idle, idleMax: shared.configuration.spareIdleMax) {
            last.io.session.life.retire()
        }
    }

    private func tick(_ connection: LoopConnection, at now: MonotonicTime) {
        let session = connection.io.session
        if let fault = session.expire(at: now) { return end(connection, fault, at: now) }
        switch session.life.tick(at: now, open: session.openCount) {
        case .none: settle(connection, at: now)
        case .ping:
            session.ping()
            settle(connection, at: now)
        case .close(let reason):
            if reason == .drained { connection.io.sayGoodbye() }
            end(connection, reason, at: now)
        }
    }

    private func use(_ token: ProviderToken.Current, _ route: Int) {
        let old = routes[route].token
        if let old, old.version == token.version { return }
        routes[route].token = token
        // A connection stays with the key of its first token (`UnrelatedKeyIdInToken`).
        if let old, old.keyVersion != token.keyVersion { retireAll(route) }
        counts.tokens += 1
        report(.tokenRenewed, route: route, "version \(token.version)")
    }

    // MARK: Streams

    /// Hands waiting requests to connections that have room, filling one after the other so that frames share records,
    /// then asks for a further connection where that was not enough.
    func dispatch(_ route: Int, at now: MonotonicTime) {
        if routes[route].queue.isEmpty { return }
        for connection in routes[route].connections {
            let session = connection.io.session
            var room = session.allowance
            while room > 0, let push = routes[route].queue.popFirst() {
                if let back = session.submit(push, token: routes[route].token) {
                    // Not a resend: it never reached the session.
                    routes[route].queue.giveBack(back)
                    break
                }
                room -= 1
            }
            if routes[route].queue.isEmpty { return }
        }
        let queued = routes[route].queue.count
        guard routes[route].pool.wantsConnection(queued: queued, allowance: 0, at: now) else { return }
        // Many routes may lose their connections at once, and must not all come back at once.
        guard routes.count(where: { $0.pool.connecting > 0 }) < Self.connectsMax else { return }
        let endpoint = shared.configuration.proxy?.endpoint ?? Self.target(routes[route].context.route)
        let question = Resolver.Question(loop: index, route: route, endpoint: endpoint)
        guard resolver.ask(question) else { return }
        routes[route].isResolving = true
        routes[route].pool.started()
    }

    private static func target(_ route: APNsConfiguration.Route) -> APNsConfiguration.Endpoint {
        route.connectTo ?? APNsConfiguration.Endpoint(host: route.host, port: route.port)
    }
}
