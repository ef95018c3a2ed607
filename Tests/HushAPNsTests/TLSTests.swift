import HushAPNs
import Testing

/// Servers that must not be believed.
@Suite(.timeLimit(.minutes(2))) struct TLSTests {
    private func failure(
        names: [String] = ["localhost"], validFor seconds: Int64 = 3600, trust: TestDirectory? = nil
    ) throws -> String? {
        let directory = try TestDirectory(names: names, validFor: seconds)
        let server = try ScriptedServer(directory) { request, _, commands in request.accept(&commands) }
        let log = EventLog()
        let sender = try Sender(
            Sender.configuration(directory, port: server.port) {
                if let trust { $0.routes[0].trust = .file(trust.certificates.caFile) }
                $0.requestDeadline = .seconds(1)
                $0.onEvent = log.add
            })
        #expect(sender.submit(0..<1) == 1)
        sender.collect(1)
        #expect(sender.outcomes[0] == .notSent)
        #expect(server.seen.isEmpty)
        return log.details(.connectFailed).first
    }

    @Test("a certificate of another host is refused")
    func wrongHost() throws {
        #expect(
            try failure(names: ["other.example"])
                == "the certificate of the server is not valid: hostname mismatch")
    }

    @Test("a certificate of an authority that is not trusted is refused")
    func untrusted() throws {
        let reason = try failure(trust: TestDirectory())
        #expect(reason?.hasPrefix("the certificate of the server is not valid: ") == true)
    }

    @Test("a certificate that has expired is refused")
    func expired() throws {
        #expect(
            try failure(validFor: -60) == "the certificate of the server is not valid: certificate has expired")
    }
}
