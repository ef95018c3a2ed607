import HushBase

/// What moves over a secure channel: one side of HTTP/2, without a socket.
protocol FrameSession: AnyObject {
    /// The TLS handshake is done.
    func opened(at now: MonotonicTime)
    /// Bytes of the peer; a fault ends the connection.
    func receive(_ bytes: UnsafeRawBufferPointer, at now: MonotonicTime) -> ConnectionEnd?
    /// Appends frames that are ready, up to about `byteCountMax`.
    func produce(into output: inout [UInt8], byteCountMax: Int) -> ConnectionEnd?
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
        case handshaking
        case up
    }

    private let stream: TLSStream
    private var phase: Phase
    private var output: [UInt8] = []
    private var outputStart = 0
    private var isBlocked = false

    init(connecting stream: consuming TLSStream) {
        self.stream = stream
        phase = .connecting
    }

    init(accepted stream: consuming TLSStream) {
        self.stream = stream
        phase = .handshaking
    }

    var descriptor: Int32 { stream.descriptor }
    var wasResumed: Bool { stream.wasResumed }
    var isUp: Bool { phase == .up }

    /// What the poller is to watch for.
    var interest: Readiness {
        switch phase {
        case .connecting: .write
        case .handshaking, .up: isBlocked ? [.read, .write] : .read
        }
    }

    /// The socket is ready: goes on with the handshake, then reads all there is.
    func ready(
        _ session: some FrameSession, _ buffer: UnsafeMutableRawBufferPointer, at now: MonotonicTime
    ) -> ConnectionEnd? {
        isBlocked = false
        if phase == .connecting {
            if let fault = Sockets.connectFault(of: descriptor) { return .connectFailed(fault.description) }
            phase = .handshaking
        }
        if phase == .handshaking {
            switch stream.handshake() {
            case .done:
                guard stream.speaksHTTP2 else { return .connectFailed("the peer does not speak HTTP/2") }
                phase = .up
                session.opened(at: now)
            case .wantsRead: return nil
            case .wantsWrite:
                isBlocked = true
                return nil
            case .closed: return .connectFailed("closed by the peer during the TLS handshake")
            case .failed(let reason): return .connectFailed(reason)
            }
        }
        return read(session, buffer, at: now)
    }

    /// Sends what the session has ready, as far as the socket takes it.
    func flush(_ session: some FrameSession) -> ConnectionEnd? {
        guard phase == .up && !isBlocked else { return nil }
        while true {
            if outputStart == output.count {
                output.removeAll(keepingCapacity: true)
                outputStart = 0
                if let end = session.produce(into: &output, byteCountMax: Self.outputByteCount) { return end }
                if output.isEmpty { return session.isOver ? .failed("HTTP/2 is over") : nil }
            }
            guard session.willWrite() else { return .dropped }
            let (count, progress) = output.withUnsafeBytes {
                stream.write(UnsafeRawBufferPointer(rebasing: $0[outputStart...]))
            }
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
        if phase == .up { stream.sayGoodbye() }
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
