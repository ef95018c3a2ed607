import HushBase
import Testing

@testable import HushAPNs

@Suite struct ConnectionLifeTests {
    private static func time(_ millis: Int64) -> MonotonicTime { MonotonicTime(nanos: millis * 1_000_000) }

    private static func life(tokens: Bool = true) -> ConnectionLife {
        let limits = ConnectionLife.Limits(
            connectTimeout: .seconds(10), pingInterval: .seconds(60), pingTimeout: .seconds(5), streamsMax: 100,
            streamIDMax: 1001, oneStreamUntilAccepted: tokens)
        return ConnectionLife(limits: limits, at: time(0))
    }

    @Test("streams: none before the handshake, one before SETTINGS and the first good answer, then the lesser limit")
    func allowance() {
        var life = Self.life()
        #expect(life.allowance(open: 0) == 0)
        life.opened(at: Self.time(1))
        #expect(life.allowance(open: 0) == 1)
        #expect(life.allowance(open: 1) == 0)
        life.settings(streamsMax: 1000)
        #expect(life.allowance(open: 1) == 0)
        life.answered(status: 403)
        #expect(life.allowance(open: 0) == 1)
        life.answered(status: 410)
        #expect(life.allowance(open: 0) == 100)
        life.settings(streamsMax: 2)
        #expect(life.allowance(open: 1) == 1)
        #expect(life.allowance(open: 50) == 0)
        life.settings(streamsMax: 0)
        #expect(life.allowance(open: 0) == 0)
    }

    @Test("with a certificate, SETTINGS alone open the connection")
    func certificate() {
        var life = Self.life(tokens: false)
        life.opened(at: Self.time(1))
        #expect(life.allowance(open: 0) == 1)
        life.settings(streamsMax: 50)
        #expect(life.allowance(open: 0) == 50)
    }

    @Test("connecting has its time")
    func connectTimeout() {
        var life = Self.life()
        #expect(life.tick(at: Self.time(9_999), open: 0) == .none)
        #expect(life.tick(at: Self.time(10_000), open: 0) == .close(.connectTimeout))
    }

    @Test("silence is asked once, and an unanswered question closes")
    func ping() {
        var life = Self.life()
        life.opened(at: Self.time(0))
        #expect(life.tick(at: Self.time(59_999), open: 3) == .none)
        #expect(life.tick(at: Self.time(60_000), open: 3) == .ping)
        #expect(life.tick(at: Self.time(64_999), open: 3) == .none)
        life.received(at: Self.time(64_999))
        #expect(life.tick(at: Self.time(65_001), open: 3) == .none)
        #expect(life.tick(at: Self.time(124_999), open: 3) == .ping)
        #expect(life.tick(at: Self.time(129_999), open: 3) == .close(.pingTimeout))
    }

    @Test("a retired connection opens nothing, and ends with its last stream")
    func draining() {
        var life = Self.life()
        life.opened(at: Self.time(0))
        life.settings(streamsMax: 10)
        life.answered(status: 200)
        life.retire()
        #expect(life.allowance(open: 0) == 0)
        #expect(life.tick(at: Self.time(1), open: 1) == .none)
        #expect(life.tick(at: Self.time(2), open: 0) == .close(.drained))
    }

    @Test("used-up stream ids retire the connection")
    func streamIDs() {
        var life = Self.life()
        life.opened(at: Self.time(0))
        life.streamOpened(id: 999)
        #expect(life.state == .open)
        life.streamOpened(id: 1001)
        #expect(life.state == .draining)
    }
}

@Suite struct IdleTests {
    private static func time(_ millis: Int64) -> MonotonicTime { MonotonicTime(nanos: millis * 1_000_000) }

    @Test("a connection is idle from the last look at which it had a stream, or had opened one since")
    func idle() {
        let limits = ConnectionLife.Limits(
            connectTimeout: .seconds(10), pingInterval: .seconds(60), pingTimeout: .seconds(5), streamsMax: 100,
            oneStreamUntilAccepted: false)
        var life = ConnectionLife(limits: limits, at: Self.time(0))
        life.opened(at: Self.time(1))
        _ = life.tick(at: Self.time(1000), open: 1)
        _ = life.tick(at: Self.time(2000), open: 0)
        #expect(life.idle(at: Self.time(2000)) == .seconds(1))
        life.streamOpened(id: 3)
        _ = life.tick(at: Self.time(3000), open: 0)
        #expect(life.idle(at: Self.time(3000)) == .zero)
        _ = life.tick(at: Self.time(4000), open: 0)
        #expect(life.idle(at: Self.time(4000)) == .seconds(1))
    }

    @Test("of the open connections the first is never spared")
    func spare() {
        var pool = RoutePool(
            places: 2, backoff: Backoff(first: .seconds(1), cap: .seconds(1)), at: Self.time(0))
        pool.started()
        pool.opened()
        #expect(!pool.canSpare(idle: .seconds(900), idleMax: .seconds(300)))
        pool.started()
        pool.opened()
        #expect(!pool.canSpare(idle: .seconds(299), idleMax: .seconds(300)))
        #expect(pool.canSpare(idle: .seconds(300), idleMax: .seconds(300)))
    }
}

@Suite struct RoutePoolTests {
    private struct NoJitter: RandomNumberGenerator {
        mutating func next() -> UInt64 { .max }
    }

    private static func time(_ millis: Int64) -> MonotonicTime { MonotonicTime(nanos: millis * 1_000_000) }

    private static func pool() -> RoutePool {
        RoutePool(
            places: 2, backoff: Backoff(first: .milliseconds(100), cap: .milliseconds(350)), at: time(0))
    }

    @Test("connections open one by one, as the queue needs them and places are free")
    func growth() {
        var pool = Self.pool()
        #expect(!pool.wantsConnection(queued: 0, allowance: 0, at: Self.time(0)))
        #expect(pool.wantsConnection(queued: 1, allowance: 0, at: Self.time(0)))
        pool.started()
        #expect(!pool.wantsConnection(queued: 9, allowance: 0, at: Self.time(0)))
        pool.opened()
        #expect(!pool.wantsConnection(queued: 5, allowance: 5, at: Self.time(0)))
        #expect(pool.wantsConnection(queued: 6, allowance: 5, at: Self.time(0)))
        pool.started()
        pool.opened()
        #expect(!pool.wantsConnection(queued: 100, allowance: 0, at: Self.time(0)))
    }

    @Test("a retired connection is replaced while it drains")
    func replacement() {
        var pool = Self.pool()
        for _ in 0..<2 {
            pool.started()
            pool.opened()
        }
        pool.retired()
        #expect(pool.wantsConnection(queued: 1, allowance: 0, at: Self.time(0)))
    }

    @Test("failures double the pause up to its cap, an answer forgets them")
    func backoff() {
        var pool = Self.pool()
        var random = NoJitter()
        var pauses: [Int64] = []
        for _ in 0..<4 {
            pool.started()
            pool.ended(in: .connecting, hadAnswered: false, at: Self.time(0), using: &random)
            pauses.append(pool.notBefore.nanos / 1_000_000)
        }
        #expect(pauses == [100, 200, 350, 350])
        pool.answered()
        pool.started()
        pool.opened()
        pool.ended(in: .open, hadAnswered: false, at: Self.time(0), using: &random)
        #expect(pool.notBefore == Self.time(100))
    }

    @Test("a connection that answered and ended is replaced at once")
    func noPause() {
        var pool = Self.pool()
        var random = NoJitter()
        pool.started()
        pool.opened()
        pool.ended(in: .open, hadAnswered: true, at: Self.time(5), using: &random)
        #expect(pool.wantsConnection(queued: 1, allowance: 0, at: Self.time(5)))
    }

    @Test("the pause has full jitter, with a tenth as its least")
    func jitter() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var backoff = Backoff(first: .milliseconds(100), cap: .seconds(1))
            let pause = backoff.next(using: &random)
            #expect(pause >= .milliseconds(10) && pause <= .milliseconds(100))
        }
    }
}

@Suite struct ResponseBodyTests {
    @Test(
        "reasons and timestamps are found in any JSON, and nothing in what is none",
        arguments: [
            (#"{"reason":"Unregistered","timestamp":1764583200123}"#, "Unregistered", 1_764_583_200_123 as Int64?),
            (#" { "x" : [1,{"y":"]"}], "reason" : "BadTopic" } "#, "BadTopic", nil),
            (#"{"timestamp":-5,"reason":"A"}"#, "A", -5),
            (#"{"timestamp":1.5e3,"reason":"A"}"#, "A", nil),
            (#"{"timestamp":99999999999999999999,"reason":"A"}"#, "A", nil),
            (#"{"reason":5,"timestamp":7}"#, "", 7),
            (#"{"reason":"two words"}"#, "", nil),
            (#"{"reason":null}"#, "", nil),
            (#"{"reason":"Unter"#, "", nil),
            ("<html>", "", nil), ("", "", nil), ("[]", "", nil),
        ])
    func parse(text: String, reason: String, timestamp: Int64?) {
        let body = ResponseBody(parsing: Array(text.utf8))
        #expect(body.reason == Array(reason.utf8))
        #expect(body.timestampMillis == timestamp)
    }

    @Test("a body nested without end is given up")
    func nesting() {
        let text = #"{"x":"# + String(repeating: "[", count: 4000) + #","reason":"A"}"#
        #expect(ResponseBody(parsing: Array(text.utf8)).reason == [])
    }
}

@Suite struct PushQueueTests {
    private static func push(_ tag: UInt64, deadline: Int64) -> QueuedPush {
        QueuedPush(PushBatch([Pushes.request(tag)], deadline: MonotonicTime(nanos: deadline)), at: 0)
    }

    @Test("what comes back goes first; the late are taken out, wherever they wait")
    func order() {
        var queue = PushQueue()
        for tag in 1...4 as ClosedRange<UInt64> { queue.append(Self.push(tag, deadline: Int64(tag) * 10)) }
        queue.giveBack(Self.push(9, deadline: 5))
        queue.giveBack(Self.push(8, deadline: 100))
        #expect(queue.takeLate(at: MonotonicTime(nanos: 10)).map(\.tag) == [9, 1])
        #expect(queue.popFirst()?.tag == 8)
        #expect(queue.popFirst()?.tag == 2)
        #expect(queue.count == 2)
        #expect(queue.takeAll().map(\.tag) == [3, 4])
        #expect(queue.isEmpty)
    }
}

@Suite struct RequestCheckTests {
    private static let cases: [(String, UInt16, @Sendable (inout PushRequest) -> Void)] = [
        ("MissingDeviceToken", 400, { $0.token = [] }),
        ("BadDeviceToken", 400, { $0.token = Array("ABCD".utf8) }),
        ("BadDeviceToken", 400, { $0.token = Array("ab\r\nx: y".utf8) }),
        ("MissingTopic", 400, { $0.topic = [] }),
        ("BadTopic", 400, { $0.topic = Array("a b".utf8) }),
        ("BadMessageId", 400, { $0.apnsID = Array("1".utf8) }),
        ("BadCollapseId", 400, { $0.collapseID = [UInt8](repeating: 0x61, count: 65) }),
        ("BadCollapseId", 400, { $0.collapseID = [0x0d] }),
        ("BadPriority", 400, { $0.priority = 7 }),
        ("BadExpirationDate", 400, { $0.expiration = -1 }),
        ("PayloadEmpty", 400, { $0.payload = [] }),
        ("PayloadTooLarge", 413, { $0.payload = [UInt8](repeating: 0x20, count: 4097) }),
    ]

    @Test("each bad request has Apple's reason", arguments: cases.indices)
    func refusals(index: Int) {
        let (reason, status, change) = Self.cases[index]
        var request = Pushes.request(1)
        #expect(withUnsafePointer(to: request) { RequestCheck.refusal(of: $0) } == nil)
        change(&request)
        #expect(
            withUnsafePointer(to: request) { RequestCheck.refusal(of: $0) }
                == .answered(status: status, reason: Array(reason.utf8), retryAfterSeconds: nil, timestampMillis: nil))
    }

    @Test("the largest payload, a token of any length, an expiration of 0 and no collapse id pass")
    func passes() {
        var request = Pushes.request(1)
        request.payload = [UInt8](repeating: 0x20, count: 4096)
        request.token = [UInt8](repeating: 0x61, count: 200)
        request.expiration = 0
        request.collapseID = nil
        #expect(withUnsafePointer(to: request) { RequestCheck.refusal(of: $0) } == nil)
    }
}
