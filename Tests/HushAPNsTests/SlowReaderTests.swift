import HushAPNs
import Testing

/// A peer that reads slowly: flow control holds the client's bodies back.
@Suite(.timeLimit(.minutes(2))) struct SlowReaderTests {
    let directory: TestDirectory

    init() throws {
        directory = try TestDirectory()
    }

    /// Sends large pushes over one connection, the first alone, for it opens the stream limit.
    private func send(_ count: UInt64, to server: ScriptedServer) throws -> Sender {
        let sender = try Sender(
            Sender.configuration(directory, port: server.port) { $0.connectionsPerRoute = 1 })
        let requests = (0..<count).map { tag in
            var request = Pushes.request(tag)
            request.payload = Array(repeating: UInt8(ascii: " "), count: 4000)
            return request
        }
        #expect(sender.client.submit(requests) == Int(count))
        return sender
    }

    @Test("a peer that gives no room back gets a window's worth of bodies, and not one more")
    func withheld() throws {
        let server = try ScriptedServer(directory, readBytesPerSecond: 1) { request, _, commands in
            request.accept(&commands)
        }
        let sender = try send(100, to: server)
        // 65,535 bytes hold sixteen bodies of 4,000; half a window is given back after nine hours.
        sender.collect { $0.count(status: 200) >= 16 }
        #expect(sender.count(status: 200) == 16)
        #expect(server.seen.count == 16)
        #expect(server.seen.allSatisfy { $0.body.count == 4000 })
    }

    @Test("a peer that gives room back by and by gets all")
    func delayed() throws {
        let server = try ScriptedServer(directory, readBytesPerSecond: 1_000_000) { request, _, commands in
            request.accept(&commands)
        }
        let sender = try send(100, to: server)
        sender.collect(100)
        #expect(sender.count(status: 200) == 100)
        #expect(server.opened == 1)
    }
}
