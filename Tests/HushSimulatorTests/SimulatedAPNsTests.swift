import Foundation
import HushAPNs
import HushBase
import HushCore
import HushKit
import HushSimulator
import Synchronization
import Testing

@Suite("The simulated APNs over HTTP/2")
struct SimulatedAPNsTests {
    /// A server with its directory, and what it accepted.
    private final class Rig {
        let apns: SimulatedAPNs
        private let accepted: AcceptedLog
        private let directory: URL

        init(_ change: (inout SimulatedAPNsOptions) -> Void = { _ in }) throws {
            directory = FileManager.default.temporaryDirectory.appending(path: "hush-apns-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            var options = SimulatedAPNsOptions(directory: directory.path, topics: ["com.example.app"])
            change(&options)
            let accepted = AcceptedLog()
            self.accepted = accepted
            apns = try SimulatedAPNs(
                options, onAccept: { push in accepted.pushes.withLock { $0.append(push) } },
                onBreak: { broken in accepted.broken.withLock { $0.append(broken) } })
        }

        deinit {
            apns.close()
            try? FileManager.default.removeItem(at: directory)
        }

        var pushes: [AcceptedPush] { accepted.pushes.withLock { $0 } }
        var broken: [BrokenConnection] { accepted.broken.withLock { $0 } }

        var path: String { directory.path }

        /// The way here, signed in by a key.
        func route(teamID: String? = nil, keyFile: String? = nil) -> APNsConfiguration.Route {
            APNsConfiguration.Route(
                host: "localhost", port: apns.port,
                connectTo: APNsConfiguration.Endpoint(host: "127.0.0.1", port: apns.port), trust: .file(apns.caFile),
                credential: .token(
                    keyFile: keyFile ?? apns.tokenKeyFile, keyID: apns.keyID, teamID: teamID ?? apns.teamID))
        }

        func client(teamID: String? = nil, deadline: Duration = .seconds(20)) throws -> APNsClient {
            try Self.client([route(teamID: teamID)], deadline: deadline)
        }

        static func client(
            _ routes: [APNsConfiguration.Route], deadline: Duration = .seconds(20)
        ) throws -> APNsClient {
            var configuration = APNsConfiguration(routes: routes)
            configuration.credentialInterval = .milliseconds(20)
            configuration.requestDeadline = deadline
            configuration.backoffFirst = .milliseconds(20)
            configuration.backoffCap = .milliseconds(200)
            return try APNsClient(configuration)
        }
    }

    private final class AcceptedLog: Sendable {
        let pushes = Mutex<[AcceptedPush]>([])
        let broken = Mutex<[BrokenConnection]>([])
    }

    private static func request(
        _ tag: UInt64, topic: String = "com.example.app", route: Int = 0
    ) -> PushRequest {
        let digits = String(tag, radix: 16)
        let padded = String(repeating: "0", count: 12 - digits.count) + digits
        return PushRequest(
            tag: tag, route: route, token: Array("ab12\(padded)".utf8), topic: Array(topic.utf8), kind: .background,
            priority: 5, expiration: 0, collapseID: nil, apnsID: Array("00000000-0000-4000-8000-\(padded)".utf8),
            payload: Array(#"{"aps":{"content-available":1},"dlt":1}"#.utf8))
    }

    /// Sends, and waits until all are answered or half a minute is over.
    private static func send(_ requests: [PushRequest], with client: APNsClient) -> [UInt64: PushAnswer.Outcome] {
        var outcomes: [UInt64: PushAnswer.Outcome] = [:]
        var batch: [PushAnswer] = []
        guard client.submit(requests) == requests.count else { return [:] }
        let deadline = ContinuousClock.now + .seconds(30)
        while outcomes.count < requests.count && ContinuousClock.now < deadline {
            _ = client.wakeUp.wait(atMost: .milliseconds(50))
            client.drain(into: &batch)
            for answer in batch { outcomes[answer.tag] = answer.outcome }
        }
        return outcomes
    }

    private static func status(_ outcome: PushAnswer.Outcome?) -> UInt16? {
        if case .answered(let status, _, _, _) = outcome { status } else { nil }
    }

    @Test("our client's pushes pass its rules, and arrive with their headers and payload")
    func accepts() throws {
        let rig = try Rig()
        let client = try rig.client()
        defer { client.close(deadline: .seconds(2)) }
        let outcomes = Self.send([Self.request(7)], with: client)
        #expect(Self.status(outcomes[7]) == 200)
        let push = try #require(rig.pushes.first)
        #expect(push.apnsID == "00000000-0000-4000-8000-000000000007")
        #expect(push.delivered.token == "ab12000000000007")
        #expect(!push.delivered.isAlert)
        #expect(push.payload["dlt"] == 1)
    }

    @Test("pushes survive GOAWAY after every few streams: each is accepted once")
    func goAway() throws {
        let rig = try Rig { $0.faults.goAwayEvery = 20 }
        let client = try rig.client()
        defer { client.close(deadline: .seconds(2)) }
        let outcomes = Self.send((0..<300).map { Self.request($0) }, with: client)
        #expect(outcomes.values.filter { Self.status($0) == 200 }.count == 300)
        #expect(Set(rig.pushes.map(\.apnsID)).count == 300)
    }

    @Test("a dead token, a wrong topic and a wrong team have their answers")
    func refuses() throws {
        let rig = try Rig()
        rig.apns.bury("ab12000000000001", at: Timestamp(millis: 1_764_583_200_123))
        let client = try rig.client()
        defer { client.close(deadline: .seconds(2)) }
        let outcomes = Self.send([Self.request(1), Self.request(2, topic: "com.example.other")], with: client)
        #expect(
            outcomes[1]
                == .answered(
                    status: 410, reason: Array("Unregistered".utf8), retryAfterSeconds: nil,
                    timestampMillis: 1_764_583_200_123))
        #expect(
            outcomes[2]
                == .answered(
                    status: 400, reason: Array("TopicDisallowed".utf8), retryAfterSeconds: nil, timestampMillis: nil))
        let stranger = try rig.client(teamID: "OTHERTEAM1")
        defer { stranger.close(deadline: .seconds(2)) }
        #expect(Self.status(Self.send([Self.request(3)], with: stranger)[3]) == 403)
        #expect(rig.apns.counts.rejected["InvalidProviderToken"] == 1)
    }

    @Test("a connection that ends before its answers tells which are missing")
    func breaks() throws {
        let rig = try Rig { $0.faults.latency = .seconds(60) ... .seconds(60) }
        let client = try rig.client()
        #expect(client.submit([Self.request(7)]) == 1)
        let deadline = ContinuousClock.now + .seconds(30)
        while rig.pushes.isEmpty && ContinuousClock.now < deadline { _ = client.wakeUp.wait(atMost: .milliseconds(20)) }
        client.close(deadline: .zero)
        while rig.broken.isEmpty && ContinuousClock.now < deadline { _ = client.wakeUp.wait(atMost: .milliseconds(20)) }
        #expect(rig.broken.map(\.unanswered) == [["00000000-0000-4000-8000-000000000007"]])
    }

    @Test("a reset leaves the sender without an answer, whether the push arrived or not")
    func reset() throws {
        let rig = try Rig { $0.faults.reset = 1 }
        let client = try rig.client()
        defer { client.close(deadline: .seconds(2)) }
        let outcomes = Self.send((0..<40).map { Self.request($0) }, with: client)
        #expect(outcomes.values.filter { $0 == .unknown }.count == 40)
        #expect((5...35).contains(rig.pushes.count))
        #expect(rig.pushes.allSatisfy { !$0.isAnswered })
    }

    @Test("each status and reason of the table comes over the wire as it is, and asks for what the table says")
    func everyReason() throws {
        let rig = try Rig()
        let client = try rig.client()
        defer { client.close(deadline: .seconds(2)) }
        for (index, row) in APNsReason.all.enumerated() {
            let request = Self.request(UInt64(index))
            rig.apns.answer(Bytes(request.token), with: row)
            let outcome = Self.send([request], with: client)[UInt64(index)]
            guard case .answered(let status, let reason, nil, let timestamp) = outcome else {
                Issue.record("\(row.name): \(String(describing: outcome))")
                continue
            }
            #expect(status == row.status && reason == row.name.raw)
            #expect((timestamp != nil) == (row.status == 410), "\(row.name)")
            #expect(APNsReason.classify(status: status, reason: reason) == row.answer)
        }
        #expect(rig.apns.counts.rejected == Dictionary(uniqueKeysWithValues: APNsReason.all.map { ($0.name, 1) }))
        #expect(Self.status(Self.send([Self.request(99)], with: client)[99]) == 200)
    }

    @Test("two teams and apps go to their own endpoints side by side, and neither key is good at the other's")
    func twoTeams() throws {
        let one = try Rig()
        let two = try Rig {
            $0.topics = ["com.example.shop"]
            $0.keyID = "SHOPKEY001"
            $0.teamID = "SHOPTEAM01"
        }
        let client = try Rig.client([
            one.route(), two.route(), two.route(teamID: one.apns.teamID, keyFile: one.apns.tokenKeyFile),
        ])
        defer { client.close(deadline: .seconds(2)) }
        let requests = [
            Self.request(1), Self.request(2, topic: "com.example.shop", route: 1),
            Self.request(3, topic: "com.example.shop", route: 2),
        ]
        let outcomes = Self.send(requests, with: client)
        #expect(Self.status(outcomes[1]) == 200 && Self.status(outcomes[2]) == 200)
        #expect(Self.status(outcomes[3]) == 403)
        #expect(one.pushes.count == 1 && two.pushes.count == 1)
    }

    @Test("a key that APNs refuses is mended by putting the right file in its place")
    func mendedKey() throws {
        let rig = try Rig()
        let stranger = try Rig()
        let live = rig.path + "/live.p8"
        try FileManager.default.copyItem(atPath: stranger.apns.tokenKeyFile, toPath: live)
        let client = try Rig.client([rig.route(keyFile: live)])
        defer { client.close(deadline: .seconds(2)) }
        #expect(Self.status(Self.send([Self.request(1)], with: client)[1]) == 403)
        try FileManager.default.copyItem(atPath: rig.apns.tokenKeyFile, toPath: live + ".new")
        #expect(rename(live + ".new", live) == 0)
        let deadline = ContinuousClock.now + .seconds(30)
        while client.counts.tokens < 2 || client.credentialVersion(route: 0) < 1, ContinuousClock.now < deadline {
            _ = client.wakeUp.wait(atMost: .milliseconds(20))
        }
        #expect(client.credentialVersion(route: 0) == 1)
        #expect(Self.status(Self.send([Self.request(2)], with: client)[2]) == 200)
    }
}
