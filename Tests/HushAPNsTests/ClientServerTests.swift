import HushAPNs
import Testing

/// The client against our own server; other peers are in the other suites.
@Suite struct ClientServerTests {
    let directory: TestDirectory

    init() throws {
        directory = try TestDirectory()
    }

    @Test("a request carries what Apple asks for, and nothing else")
    func headers() throws {
        let server = try ScriptedServer(directory) { request, _, commands in request.accept(&commands) }
        let sender = try Sender(Sender.configuration(directory, port: server.port))
        #expect(sender.submit(7..<8) == 1)
        sender.collect(1)
        let seen = try #require(server.seen.first)
        #expect(
            seen.names == [
                ":method", ":scheme", ":path", ":authority", "authorization", "apns-topic", "apns-push-type",
                "apns-priority", "apns-id", "apns-expiration", "apns-collapse-id",
            ])
        #expect(seen.headers[":method"] == "POST")
        #expect(seen.headers[":path"] == "/3/device/ab12000000000007")
        #expect(seen.headers[":authority"] == "localhost:\(server.port)")
        #expect(seen.headers["apns-topic"] == "com.example.app")
        #expect(seen.headers["apns-push-type"] == "background")
        #expect(seen.headers["apns-priority"] == "5")
        #expect(seen.headers["apns-id"] == "00000000-0000-4000-8000-000000000007")
        #expect(seen.headers["apns-expiration"] == "1764583200")
        #expect(seen.headers["apns-collapse-id"] == "hush.order-7")
        #expect(seen.body == Array(#"{"aps":{"content-available":1}}"#.utf8))
    }

    @Test("the reason, the timestamp in milliseconds and Retry-After come back as APNs sent them")
    func reasons() throws {
        let server = try ScriptedServer(directory) { request, _, commands in
            if request.tag == 1 {
                request.refuse(410, #"{"reason":"Unregistered","timestamp":1764583200123}"#, &commands)
            } else {
                let headers: [(name: StaticString, value: [UInt8])] = [("retry-after", Array("17".utf8))]
                request.refuse(503, #"{"reason":"ServiceUnavailable"}"#, headers: headers, &commands)
            }
        }
        let sender = try Sender(Sender.configuration(directory, port: server.port))
        #expect(sender.submit(1..<3) == 2)
        sender.collect(2)
        #expect(
            sender.outcomes[1]
                == .answered(
                    status: 410, reason: Array("Unregistered".utf8), retryAfterSeconds: nil,
                    timestampMillis: 1_764_583_200_123))
        #expect(
            sender.outcomes[2]
                == .answered(
                    status: 503, reason: Array("ServiceUnavailable".utf8), retryAfterSeconds: 17, timestampMillis: nil))
    }

    @Test("five thousand requests over two threads are each answered once, with error bodies among them")
    func many() throws {
        let server = try ScriptedServer(directory) { request, _, commands in
            if request.tag.isMultiple(of: 3) {
                request.refuse(400, #"{"reason":"BadDeviceToken"}"#, &commands)
            } else {
                request.accept(&commands)
            }
        }
        let sender = try Sender(Sender.configuration(directory, port: server.port) { $0.threads = 2 })
        #expect(sender.submit(0..<5000) == 5000)
        sender.collect(5000)
        #expect(sender.count(status: 200) == 3333)
        #expect(sender.count(status: 400) == 1667)
    }
}
