import Foundation
import HushAPNs
import Testing

/// The way through a proxy that is not ours, to a server that is not ours.
@Suite(
    .enabled(if: PythonPeer.interpreter != nil, "needs python-h2 in .venv: scripts/setup"), .serialized,
    .timeLimit(.minutes(2)))
struct ProxyTests {
    let directory: TestDirectory

    init() throws {
        directory = try TestDirectory()
    }

    private func sender(
        _ peer: PythonPeer, by proxy: PythonPeer, authorization: String? = nil,
        _ change: (inout APNsConfiguration) -> Void = { _ in }
    ) throws -> Sender {
        try Sender(
            Sender.configuration(directory, port: peer.port) {
                $0.connectionsPerRoute = 1
                $0.proxy = APNsConfiguration.Proxy(
                    endpoint: APNsConfiguration.Endpoint(host: "127.0.0.1", port: proxy.port),
                    authorization: authorization)
                change(&$0)
            })
    }

    @Test(
        "pushes go through a proxy that was asked to CONNECT, whether its answer comes whole or byte by byte",
        arguments: ["open", "slow"])
    func through(mode: String) throws {
        let peer = try PythonPeer("accept", directory)
        let proxy = try PythonPeer(proxy: mode)
        let sender = try sender(peer, by: proxy)
        #expect(sender.submit(0..<50) == 50)
        sender.collect(50)
        #expect(sender.count(status: 200) == 50)
        let target = "127.0.0.1:\(peer.port)"
        #expect(try proxy.finish().map(\.text) == ["CONNECT \(target) \(target)"])
    }

    @Test("a proxy's password is given to it")
    func password() throws {
        let peer = try PythonPeer("accept", directory)
        let proxy = try PythonPeer(proxy: "password")
        let sender = try sender(peer, by: proxy, authorization: "Basic dXNlcjpwYXNz")
        #expect(sender.submit(0..<1) == 1)
        sender.collect(1)
        #expect(sender.count(status: 200) == 1)
    }

    @Test(
        "a proxy that refuses or closes is told with its words, and nothing was sent",
        arguments: [
            ("refuse", "the proxy refused: HTTP/1.1 403 Forbidden by policy"),
            ("password", "the proxy refused: HTTP/1.1 407 Proxy Authentication Required"),
            ("mute", "the proxy closed the connection before it answered"),
        ])
    func refused(mode: String, reason: String) throws {
        let peer = try PythonPeer("accept", directory)
        let proxy = try PythonPeer(proxy: mode)
        let log = EventLog()
        let sender = try sender(peer, by: proxy) {
            $0.requestDeadline = .seconds(1)
            $0.onEvent = log.add
        }
        #expect(sender.submit(0..<1) == 1)
        sender.collect(1)
        #expect(sender.outcomes[0] == .notSent)
        #expect(log.details(.connectFailed).first == reason)
    }
}
