import Foundation
import HushAPNs
import Testing

/// python-h2 with a script: a peer that shares no code with ours.
struct PythonPeer {
    struct Event: Decodable {
        var event: String
        var connection: Int
        var stream: Int?
        var path: String?
        var never: [String]?
        var before: Int?
        var open: Int?
        var text: String?
        var authorization: String?
    }

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// The interpreter that `scripts/setup` gives python-h2.
    static let interpreter: String? = {
        let path = root + "/.venv/bin/python3"
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }()

    let peer: Peer

    init(_ scenario: String, _ directory: TestDirectory) throws {
        let interpreter = try #require(Self.interpreter)
        peer = try Peer(
            interpreter,
            [
                Self.root + "/Tests/Peers/h2_peer.py", "PORT", directory.certificates.certificateFile,
                directory.certificates.keyFile, scenario,
            ])
    }

    /// `connect_proxy.py` in one of its modes.
    init(proxy mode: String) throws {
        let interpreter = try #require(Self.interpreter)
        peer = try Peer(interpreter, [Self.root + "/Tests/Peers/connect_proxy.py", "PORT", mode])
    }

    var port: UInt16 { peer.port }

    /// Ends the peer; what it saw.
    func finish() throws -> [Event] {
        try peer.finish().split(separator: "\n").map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
    }
}
