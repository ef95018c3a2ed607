import HushBase

/// One connection of a route: the socket and its session, moved on by the loop's calls. Of one thread.
final class ClientConnection {
    let session: ClientSession
    let channel: SecureChannel

    /// Begins to connect; the rest happens in `ready`. `mayWrite` is asked right before each write.
    init(
        to address: SocketAddress, route: APNsConfiguration.Route, context: TLSContext, tunnel: ProxyTunnel?,
        life: ConnectionLife,
        mayWrite: @escaping () -> Bool
    ) throws {
        let authority = route.port == 443 ? route.host : "\(route.host):\(route.port)"
        session = try ClientSession(authority: authority, life: life, mayWrite: mayWrite)
        let socket = try Sockets.connect(
            to: address, userTimeout: life.limits.pingInterval + life.limits.pingTimeout)
        channel = SecureChannel(
            connecting: try TLSStream.connecting(socket, context: context, host: route.host), tunnel: tunnel)
    }

    func ready(_ buffer: UnsafeMutableRawBufferPointer, at now: MonotonicTime) -> ConnectionEnd? {
        channel.ready(session, buffer, at: now)
    }

    func flush() -> ConnectionEnd? {
        channel.flush(session)
    }

    /// GOAWAY and TLS's goodbye, as far as they leave at once.
    func sayGoodbye() {
        guard channel.isUp else { return }
        session.sayGoodbye()
        _ = channel.flush(session)
        channel.sayGoodbye()
    }
}
