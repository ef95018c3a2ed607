import HushCore
import HushKit
import Testing

@testable import HushSimulator

@Suite("The simulated APNs")
struct APNsServiceTests {
    private static let now = Timestamp(seconds: 1_764_583_200)
    private static let id: Bytes = "123e4567-e89b-12d3-a456-4266554400a0"

    private static func service(_ faults: APNsFaults = APNsFaults()) -> APNsService {
        APNsService(rules: APNsRules(topics: ["com.example.app"], provider: nil), faults: faults, seed: 7)
    }

    private static func request(_ token: Bytes = "aa01bb02", id: Bytes? = id) -> SimulatedRequest {
        var headers: [SimulatedRequest.Header] = [
            .init(":method", "POST"), .init(":path", Bytes(Array("/3/device/".utf8) + token.raw)),
            .init("apns-topic", "com.example.app"), .init("apns-push-type", "background"), .init("apns-priority", "5"),
        ]
        if let id { headers.append(.init("apns-id", id)) }
        return SimulatedRequest(
            headers: headers, body: Array(#"{"aps":{"content-available":1}}"#.utf8),
            payload: ["aps": ["content-available": 1]])
    }

    private static func reason(_ reply: APNsReply) -> Bytes? {
        if case .answer(let reason, _, _, _, _) = reply { reason?.name } else { nil }
    }

    @Test("a good push is accepted, numbered, and answered under its id")
    func accepts() {
        var service = Self.service()
        let (reply, push) = service.receive(Self.request(), now: Self.now)
        guard case .answer(nil, Self.id, nil, nil, .zero) = reply else {
            Issue.record("\(reply)")
            return
        }
        #expect(push?.number == 1)
        #expect(push?.token == "aa01bb02")
        #expect(service.counts == .init(accepted: 1))
        #expect(
            push.map { String(decoding: PushLog.line($0), as: UTF8.self) }
                == #"{"n":1,"at_ms":1764583200000,"apns_id":"123e4567-e89b-12d3-a456-4266554400a0","token":"aa01bb02","#
                + #""type":"background","priority":"5","answered":true,"payload":{"aps":{"content-available":1}}}"#
                + "\n")
    }

    @Test("a push without an id gets a lower-case version 4 UUID")
    func makesID() {
        var service = Self.service()
        let (_, push) = service.receive(Self.request(id: nil), now: Self.now)
        let groups = (push?.apnsID.text ?? "").split(separator: "-")
        #expect(groups.map(\.count) == [8, 4, 4, 4, 12])
        #expect(groups[2].hasPrefix("4"))
        #expect(push?.apnsID.text.lowercased() == push?.apnsID.text)
    }

    @Test("a dead token is answered 410 with its time in milliseconds")
    func buries() {
        var service = Self.service()
        service.bury("aa01bb02", at: Self.now)
        let (reply, push) = service.receive(Self.request(), now: Self.now + .seconds(9))
        guard case .answer(let reason?, _, let millis, _, _) = reply else {
            Issue.record("\(reply)")
            return
        }
        #expect(push == nil)
        #expect(reason.status == 410)
        #expect(
            String(decoding: APNsReply.body(reason, timestampMillis: millis), as: UTF8.self)
                == #"{"reason":"Unregistered","timestamp":1764583200000}"#)
    }

    @Test("faults come in the shares asked for, and the same seed draws the same")
    func faults() {
        var faults = APNsFaults()
        faults.tooManyRequests = 0.1
        faults.unavailable = 0.1
        faults.silence = 0.1
        var first = Self.service(faults)
        var second = Self.service(faults)
        for _ in 0..<1000 {
            _ = first.receive(Self.request(), now: Self.now)
            _ = second.receive(Self.request(), now: Self.now)
        }
        #expect(first.counts == second.counts)
        #expect((60...140).contains(first.counts.rejected["TooManyRequests"] ?? 0))
        #expect((60...140).contains(first.counts.rejected["ServiceUnavailable"] ?? 0))
        #expect((60...140).contains(first.counts.unanswered))
    }

    @Test("log-normal latencies have the median that was asked for, a long tail, and an end")
    func logNormal() {
        var faults = APNsFaults()
        faults.logNormal = .init(median: .milliseconds(40), sigma: 0.5)
        var random = SplitMix64(seed: 3)
        let draws = (0..<10_000).map { _ in faults.drawLatency(&random) }.sorted()
        #expect(draws[5000] > .milliseconds(38) && draws[5000] < .milliseconds(42))
        // exp(0.5 * 2.326) of the median is the 99th percentile.
        #expect(draws[9900] > .milliseconds(118) && draws[9900] < .milliseconds(140))
        faults.logNormal = .init(median: .seconds(50), sigma: 3)
        #expect((0..<100).allSatisfy { _ in faults.drawLatency(&random) <= .seconds(60) })
    }

    @Test("in a stall no answer leaves before its end; outside of it the latency alone counts")
    func stalls() {
        var faults = APNsFaults()
        faults.latency = .milliseconds(40) ... .milliseconds(40)
        faults.stall = APNsFaults.Stall(every: .seconds(10), lasts: .seconds(2))
        var service = Self.service(faults)
        let waits: [(millis: Int64, after: Int64)] = [
            (0, 40), (7999, 40), (8000, 2000), (9990, 40), (10_000, 40), (18_500, 1500),
        ]
        for wait in waits {
            let (reply, push) = service.receive(Self.request(), now: Self.now.adding(millis: wait.millis))
            guard case .answer(_, _, _, _, let after) = reply else {
                Issue.record("\(reply)")
                return
            }
            #expect(after == .milliseconds(wait.after), "\(wait.millis)")
            #expect(push?.answerAfter == after)
        }
    }

    @Test("a share of connections reads slowly, the same for a seed; an answer there takes its time at least")
    func slowReaders() {
        func slow(_ share: Double, _ seed: UInt64) -> [Bool] {
            let readers = APNsFaults.SlowReaders(share: share, bytesPerSecond: 1, latency: .zero)
            return (2..<10_002).map { readers.has(connection: $0, seed: seed) }
        }
        #expect(!slow(0, 1).contains(true) && !slow(1, 1).contains(false))
        #expect(abs(slow(0.25, 1).count { $0 } - 2500) < 200)
        #expect(slow(0.25, 1) == slow(0.25, 1) && slow(0.25, 1) != slow(0.25, 2))
        var faults = APNsFaults()
        faults.latency = .milliseconds(40) ... .milliseconds(40)
        var service = Self.service(faults)
        for (least, after) in [(500, 500), (20, 40), (0, 40)] as [(Int64, Int64)] {
            let (_, push) = service.receive(Self.request(), now: Self.now, latencyMin: .milliseconds(least))
            #expect(push?.answerAfter == .milliseconds(after))
        }
    }

    @Test("a 503 says when to come again; half of the unanswered pushes arrive all the same")
    func details() {
        var faults = APNsFaults()
        faults.unavailable = 1
        var service = Self.service(faults)
        guard case .answer(let reason?, _, _, 1, _) = service.receive(Self.request(), now: Self.now).0 else {
            Issue.record("no answer with a Retry-After of 1 s")
            return
        }
        #expect(reason.status == 503)
        faults = APNsFaults()
        faults.reset = 1
        var resetting = Self.service(faults)
        let taken = (0..<200).filter { _ in resetting.receive(Self.request(), now: Self.now).1?.isAnswered == false }
        #expect((70...130).contains(taken.count))
    }

    @Test("a bad push is refused whatever the faults")
    func refuses() {
        var service = Self.service()
        var bad = Self.request()
        bad.headers.removeAll { $0.name == "apns-topic" }
        #expect(Self.reason(service.receive(bad, now: Self.now).0) == "MissingTopic")
        #expect(service.counts.rejected == ["MissingTopic": 1])
    }
}
