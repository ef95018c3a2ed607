import Foundation
import HushAPNs
import Testing

/// Credentials that are certificates, and files that change under a running client, against python-h2.
@Suite(
    .enabled(if: PythonPeer.interpreter != nil, "needs python-h2 in .venv: scripts/setup"), .serialized,
    .timeLimit(.minutes(2)))
struct CredentialTests {
    let directory: TestDirectory

    init() throws {
        directory = try TestDirectory()
    }

    private func sender(
        _ peer: PythonPeer, _ credential: APNsConfiguration.Credential, _ log: EventLog = EventLog()
    ) throws -> Sender {
        try Sender(
            Sender.configuration(directory, port: peer.port) {
                $0.connectionsPerRoute = 1
                $0.routes[0].credential = credential
                $0.credentialInterval = .milliseconds(20)
                $0.onEvent = log.add
            })
    }

    /// Puts a copy in the place of a file, at once.
    private func put(_ source: String, at path: String) throws {
        try FileManager.default.copyItem(atPath: source, toPath: path + ".new")
        guard rename(path + ".new", path) == 0 else { throw POSIXError(.EIO) }
    }

    private func push(_ tag: UInt64, _ sender: Sender) {
        #expect(sender.submit(tag..<tag + 1) == 1)
        sender.collect(Int(tag) + 1)
    }

    @Test("a server that demands a certificate gets the provider's, and no token")
    func certificate() throws {
        let peer = try PythonPeer("mtls", directory)
        let files = directory.certificates
        let sender = try sender(
            peer, .certificate(certificateFile: files.providerFile, keyFile: files.providerKeyFile))
        #expect(sender.submit(0..<20) == 20)
        sender.collect(20)
        #expect(sender.count(status: 200) == 20)
        let events = try peer.finish()
        #expect(events.filter { $0.event == "client" }.map(\.text) == ["hush test provider"])
        #expect(events.allSatisfy { $0.authorization == nil })
    }

    @Test("a certificate that is renewed in its place is used by the next connection, without a restart")
    func renewedCertificate() throws {
        let peer = try PythonPeer("mtls", directory)
        let stranger = try TestDirectory()
        let (file, key) = (directory.path + "/live.pem", directory.path + "/live-key.pem")
        try put(stranger.certificates.providerFile, at: file)
        try put(stranger.certificates.providerKeyFile, at: key)
        let log = EventLog()
        let sender = try sender(peer, .certificate(certificateFile: file, keyFile: key), log)
        #expect(sender.submit(0..<1) == 1)
        sender.collect { _ in !log.details(.closed).isEmpty || !log.details(.connectFailed).isEmpty }
        // One of the two files alone does not fit; what was read before stays.
        try put(directory.certificates.providerFile, at: file)
        sender.collect { _ in !log.details(.credentialBad).isEmpty }
        #expect(log.details(.credentialBad).first?.hasSuffix("; the one that was read before stays in use") == true)
        try put(directory.certificates.providerKeyFile, at: key)
        sender.collect { _ in !log.details(.credentialRenewed).isEmpty }
        // What was on its way when the server refused may be unknown; what follows is served.
        sender.collect(1)
        #expect(sender.submit(1..<2) == 1)
        sender.collect(2)
        #expect(sender.outcomes[1] == .answered(status: 200, reason: [], retryAfterSeconds: nil, timestampMillis: nil))
        #expect(sender.client.credentialVersion(route: 0) == 1)
    }

    @Test("a token key that is replaced signs at once, over a new connection; a bad file keeps the old key")
    func renewedKey() throws {
        let peer = try PythonPeer("accept", directory)
        let key = directory.path + "/live.p8"
        try put(directory.certificates.tokenKeyFile, at: key)
        let log = EventLog()
        let sender = try sender(peer, .token(keyFile: key, keyID: "HUSHTEST01", teamID: "TEAM123456"), log)
        push(0, sender)
        try put(directory.certificates.certificateFile, at: key)
        sender.collect { _ in !log.details(.credentialBad).isEmpty }
        #expect(log.details(.credentialBad).first?.contains("live.p8 is not a private key in PEM") == true)
        push(1, sender)
        let other = try TestDirectory()
        try put(other.certificates.tokenKeyFile, at: key)
        sender.collect { $0.client.counts.tokens == 2 && $0.client.counts.disconnects == 1 }
        push(2, sender)
        #expect(sender.count(status: 200) == 3)
        #expect(sender.client.credentialVersion(route: 0) == 1)
        let requests = try peer.finish().filter { $0.event == "request" }
        #expect(requests.map(\.connection) == [1, 1, 2])
        #expect(requests[0].authorization == requests[1].authorization)
        #expect(requests[1].authorization != requests[2].authorization)
    }

    @Test("a key's id comes from the name of the file that it links to, and changes with the link")
    func linkedKey() throws {
        let peer = try PythonPeer("accept", directory)
        let (link, second) = (directory.path + "/key.p8", directory.path + "/AuthKey_SECOND0002.p8")
        try FileManager.default.copyItem(atPath: directory.certificates.tokenKeyFile, toPath: second)
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: directory.certificates.tokenKeyFile)
        let sender = try sender(peer, .token(keyFile: link, keyID: "", teamID: "TEAM123456"))
        push(0, sender)
        try FileManager.default.createSymbolicLink(atPath: link + ".new", withDestinationPath: second)
        #expect(rename(link + ".new", link) == 0)
        sender.collect { $0.client.counts.tokens == 2 && $0.client.counts.disconnects == 1 }
        push(1, sender)
        let keyIDs = try peer.finish().compactMap(\.authorization).map { text in
            let head = text.dropFirst("bearer ".count).prefix { $0 != "." }
            let padded = head.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
            let whole = padded + String(repeating: "=", count: (4 - padded.count % 4) % 4)
            return String(decoding: try #require(Data(base64Encoded: whole)), as: UTF8.self)
        }
        #expect(
            keyIDs == [#"{"alg":"ES256","kid":"HUSHTEST01"}"#, #"{"alg":"ES256","kid":"SECOND0002"}"#])
    }
}
