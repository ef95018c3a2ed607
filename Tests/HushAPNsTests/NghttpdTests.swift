import HushAPNs
import Testing

private let nghttpd = Peer.find("nghttpd")

@Suite(.enabled(if: nghttpd != nil, "needs nghttpd of the package nghttp2"), .serialized)
struct NghttpdTests {
    let directory: TestDirectory
    let peer: Peer

    init() throws {
        directory = try TestDirectory()
        let program = try #require(nghttpd)
        peer = try Peer(
            program,
            [
                "--echo-upload", "-d", directory.path, "PORT", directory.certificates.keyFile,
                directory.certificates.certificateFile,
            ])
    }

    @Test("a thousand requests are each answered once")
    func answers() throws {
        let sender = try Sender(Sender.configuration(directory, port: peer.port))
        #expect(sender.submit(0..<1000) == 1000)
        sender.collect(1000)
        #expect(sender.count(status: 200) == 1000)
        #expect(sender.client.inFlight == 0)
        #expect(sender.client.counts.accepted == 1000)
    }
}
