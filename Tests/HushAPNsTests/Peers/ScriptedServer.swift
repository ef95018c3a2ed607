import HushAPNs
import HushBase
import Synchronization

/// Our server with a script: what it saw is kept, and a closure decides about each request.
final class ScriptedServer: Sendable {
    struct Seen: Sendable {
        var connection: UInt64
        var stream: Int32
        var headers: [String: String]
        var names: [String]
        var body: [UInt8]

        /// The tag of `Pushes.request`, from the end of the device token.
        var tag: UInt64 { UInt64(headers[":path", default: ""].suffix(12), radix: 16) ?? .max }
    }

    typealias Script = @Sendable (_ request: Seen, _ number: Int, _ commands: inout H2Commands) -> Void

    private final class State: Sendable {
        let seen = Mutex<[Seen]>([])
        let opened = Atomic(0)
    }

    private struct Handler: H2Handler {
        let state: State
        let script: Script
        var number = 0

        mutating func received(_ request: H2Request, at now: MonotonicTime, commands: inout H2Commands) {
            var headers: [String: String] = [:]
            var names: [String] = []
            for index in 0..<request.headerCount {
                let (name, value) = request.header(index)
                names.append(String(decoding: name, as: UTF8.self))
                headers[names[index]] = String(decoding: value, as: UTF8.self)
            }
            let seen = Seen(
                connection: request.id.connection, stream: request.id.stream, headers: headers, names: names,
                body: request.body)
            state.seen.withLock { $0.append(seen) }
            script(seen, number, &commands)
            number += 1
        }

        mutating func opened(connection: UInt64, at now: MonotonicTime, commands: inout H2Commands) {
            state.opened.add(1, ordering: .relaxed)
        }
    }

    let server: H2Server
    private let state = State()

    init(
        _ directory: TestDirectory, streamsMax: Int = 1000, port: UInt16 = 0, readBytesPerSecond: Int? = nil,
        _ script: @escaping Script
    ) throws {
        var options = H2ServerOptions(
            certificateFile: directory.certificates.certificateFile, keyFile: directory.certificates.keyFile)
        options.streamsMax = streamsMax
        options.port = port
        options.readBytesPerSecond = { _ in readBytesPerSecond }
        let state = state
        server = try H2Server(options) { Handler(state: state, script: script) }
    }

    var port: UInt16 { server.port }
    var seen: [Seen] { state.seen.withLock { $0 } }
    var opened: Int { state.opened.load(ordering: .relaxed) }
}

extension ScriptedServer.Seen {
    var id: H2StreamID { H2StreamID(connection: connection, stream: stream) }

    func accept(_ commands: inout H2Commands, after delay: Duration = .zero) {
        let apnsID = Array(headers["apns-id", default: ""].utf8)
        commands.add(.respond(id, H2Response(status: 200, headers: [("apns-id", apnsID)])), after: delay)
    }

    func refuse(
        _ status: UInt16, _ body: String, headers: [(name: StaticString, value: [UInt8])] = [],
        _ commands: inout H2Commands
    ) {
        commands.add(.respond(id, H2Response(status: status, headers: headers, body: Array(body.utf8))))
    }
}
