private import CLinux
private import Glibc
private import HushBase

/// Asks another process' admin port.
public enum AdminClient {
    public struct Answer: Hashable, Sendable {
        public var status: Int
        public var body: String
    }

    /// Why there is no answer.
    public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        public let description: String
    }

    /// How long a peer may say nothing.
    static let silenceMax = Duration.seconds(30)
    /// An answer that is longer is none of an admin port.
    static let answerBytesMax = 1 << 20

    /// Sends a request without a body, and reads the answer to its end.
    public static func ask(host: String, port: Int, method: String, path: String) throws(Fault) -> Answer {
        do throws(SystemFault) {
            let socket = try connect(host, port)
            let request = "\(method) \(path) HTTP/1.0\r\nHost: \(host):\(port)\r\nContent-Length: 0\r\n\r\n"
            try send(Array(request.utf8), socket.raw)
            guard let answer = parse(try receive(socket.raw)) else {
                throw SystemFault(call: "HTTP", code: EBADMSG)
            }
            return answer
        } catch {
            throw Fault(description: "\(host):\(port) does not answer: \(error)")
        }
    }

    private static func connect(_ host: String, _ port: Int) throws(SystemFault) -> Descriptor {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &found) == 0 else {
            throw SystemFault(call: "getaddrinfo", code: EADDRNOTAVAIL)
        }
        defer { freeaddrinfo(found) }
        var fault = SystemFault(call: "connect", code: EADDRNOTAVAIL)
        var next = found
        while let address = next {
            next = address.pointee.ai_next
            let opened = socket(address.pointee.ai_family, hints.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard opened >= 0 else {
                fault = .last("socket")
                continue
            }
            let descriptor = Descriptor(owning: opened)
            var limit = timeval(tv_sec: Int(silenceMax.components.seconds), tv_usec: 0)
            let size = socklen_t(MemoryLayout<timeval>.size)
            setsockopt(descriptor.raw, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
            setsockopt(descriptor.raw, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
            if Glibc.connect(descriptor.raw, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 {
                return descriptor
            }
            fault = .last("connect")
        }
        throw fault
    }

    private static func send(_ bytes: [UInt8], _ socket: Int32) throws(SystemFault) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .last("send") }
            sent += count
        }
    }

    private static func receive(_ socket: Int32) throws(SystemFault) -> [UInt8] {
        var answer: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while answer.count <= answerBytesMax {
            let count = recv(socket, &chunk, chunk.count, 0)
            if count == 0 { return answer }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .last("recv") }
            answer += chunk[..<count]
        }
        throw SystemFault(call: "recv", code: EMSGSIZE)
    }

    /// Reads `HTTP/1.x NNN`, skips headers; nil where it is of another form.
    static func parse(_ bytes: [UInt8]) -> Answer? {
        let end = Array("\r\n\r\n".utf8)
        guard bytes.starts(with: Array("HTTP/1.".utf8)),
            let head = bytes.indices.first(where: { bytes[$0...].starts(with: end) })
        else { return nil }
        let line = String(decoding: bytes[..<head], as: UTF8.self)
        guard let status = line.split(separator: " ").dropFirst().first.flatMap({ Int($0.prefix(3)) }) else {
            return nil
        }
        return Answer(status: status, body: String(decoding: bytes[(head + 4)...], as: UTF8.self))
    }
}
