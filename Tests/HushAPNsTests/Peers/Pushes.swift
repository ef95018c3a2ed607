import Foundation
import HushAPNs
import HushBase

/// Requests and the client's answers for tests.
enum Pushes {
    static func request(_ tag: UInt64, route: Int = 0) -> PushRequest {
        let digits = String(tag, radix: 16)
        let padded = String(repeating: "0", count: 12 - digits.count) + digits
        return PushRequest(
            tag: tag, route: route, token: Array("ab12\(padded)".utf8), topic: Array("com.example.app".utf8),
            kind: .background, priority: 5, expiration: 1_764_583_200, collapseID: Array("hush.order-\(tag)".utf8),
            apnsID: Array("00000000-0000-4000-8000-\(padded)".utf8),
            payload: Array(#"{"aps":{"content-available":1}}"#.utf8))
    }
}

/// A client with what came of its requests.
final class Sender {
    let client: APNsClient
    private(set) var outcomes: [UInt64: PushAnswer.Outcome] = [:]
    private var batch: [PushAnswer] = []

    init(_ configuration: APNsConfiguration) throws {
        client = try APNsClient(configuration)
    }

    static func configuration(
        _ directory: TestDirectory, port: UInt16, host: String = "localhost",
        _ change: (inout APNsConfiguration) -> Void = { _ in }
    ) -> APNsConfiguration {
        var configuration = APNsConfiguration(routes: [
            APNsConfiguration.Route(
                host: host, port: port, connectTo: APNsConfiguration.Endpoint(host: "127.0.0.1", port: port),
                trust: .file(directory.certificates.caFile),
                credential: .token(
                    keyFile: directory.certificates.tokenKeyFile, keyID: "HUSHTEST01", teamID: "TEAM123456"))
        ])
        configuration.requestDeadline = .seconds(20)
        configuration.backoffFirst = .milliseconds(20)
        configuration.backoffCap = .milliseconds(200)
        change(&configuration)
        return configuration
    }

    func submit(_ tags: Range<UInt64>) -> Int {
        client.submit(tags.map { Pushes.request($0) })
    }

    /// Drains until so many requests are answered in all, or the time is over.
    func collect(_ count: Int, within limit: Duration = .seconds(30)) {
        collect(within: limit) { $0.outcomes.count >= count }
    }

    /// Drains until a condition holds, or the time is over.
    func collect(within limit: Duration = .seconds(30), until condition: (Sender) -> Bool) {
        let deadline = ContinuousClock.now + limit
        while !condition(self) && ContinuousClock.now < deadline {
            var entry = pollfd(fd: client.wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
            poll(&entry, 1, 20)
            client.drain(into: &batch)
            for answer in batch {
                precondition(outcomes[answer.tag] == nil, "request \(answer.tag) was answered twice")
                outcomes[answer.tag] = answer.outcome
            }
        }
    }

    func count(of outcome: PushAnswer.Outcome) -> Int {
        outcomes.values.count { $0 == outcome }
    }

    func count(status: UInt16) -> Int {
        outcomes.values.count { outcome in
            if case .answered(status, _, _, _) = outcome { return true }
            return false
        }
    }
}
