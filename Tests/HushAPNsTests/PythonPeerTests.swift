import HushAPNs
import Synchronization
import Testing

/// The connection cases of public reports against python-h2.
@Suite(
    .enabled(if: PythonPeer.interpreter != nil, "needs python-h2 in .venv: scripts/setup"), .serialized,
    .timeLimit(.minutes(2)))
struct PythonPeerTests {
    let directory: TestDirectory

    init() throws {
        directory = try TestDirectory()
    }

    private func sender(
        _ peer: PythonPeer, _ change: (inout APNsConfiguration) -> Void = { _ in }
    ) throws -> Sender {
        try Sender(
            Sender.configuration(directory, port: peer.port) {
                $0.connectionsPerRoute = 1
                change(&$0)
            })
    }

    @Test("streams after GOAWAY's last id go again on a new connection, the others are awaited, none is lost")
    func goAway() throws {
        let peer = try PythonPeer("goaway", directory)
        let log = EventLog()
        let sender = try sender(peer) { $0.onEvent = log.add }
        // Four first, one by one, so that the next five are in flight together.
        for tag in 0..<4 as Range<UInt64> {
            #expect(sender.submit(tag..<tag + 1) == 1)
            sender.collect(Int(tag) + 1)
        }
        #expect(sender.submit(4..<9) == 5)
        sender.collect(9)
        #expect(sender.count(status: 200) == 9)
        #expect(sender.client.counts.goAways == 1)
        #expect(sender.client.counts.resent == 3)
        let requests = try peer.finish().filter { $0.event == "request" }
        // Apple's rule is kept by counting: 9 on the first connection, and the 3 beyond the last id on the second.
        #expect(requests.count { $0.connection == 1 } == 9)
        #expect(requests.filter { $0.connection == 2 }.map(\.stream) == [1, 3, 5])
        #expect(log.details(.goAway) == [#"last stream 11, code 0, {"reason":"Shutdown"}"#])
    }

    @Test("a connection that is told to drain is replaced at once, and what is open on it is answered")
    func drain() throws {
        let peer = try PythonPeer("drain", directory)
        let sender = try sender(peer)
        #expect(sender.submit(0..<1) == 1)
        sender.collect(1)
        // These two are answered once the other connection had a request.
        #expect(sender.submit(1..<3) == 2)
        sender.collect { $0.client.counts.goAways == 1 }
        #expect(sender.submit(3..<4) == 1)
        sender.collect(4)
        #expect(sender.count(status: 200) == 4)
        #expect(sender.client.counts.resent == 0)
        #expect(try peer.finish().filter { $0.event == "request" }.map(\.connection) == [1, 1, 1, 2])
    }

    @Test("no more streams are open than we allow ourselves, though the peer allows a hundred times as many")
    func ownLimit() throws {
        let peer = try PythonPeer("hold", directory)
        let sender = try sender(peer) { $0.streamsPerConnection = 10 }
        #expect(sender.submit(0..<101) == 101)
        sender.collect(101)
        #expect(sender.count(status: 200) == 101)
        #expect(try peer.finish().compactMap(\.open).max() == 10)
    }

    @Test("the name is looked up again for each connection: a peer that moved is found")
    func moved() throws {
        let old = try PythonPeer("accept", directory)
        let new = try PythonPeer("accept", directory)
        let port = Mutex(old.port)
        let asked = Atomic(0)
        let sender = try sender(old) {
            $0.lookUp = { endpoint in
                asked.add(1, ordering: .relaxed)
                return [APNsConfiguration.Endpoint(host: endpoint.host, port: port.withLock { $0 })]
            }
        }
        #expect(sender.submit(0..<1) == 1)
        sender.collect(1)
        port.withLock { $0 = new.port }
        _ = try old.finish()
        sender.collect { $0.client.counts.disconnects == 1 }
        #expect(sender.submit(1..<2) == 1)
        sender.collect(2)
        #expect(sender.count(status: 200) == 2)
        #expect(asked.load(ordering: .relaxed) == 2)
        #expect(try new.finish().count { $0.event == "request" } == 1)
    }

    @Test("a refused stream is sent again for free")
    func refused() throws {
        let peer = try PythonPeer("refuse", directory)
        let sender = try sender(peer)
        #expect(sender.submit(0..<40) == 40)
        sender.collect(40)
        #expect(sender.count(status: 200) == 40)
        #expect(sender.client.counts.resent == 10)
        #expect(sender.client.counts.resets == 10)
    }

    @Test("a stream that is reset without an answer has an unknown outcome, and the connection goes on")
    func reset() throws {
        let peer = try PythonPeer("reset", directory)
        let sender = try sender(peer)
        #expect(sender.submit(0..<10) == 10)
        sender.collect(10)
        #expect(sender.count(of: .unknown) == 1)
        #expect(sender.count(status: 200) == 9)
        #expect(sender.client.counts.connects == 1)
    }

    @Test("a peer that never answers costs its requests their deadline, and is left by the connection")
    func silence() throws {
        let peer = try PythonPeer("silent", directory)
        let sender = try sender(peer) { $0.requestDeadline = .seconds(2) }
        #expect(sender.submit(0..<6) == 6)
        sender.collect(6)
        #expect(sender.count(status: 200) == 1)
        #expect(sender.count(of: .unknown) == 5)
        #expect(sender.client.counts.timeouts == 5)
        #expect(sender.client.inFlight == 0)
    }

    @Test("fewer streams are opened once the peer allows fewer")
    func lowered() throws {
        let peer = try PythonPeer("lower", directory)
        let sender = try sender(peer)
        #expect(sender.submit(0..<60) == 60)
        sender.collect(60)
        #expect(sender.count(status: 200) == 60)
        let events = try peer.finish()
        #expect(events.contains { $0.event == "lowered" })
        // Streams that were open before the change may stay; `violation` is said at each new one beyond the limit.
        #expect(events.filter { $0.event == "violation" }.isEmpty)
        #expect(events.filter { $0.event == "error" }.isEmpty)
    }

    @Test("before the peer's SETTINGS there is one stream")
    func lateSettings() throws {
        let peer = try PythonPeer("late-settings", directory)
        let sender = try sender(peer)
        #expect(sender.submit(0..<20) == 20)
        sender.collect(20)
        #expect(sender.count(status: 200) == 20)
        #expect(try peer.finish().first { $0.event == "settings" }?.before == 1)
    }

    @Test("a connection that breaks in the middle of an answer leaves an unknown outcome; what waited goes on")
    func closedMidway() throws {
        let peer = try PythonPeer("close-mid", directory)
        let sender = try sender(peer)
        #expect(sender.submit(0..<1) == 1)
        sender.collect(1)
        #expect(sender.submit(1..<2) == 1)
        sender.collect(2)
        #expect(sender.submit(2..<4) == 2)
        sender.collect(4)
        #expect(sender.outcomes[1] == .unknown)
        #expect(sender.count(status: 200) == 3)
    }

    @Test("an answer whose header fields would fill 46 MB is cut off; the next request is served")
    func headerBomb() throws {
        let peer = try PythonPeer("bomb", directory)
        let sender = try sender(peer)
        for tag in 0..<3 as Range<UInt64> {
            #expect(sender.submit(tag..<tag + 1) == 1)
            sender.collect(Int(tag) + 1)
        }
        #expect(sender.outcomes[1] == .unknown)
        #expect(sender.count(status: 200) == 2)
    }

    @Test("a frozen peer is found by PING, and its requests have an unknown outcome")
    func frozen() throws {
        let peer = try PythonPeer("accept", directory)
        let sender = try sender(peer) {
            $0.pingInterval = .milliseconds(300)
            $0.pingTimeout = .seconds(1)
            $0.connectTimeout = .seconds(2)
        }
        #expect(sender.submit(0..<1) == 1)
        sender.collect(1)
        peer.peer.stop()
        #expect(sender.submit(1..<2) == 1)
        sender.collect(2, within: .seconds(10))
        #expect(sender.outcomes[1] == .unknown)
        peer.peer.resume()
        #expect(sender.submit(2..<3) == 1)
        sender.collect(3)
        #expect(sender.count(status: 200) == 2)
    }

    @Test(":path and authorization are never indexed; ids, expirations and collapse ids are from their second use on")
    func indexing() throws {
        let peer = try PythonPeer("accept", directory)
        let sender = try sender(peer)
        for tag in 0..<2 as Range<UInt64> {
            #expect(sender.submit(tag..<tag + 1) == 1)
            sender.collect(Int(tag) + 1)
        }
        let requests = try peer.finish().filter { $0.event == "request" }
        #expect(requests.first?.never == [":path", "authorization"])
        #expect(
            requests.last?.never == [":path", "authorization", "apns-id", "apns-expiration", "apns-collapse-id"])
    }

    @Test("a server without HTTP/2 is refused, by name")
    func noHTTP2() throws {
        let peer = try PythonPeer("no-alpn", directory)
        let log = EventLog()
        let sender = try sender(peer) {
            $0.requestDeadline = .seconds(1)
            $0.onEvent = log.add
        }
        #expect(sender.submit(0..<1) == 1)
        sender.collect(1)
        #expect(sender.outcomes[0] == .notSent)
        #expect(log.details(.connectFailed).first == "the peer does not speak HTTP/2")
    }

    @Test("a second connection opens while pushes wait, and goes once it was idle; the first serves on")
    func pool() throws {
        let peer = try PythonPeer("accept", directory)
        let sender = try sender(peer) {
            $0.connectionsPerRoute = 2
            $0.streamsPerConnection = 1
            $0.spareIdleMax = .milliseconds(100)
        }
        #expect(sender.submit(0..<100) == 100)
        sender.collect { $0.outcomes.count == 100 && $0.client.counts.disconnects == 1 }
        #expect(sender.client.counts.connects == 2)
        #expect(sender.submit(100..<101) == 1)
        sender.collect(101)
        #expect(sender.count(status: 200) == 101)
        #expect(sender.client.counts.connects == 2)
    }

    @Test("of six endpoints that want a connection four are connected to at a time")
    func noStorm() throws {
        let peer = try PythonPeer("mute", directory)
        let sender = try sender(peer) {
            $0.routes = Array(repeating: $0.routes[0], count: 6)
            $0.requestDeadline = .seconds(5)
        }
        #expect(sender.client.submit((0..<6).map { Pushes.request(UInt64($0), route: $0) }) == 6)
        sender.collect(6)
        #expect(sender.count(of: .notSent) == 6)
        let accepted = try peer.finish().count { $0.event == "accepted" }
        #expect(accepted == 4)
    }
}
