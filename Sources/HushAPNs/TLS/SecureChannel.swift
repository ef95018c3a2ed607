import HushBase

/// What moves over a secure channel: one side of HTTP/2, without a socket.
protocol FrameSession: AnyObject {
    /// The TLS handshake is done.
    func opened(at now: MonotonicTime)
    /// Bytes of the peer; a fault ends the connection.
    func receive(_ bytes: UnsafeRawBufferPointer, at now: MonotonicTime) -> ConnectionEnd?
    /// Appends frames that are ready, up to about `byteCountMax`.
    func produce(into output: inout OutputBuffer, byteCountMax: Int) -> ConnectionEnd?
    /// What was produced is about to leave; false forbids it.
    func willWrite() -> Bool
    /// Whether nothing will be read nor written any more.
    var isOver: Bool { get }
}

/// A non-blocking socket with TLS and HTTP/2's bytes in both directions; of one thread.
final class SecureChannel {
    /// What is collected before it goes to TLS: few system calls and full records.
    static let outputByteCount = 64 * 1024

    private enum Phase {
        case connecting
        case tunnelling(ProxyTunnel)
        case handshaking
        case up
    }

    private let stream: TLSStream
    private var phase: Phase
    private let tunnel: ProxyTunnel?
    @exclusivity(unchecked) private var output = OutputBuffer()
    @exclusivity(unchecked) private var outputStart = 0
    private var isBlocked = false

    /// `tunnel` is the way through a proxy, where the socket leads to one.
    init(connecting stream: consuming TLSStream, tunnel: ProxyTunnel?) {
        self.stream = stream
        self.tunnel = tunnel
        phase = .connecting
    }

    init(accepted stream: consuming TLSStream) {
        self.stream = stream
        tunnel = nil
        phase = .handshaking
    }

    var descriptor: Int32 { stream.descriptor }
    var wasResumed: Bool { stream.wasResumed }
    var isUp: Bool {
        if case .up = phase { true } else { false }
    }

    /// What the poller is to watch for.
    var interest: Readiness {
        switch phase {
        case .connecting: .write
        case .tunnelling, .handshaking, .up: isBlocked ? [.read, .write] : .read
        }
    }

    /// The socket is ready: goes on with the handshake, then reads all there is.
    func ready(
        _ session: some FrameSession, _ buffer: UnsafeMutableRawBufferPointer, at now: MonotonicTime
    ) -> ConnectionEnd? {
        isBlocked = false
        if case .connecting = phase {
            if let fault = Sockets.connectFault(of: descriptor) { return .connectFailed(fault.description) }
            phase = tunnel.map { .tunnelling($0) } ?? .handshaking
        }
        if case .tunnelling(var tunnel) = phase {
            switch tunnel.advance(descriptor) {
            case .done: phase = .handshaking
            case .failed(let reason): return .connectFailed(reason)
            case .wantsRead: phase = .tunnelling(tunnel)
            case .wantsWrite:
                phase = .tunnelling(tunnel)
                isBlocked = true
            }
        }
        if case .handshaking = phase, let end = handshake(session, at: now) { return end }
        return isUp ? read(session, buffer, at: now) : nil
    }

    private func handshake(_ session: some FrameSession, at now: MonotonicTime) -> ConnectionEnd? {
        switch stream.handshake() {
        case .done:
            guard stream.speaksHTTP2 else { return .connectFailed("the peer does not speak HTTP/2") }
            phase = .up
            session.opened(at: now)
        case .wantsRead: break
        case .wantsWrite: isBlocked = true
        case .closed: return .connectFailed("closed by the peer during the TLS handshake")
        case .failed(let reason): return .connectFailed(reason)
        }
        return nil
    }

    /// Sends what the session has ready, as far as the socket takes it.
    func flush(_ session: some FrameSession) -> ConnectionEnd? {
        guard isUp && !isBlocked else { return nil }
        while true {
            if outputStart == output.count {
                output.removeAll()
                outputStart = 0
                if let end = session.produce(into: &output, byteCountMax: Self.outputByteCount) { return end }
                if output.isEmpty { return session.isOver ? .failed("HTTP/2 is over") : nil }
            }
            guard session.willWrite() else { return .dropped }
            let (count, progress) = output.withBytes(from: outputStart) { stream.write($0) }
            outputStart += count
            switch progress {
            case .done: continue
            case .wantsWrite, .wantsRead:
                isBlocked = true
                return nil
            case .closed: return .peerClosed
            case .failed(let reason): return .failed(reason)
            }
        }
    }

    /// TLS's goodbye, without waiting for the peer's.
    func sayGoodbye() {
        if isUp { stream.sayGoodbye() }
    }

    private func read(
        _ session: some FrameSession, _ buffer: UnsafeMutableRawBufferPointer, at now: MonotonicTime
    ) -> ConnectionEnd? {
        while true {
            let (count, progress) = stream.read(into: buffer)
            switch progress {
            case .done:
                let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                if let end = session.receive(bytes, at: now) { return end }
                // What may be in the socket the poller tells, at the price of the call that would find nothing.
                if !stream.hasBufferedBytes { return nil }
            case .wantsRead: return nil
            case .wantsWrite:
                isBlocked = true
                return nil
            case .closed: return .peerClosed
            case .failed(let reason): return .failed(reason)
            }
        }
    }
}
