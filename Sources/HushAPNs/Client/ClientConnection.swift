import HushBase

/// One connection of a route: the socket and its session, moved on by the loop's calls. Of one thread.
final class ClientConnection {
    /// What is collected before it goes to TLS: one system call and four full records.
    static let outputByteCount = 64 * 1024

    private enum Phase {
        case connecting
        case handshaking
        case up
    }

    let session: ClientSession
    private let stream: TLSHolder
    private var phase = Phase.connecting
    private var output: [UInt8] = []
    private var outputStart = 0
    private var isBlocked = false

    /// Holds the move-only stream for a class, which outlives errors of `init`.
    private final class TLSHolder {
        let stream: TLSStream

        init(_ stream: consuming TLSStream) {
            self.stream = stream
        }
    }

    /// Begins to connect; the rest happens in `ready`.
    init(
        to address: SocketAddress, route: APNsConfiguration.Route, context: TLSContext, life: ConnectionLife
    ) throws(TLSFault) {
        do {
            let socket = try Sockets.connect(
                to: address, userTimeout: life.limits.pingInterval + life.limits.pingTimeout)
            stream = TLSHolder(try TLSStream.connecting(socket, context: context, host: route.host))
        } catch let fault as TLSFault {
            throw fault
        } catch {
            throw TLSFault("\(error)")
        }
        let authority = route.port == 443 ? route.host : "\(route.host):\(route.port)"
        session = try ClientSession(authority: authority, life: life)
        output.reserveCapacity(Self.outputByteCount + 32 * 1024)
    }

    var descriptor: Int32 { stream.stream.descriptor }

    var wasResumed: Bool { stream.stream.wasResumed }

    /// What the poller is to watch for.
    var interest: Readiness {
        switch phase {
        case .connecting: .write
        case .handshaking, .up: isBlocked ? [.read, .write] : .read
        }
    }

    /// The socket is ready: goes on with the handshake, then reads all there is.
    func ready(_ buffer: UnsafeMutableRawBufferPointer, at now: MonotonicTime) -> ConnectionEnd? {
        if phase == .connecting {
            if let fault = Sockets.connectFault(of: descriptor) { return .connectFailed(fault.description) }
            phase = .handshaking
        }
        if phase == .handshaking {
            switch stream.stream.handshake() {
            case .done:
                guard stream.stream.speaksHTTP2 else { return .connectFailed("the server does not speak HTTP/2") }
                phase = .up
                isBlocked = false
                session.life.opened(at: now)
            case .wantsRead:
                isBlocked = false
                return nil
            case .wantsWrite:
                isBlocked = true
                return nil
            case .closed: return .connectFailed("closed by the peer during the TLS handshake")
            case .failed(let reason): return .connectFailed(reason)
            }
        }
        isBlocked = false
        return read(buffer, at: now)
    }

    /// Sends what the session has ready, as far as the socket takes it.
    ///
    /// `mayWrite` is asked right before each write: a process that was stopped in between must not send.
    func flush(mayWrite: () -> Bool) -> ConnectionEnd? {
        guard phase == .up && !isBlocked else { return nil }
        while true {
            if outputStart == output.count {
                output.removeAll(keepingCapacity: true)
                outputStart = 0
                if let end = session.produce(into: &output, byteCountMax: Self.outputByteCount) { return end }
                if output.isEmpty { return session.isOver ? .failed("HTTP/2 is over") : nil }
            }
            guard mayWrite() else { return .dropped }
            session.markWritten()
            let (count, progress) = output.withUnsafeBytes {
                stream.stream.write(UnsafeRawBufferPointer(rebasing: $0[outputStart...]))
            }
            outputStart += count
            session.counts.bytesSent += UInt64(count)
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

    /// GOAWAY and TLS's goodbye, as far as they leave at once.
    func sayGoodbye() {
        guard phase == .up else { return }
        session.sayGoodbye()
        _ = flush(mayWrite: { true })
        stream.stream.sayGoodbye()
    }

    private func read(_ buffer: UnsafeMutableRawBufferPointer, at now: MonotonicTime) -> ConnectionEnd? {
        while true {
            let (count, progress) = stream.stream.read(into: buffer)
            switch progress {
            case .done:
                session.life.received(at: now)
                let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                if let end = session.receive(bytes) { return end }
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
