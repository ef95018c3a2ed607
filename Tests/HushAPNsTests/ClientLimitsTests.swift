import Foundation
import HushAPNs
import Synchronization
import Testing

/// What the client holds back, gives up and tells, against our server.
@Suite(.timeLimit(.minutes(2))) struct ClientLimitsTests {
    let directory: TestDirectory

    init() throws {
        directory = try TestDirectory()
    }

    private func sender(
        _ server: ScriptedServer, _ change: (inout APNsConfiguration) -> Void = { _ in }
    ) throws -> Sender {
        try Sender(
            Sender.configuration(directory, port: server.port) {
                $0.connectionsPerRoute = 1
                change(&$0)
            })
    }

    @Test("a token that was never accepted has one stream; what waited certainly was not sent")
    func oneStreamBeforeTheFirstAnswer() throws {
        let server = try ScriptedServer(directory) { _, _, _ in }
        let sender = try sender(server) { $0.requestDeadline = .seconds(1) }
        #expect(sender.submit(0..<3) == 3)
        sender.collect(3)
        #expect(sender.count(of: .unknown) == 1)
        #expect(sender.count(of: .notSent) == 2)
    }

    @Test("no more streams are open than the peer allows")
    func streams() throws {
        let server = try ScriptedServer(directory, streamsMax: 10) { request, number, commands in
            if number == 0 { request.accept(&commands) }
        }
        let sender = try sender(server) { $0.requestDeadline = .seconds(1) }
        #expect(sender.submit(0..<30) == 30)
        sender.collect(30)
        #expect(sender.count(status: 200) == 1)
        #expect(sender.count(of: .unknown) == 10)
        #expect(sender.count(of: .notSent) == 19)
    }

    @Test("a hundred timeouts without an answer end the connection instead of resetting each stream")
    func manyTimeouts() throws {
        let server = try ScriptedServer(directory) { request, number, commands in
            if number == 0 { request.accept(&commands) }
        }
        let log = EventLog()
        let sender = try sender(server) {
            $0.requestDeadline = .seconds(1)
            $0.onEvent = log.add
        }
        #expect(sender.submit(0..<301) == 301)
        sender.collect(301)
        #expect(sender.count(of: .unknown) == 300)
        #expect(log.details(.closed) == ["300 requests without an answer"])
    }

    @Test("dropped connections: what was written is unknown, what waited is not sent, and new requests go on")
    func drop() throws {
        let server = try ScriptedServer(directory, streamsMax: 3) { request, number, commands in
            if number == 0 || request.tag >= 100 { request.accept(&commands) }
        }
        let sender = try sender(server)
        #expect(sender.submit(0..<1) == 1)
        sender.collect(1)
        #expect(sender.submit(1..<6) == 5)
        sender.collect { _ in server.seen.count == 4 }
        sender.client.dropConnections()
        sender.collect(6)
        #expect(sender.count(of: .unknown) == 3)
        #expect(sender.count(of: .notSent) == 2)
        #expect(sender.submit(100..<101) == 1)
        sender.collect(7)
        #expect(sender.count(status: 200) == 2)
    }

    @Test("a full client takes what fits, and more after its answers were drained")
    func capacity() throws {
        let server = try ScriptedServer(directory) { request, _, commands in request.accept(&commands) }
        let sender = try sender(server) { $0.queueCapacity = 8 }
        #expect(sender.submit(0..<20) == 8)
        #expect(sender.submit(8..<20) == 0)
        sender.collect(8)
        #expect(sender.submit(8..<20) == 8)
        sender.collect(16)
        #expect(sender.client.inFlight == 0)
    }

    @Test("closing waits for answers up to its deadline")
    func closing() throws {
        let server = try ScriptedServer(directory) { request, number, commands in
            if request.tag < 10 { request.accept(&commands, after: .milliseconds(200)) }
        }
        let patient = try sender(server)
        #expect(patient.submit(0..<10) == 10)
        patient.client.close(deadline: .seconds(20))
        patient.collect(10)
        #expect(patient.count(status: 200) == 10)
        #expect(patient.submit(0..<1) == 0)

        let hasty = try sender(server)
        #expect(hasty.submit(10..<11) == 1)
        hasty.collect { _ in server.seen.count == 11 }
        hasty.client.close(deadline: .milliseconds(100))
        hasty.collect(1)
        #expect(hasty.outcomes[10] == .unknown)
    }

    @Test("a connection that was closed is replaced with a resumed TLS session")
    func resumption() throws {
        let server = try ScriptedServer(directory) { request, _, commands in
            request.accept(&commands)
            commands.add(.close(connection: request.connection), after: .milliseconds(50))
        }
        let sender = try sender(server)
        for tag in 0..<3 as Range<UInt64> {
            #expect(sender.submit(tag..<tag + 1) == 1)
            sender.collect(Int(tag) + 1)
            sender.collect { $0.client.counts.disconnects == tag + 1 }
        }
        #expect(sender.count(status: 200) == 3)
        #expect(sender.client.counts.connects == 3)
        #expect(sender.client.counts.resumptions == 2)
    }

    @Test("an idle connection is asked by PING and stays")
    func idle() throws {
        let server = try ScriptedServer(directory) { request, _, commands in request.accept(&commands) }
        let sender = try sender(server) {
            $0.pingInterval = .milliseconds(100)
            $0.pingTimeout = .seconds(20)
        }
        #expect(sender.submit(0..<1) == 1)
        sender.collect { $0.client.counts.pings >= 3 }
        #expect(sender.client.counts.pings >= 3)
        #expect(sender.client.counts.disconnects == 0)
    }

    @Test("without a server the client tries again with pauses, and what waits is served once it is there")
    func serverComesLate() throws {
        let gone = try ScriptedServer(directory) { _, _, _ in }
        let port = gone.port
        gone.server.close()
        let log = EventLog()
        let sender = try Sender(Sender.configuration(directory, port: port) { $0.onEvent = log.add })
        #expect(sender.submit(0..<1) == 1)
        sender.collect { $0.client.counts.connectFailures >= 3 }
        #expect(log.details(.connectFailed).first == "connect: Connection refused (errno 111)")
        let server = try ScriptedServer(directory, port: port) { request, _, commands in request.accept(&commands) }
        sender.collect(1)
        #expect(sender.count(status: 200) == 1)
        #expect(server.opened == 1)
    }

    @Test("the reason of a GOAWAY is told")
    func goAwayReason() throws {
        let server = try ScriptedServer(directory) { request, number, commands in
            request.accept(&commands)
            if number == 0 {
                let debug = Array(#"{"reason":"Shutdown"}"#.utf8)
                commands.add(.goAway(connection: request.connection, lastStream: nil, debug: debug))
            }
        }
        let log = EventLog()
        let sender = try sender(server) { $0.onEvent = log.add }
        #expect(sender.submit(0..<20) == 20)
        sender.collect(20)
        #expect(sender.count(status: 200) == 20)
        #expect(log.details(.goAway) == [#"last stream 1, code 0, {"reason":"Shutdown"}"#])
    }

    @Test("a fresh token that APNs calls expired is not replaced: the answer is the caller's, the connection is")
    func expiredToken() throws {
        let server = try ScriptedServer(directory) { request, number, commands in
            if number == 0 {
                request.refuse(403, #"{"reason":"ExpiredProviderToken"}"#, &commands)
            } else {
                request.accept(&commands)
            }
        }
        let sender = try sender(server)
        #expect(sender.submit(0..<2) == 2)
        sender.collect(2)
        #expect(sender.count(status: 403) == 1)
        #expect(sender.count(status: 200) == 1)
        #expect(Set(server.seen.map(\.connection)).count == 2)
        #expect(Set(server.seen.map { $0.headers["authorization", default: ""] }).count == 1)
    }

    @Test("a request that APNs would refuse is refused without asking, in its words")
    func refusedHere() throws {
        let server = try ScriptedServer(directory) { request, _, commands in request.accept(&commands) }
        let sender = try sender(server)
        var request = Pushes.request(1)
        request.payload = [UInt8](repeating: 0x20, count: 4097)
        #expect(sender.client.submit([request]) == 1)
        sender.collect(1)
        #expect(
            sender.outcomes[1]
                == .answered(
                    status: 413, reason: Array("PayloadTooLarge".utf8), retryAfterSeconds: nil, timestampMillis: nil))
        #expect(server.seen.isEmpty)
    }

    @Test("16: a peer that refuses a stream for ever gets it nine times; then it certainly was not sent")
    func refusedForEver() throws {
        let server = try ScriptedServer(directory) { request, _, commands in
            if request.tag == 0 { return request.accept(&commands) }
            commands.add(.reset(request.id, code: 7))  // REFUSED_STREAM
        }
        let sender = try sender(server)
        #expect(sender.submit(0..<1) == 1)
        sender.collect(1)
        #expect(sender.submit(1..<3) == 2)
        sender.collect(3)
        #expect(sender.count(of: .notSent) == 2)
        #expect(server.seen.count { $0.tag == 1 } == 9 && server.seen.count { $0.tag == 2 } == 9)
        #expect(sender.client.counts.resent == 16)
    }

    @Test(
        "17: whatever APNs answers is the caller's to repeat: the client sends each request once",
        arguments: [
            (503, "ServiceUnavailable", false), (503, "Shutdown", true), (500, "InternalServerError", false),
            (429, "TooManyRequests", false), (429, "TooManyProviderTokenUpdates", true), (400, "IdleTimeout", true),
            (403, "UnrelatedKeyIdInToken", true), (403, "InvalidProviderToken", false),
        ] as [(UInt16, String, Bool)])
    func once(status: UInt16, reason: String, leavesConnection: Bool) throws {
        let server = try ScriptedServer(directory) { request, _, commands in
            if request.tag == 1 {
                request.refuse(status, #"{"reason":"\#(reason)"}"#, &commands)
            } else {
                request.accept(&commands)
            }
        }
        let sender = try sender(server)
        for tag in 0..<3 as Range<UInt64> {
            #expect(sender.submit(tag..<tag + 1) == 1)
            sender.collect(Int(tag) + 1)
        }
        #expect(sender.count(status: status) == 1 && sender.count(status: 200) == 2)
        #expect(server.seen.map(\.tag) == [0, 1, 2])
        #expect(sender.client.counts.resent == 0)
        // What concerns the connection makes the next request go on another one.
        #expect((server.seen[1].connection != server.seen[2].connection) == leavesConnection)
    }

    @Test("43: an expiration of 0 is sent as 0, and none is not sent at all")
    func expirations() throws {
        let server = try ScriptedServer(directory) { request, _, commands in request.accept(&commands) }
        let sender = try sender(server)
        var requests = [Pushes.request(0), Pushes.request(1)]
        requests[0].expiration = 0
        requests[1].expiration = nil
        #expect(sender.client.submit(requests) == 2)
        sender.collect(2)
        let seen = server.seen.sorted { $0.tag < $1.tag }
        #expect(seen.map { $0.headers["apns-expiration"] } == ["0", nil])
        #expect(seen.map { $0.names.contains("apns-expiration") } == [true, false])
    }

    @Test("9: a client that stood still writes nothing more, says that it halted, and goes on when it is told to")
    func stoodStill() throws {
        let server = try ScriptedServer(directory) { request, _, commands in request.accept(&commands) }
        let log = EventLog()
        let isFirst = Mutex(true)
        let sender = try sender(server) {
            $0.stopLimit = .seconds(2)
            $0.onEvent = { event in
                log.add(event)
                let stops =
                    event.kind == .connected
                    && isFirst.withLock { isFirst in
                        defer { isFirst = false }
                        return isFirst
                    }
                // The loop stands still between the handshake and its first request, as in a frozen process.
                let deadline = ContinuousClock.now + .milliseconds(stops ? 2100 : 0)
                while ContinuousClock.now < deadline { usleep(10_000) }
            }
        }
        #expect(sender.submit(0..<3) == 3)
        sender.collect(3)
        #expect(sender.count(of: .notSent) == 3)
        #expect(server.seen.isEmpty)
        #expect(sender.client.isHalted && log.details(.stopped).count == 1)
        #expect(sender.submit(3..<4) == 0)
        // A machine that is slow enough may stop it again.
        for tag in 3..<10 as Range<UInt64> where sender.count(status: 200) == 0 {
            sender.client.resume()
            #expect(sender.submit(tag..<tag + 1) == 1)
            sender.collect(Int(tag) + 1)
        }
        #expect(sender.count(status: 200) == 1)
    }
}
