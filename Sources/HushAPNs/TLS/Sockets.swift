import CLinux
import Glibc
import HushBase

/// A resolved address to connect to, as the system keeps it.
struct SocketAddress: Hashable, Sendable {
    let family: Int32
    let bytes: [UInt8]

    /// All addresses of a host, asked anew each time. Blocks as long as the resolver does.
    static func resolve(host: String, port: UInt16) -> Result<[SocketAddress], ResolveFault> {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        var first: UnsafeMutablePointer<addrinfo>?
        var code = getaddrinfo(host, String(port), &hints, &first)
        if code == EAI_NONAME {
            // A machine that has the loopback interface only is refused by AI_ADDRCONFIG.
            hints.ai_flags = 0
            code = getaddrinfo(host, String(port), &hints, &first)
        }
        guard code == 0 else {
            return .failure(ResolveFault(description: "\(host) has no address: \(String(cString: gai_strerror(code)))"))
        }
        defer { freeaddrinfo(first) }
        var addresses: [SocketAddress] = []
        var entry = first
        while let current = entry?.pointee {
            if let address = current.ai_addr {
                let raw = UnsafeRawBufferPointer(start: address, count: Int(current.ai_addrlen))
                addresses.append(SocketAddress(family: current.ai_family, bytes: Array(raw)))
            }
            entry = current.ai_next
        }
        return .success(addresses)
    }

    struct ResolveFault: Error, Hashable, Sendable {
        let description: String
    }

    func withSockaddr<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        bytes.withUnsafeBytes { raw in
            // getaddrinfo wrote these bytes as a sockaddr of this length, and arrays are aligned to 16 bytes.
            raw.withMemoryRebound(to: sockaddr.self) { rebound in
                guard let start = rebound.baseAddress else { preconditionFailure("an address without bytes") }
                return body(start, socklen_t(bytes.count))
            }
        }
    }
}

/// The socket calls of this module; errors are `SystemFault`.
enum Sockets {
    /// Begins to connect without waiting. Writes do not wait for acknowledgements (TCP_NODELAY), and the system gives
    /// up a peer that acknowledges nothing for `userTimeout`.
    static func connect(
        to address: SocketAddress, userTimeout: Duration
    ) throws(SystemFault) -> Descriptor {
        let raw = socket(address.family, Int32(SOCK_STREAM.rawValue) | sockNonblockCloexec, 0)
        guard raw >= 0 else { throw .last("socket") }
        let descriptor = Descriptor(owning: raw)
        set(raw, IPPROTO_TCP, TCP_NODELAY, 1)
        let millis = Int32(clamping: max(1, userTimeout.wholeNanos / 1_000_000))
        set(raw, IPPROTO_TCP, TCP_USER_TIMEOUT, millis)
        let result = address.withSockaddr { Glibc.connect(raw, $0, $1) }
        if result != 0 && errno != EINPROGRESS { throw .last("connect") }
        return descriptor
    }

    /// The outcome of a connect that has become writable.
    static func connectFault(of raw: Int32) -> SystemFault? {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(raw, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else { return .last("getsockopt") }
        return code == 0 ? nil : SystemFault(call: "connect", code: code)
    }

    /// A socket that listens, and where.
    struct Listener: ~Copyable {
        let descriptor: Descriptor
        let port: UInt16

        consuming func take() -> Descriptor { descriptor }
    }

    /// Listens on the loopback interface; port 0 takes a free one.
    static func listenOnLoopback(port: UInt16) throws(SystemFault) -> Listener {
        let raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | sockNonblockCloexec, 0)
        guard raw >= 0 else { throw .last("socket") }
        let descriptor = Descriptor(owning: raw)
        set(raw, SOL_SOCKET, SO_REUSEADDR, 1)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(raw, $0, length) }
        }
        guard bound == 0 else { throw .last("bind to 127.0.0.1:\(port)") }
        guard listen(raw, 1024) == 0 else { throw .last("listen") }
        let named = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(raw, $0, &length) }
        }
        guard named == 0 else { throw .last("getsockname") }
        return Listener(descriptor: descriptor, port: UInt16(bigEndian: address.sin_port))
    }

    /// The next connection that waits, or nil.
    static func accept(from listener: Int32) throws(SystemFault) -> Descriptor? {
        let raw = Glibc.accept(listener, nil, nil)
        if raw < 0 {
            let code = errno
            if [EAGAIN, EWOULDBLOCK, EINTR, ECONNABORTED].contains(code) { return nil }
            throw SystemFault(call: "accept", code: code)
        }
        let descriptor = Descriptor(owning: raw)
        guard hush_set_nonblocking(raw) == 0 else { throw .last("fcntl") }
        _ = fcntl(raw, F_SETFD, FD_CLOEXEC)
        set(raw, IPPROTO_TCP, TCP_NODELAY, 1)
        return descriptor
    }

    /// Blocks SIGPIPE in the calling thread: a write to a socket that the peer closed then fails with EPIPE alone.
    static func blockBrokenPipeSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    private static let sockNonblockCloexec = Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)

    /// Options that only tune: where the system refuses one, the connection works all the same.
    private static func set(_ raw: Int32, _ level: Int, _ option: Int32, _ value: Int32) {
        set(raw, Int32(level), option, value)
    }

    private static func set(_ raw: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(raw, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
