import Glibc

/// The way through an HTTP proxy: CONNECT (RFC 9110 §9.3.6) over a socket on which TLS begins afterwards.
///
/// It takes no byte beyond the blank line that ends the proxy's answer: what follows is TLS's.
struct ProxyTunnel {
    enum Progress: Hashable {
        case done
        case wantsRead
        case wantsWrite
        case failed(String)
    }

    /// A proxy that answers with more is none.
    static let answerBytesMax = 8192

    private var request: [UInt8]
    private var sent = 0
    private var answer: [UInt8] = []

    /// To `host:port`, by way of a proxy that the socket is connected to.
    init(to target: APNsConfiguration.Endpoint, authorization: String?) {
        let host = target.host.contains(":") ? "[\(target.host)]:\(target.port)" : "\(target.host):\(target.port)"
        var text = "CONNECT \(host) HTTP/1.1\r\nHost: \(host)\r\n"
        if let authorization { text += "Proxy-Authorization: \(authorization)\r\n" }
        request = Array((text + "\r\n").utf8)
    }

    /// Goes on as far as the socket lets it.
    mutating func advance(_ descriptor: Int32) -> Progress {
        while sent < request.count {
            let count = request[sent...].withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                sent += count
            } else if errno == EAGAIN {
                return .wantsWrite
            } else if errno != EINTR {
                return .failed("the proxy is gone: \(String(cString: strerror(errno)))")
            }
        }
        var chunk = [UInt8](repeating: 0, count: 2048)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, Int32(MSG_PEEK))
            if count == 0 { return .failed("the proxy closed the connection before it answered") }
            if count < 0 {
                if errno == EINTR { continue }
                return errno == EAGAIN
                    ? .wantsRead : .failed("the proxy is gone: \(String(cString: strerror(errno)))")
            }
            let taken = take(chunk[..<count])
            // What was looked at is there to be taken at once.
            _ = recv(descriptor, &chunk, taken, 0)
            if let progress = judge() { return progress }
        }
    }

    /// Adds the bytes up to the end of the answer; returns how many these were.
    private mutating func take(_ bytes: ArraySlice<UInt8>) -> Int {
        for (index, byte) in bytes.enumerated() {
            answer.append(byte)
            if isWhole { return index + 1 }
        }
        return bytes.count
    }

    private var isWhole: Bool { answer.suffix(4) == [13, 10, 13, 10] }

    /// What the answer says; nil while it is not whole.
    private func judge() -> Progress? {
        if answer.count > Self.answerBytesMax { return .failed("the proxy's answer does not end") }
        guard isWhole else { return nil }
        let line = String(decoding: answer.prefix { $0 != 13 && $0 != 10 }.prefix(200), as: UTF8.self)
        let parts = line.split(separator: " ", maxSplits: 2)
        let isGood = parts.count >= 2 && parts[0].hasPrefix("HTTP/1.") && parts[1].count == 3 && parts[1].hasPrefix("2")
        return isGood ? .done : .failed("the proxy refused: \(line)")
    }
}
