import HushCore
import HushKit
import HushSimulator
import Testing

@Suite("What the simulated APNs rejects")
struct APNsRulesTests {
    private static let rules = APNsRules(topics: ["com.example.app"]) { authorization, _ in
        authorization == "bearer good" ? nil : "InvalidProviderToken"
    }

    /// A good background push with these headers changed: nil takes one away.
    private static func request(
        _ changes: [(Bytes, Bytes?)] = [], twice: Bytes? = nil, body: [UInt8] = Array("{}".utf8),
        payload: PayloadValue? = ["aps": ["content-available": 1]]
    ) -> SimulatedRequest {
        var headers: [Bytes: Bytes] = [
            ":method": "POST", ":path": "/3/device/00fc13adff785122", ":scheme": "https",
            "authorization": "bearer good", "apns-topic": "com.example.app", "apns-push-type": "background",
            "apns-priority": "5", "apns-id": "123e4567-e89b-12d3-a456-4266554400a0", "apns-expiration": "0",
            "apns-collapse-id": "hush.order-42",
        ]
        for (name, value) in changes { headers[name] = value }
        var list = headers.sorted { $0.key < $1.key }.map { SimulatedRequest.Header($0.key, $0.value) }
        if let twice, let first = headers[twice] { list.append(.init(twice, first)) }
        return SimulatedRequest(headers: list, body: body, payload: payload)
    }

    @Test("a good push passes, and so does one without what may be left out")
    func good() {
        #expect(Self.rules.check(Self.request(), now: .init(seconds: 0)) == nil)
        let short = Self.request([("apns-id", nil), ("apns-expiration", nil), ("apns-collapse-id", nil)])
        #expect(Self.rules.check(short, now: .init(seconds: 0)) == nil)
        let alert = Self.request(
            [("apns-push-type", "alert"), ("apns-priority", nil)], payload: ["aps": ["alert": ["title": "x"]]])
        #expect(Self.rules.check(alert, now: .init(seconds: 0)) == nil)
    }

    @Test(
        "a wrong header has its reason",
        arguments: [
            (":method", "GET", "MethodNotAllowed"), (":path", "/3/devices/00", "BadPath"),
            (":path", "/3/device/", "MissingDeviceToken"), (":path", "/3/device/00fc13adff78512", "BadDeviceToken"),
            (":path", "/3/device/00fc13adff78512g", "BadDeviceToken"), (":path", "/3/device/00", "BadDeviceToken"),
            ("authorization", "bearer bad", "InvalidProviderToken"), ("apns-topic", nil, "MissingTopic"),
            ("apns-topic", "com.example.other", "TopicDisallowed"),
            ("apns-id", "123E4567-E89B-12D3-A456-4266554400A0", "BadMessageId"), ("apns-id", "7", "BadMessageId"),
            ("apns-id", "123e4567ae89b-12d3-a456-4266554400a0", "BadMessageId"),
            ("apns-expiration", "-1", "BadExpirationDate"), ("apns-expiration", "", "BadExpirationDate"),
            ("apns-expiration", "2026-12-01", "BadExpirationDate"), ("apns-priority", "10", "BadPriority"),
            ("apns-priority", "1", "BadPriority"), ("apns-priority", nil, "BadPriority"),
            ("apns-priority", "7", "BadPriority"), ("apns-push-type", nil, "InvalidPushType"),
            ("apns-push-type", "silent", "InvalidPushType"), ("apns-push-type", "alert", "InvalidPushType"),
            ("apns-collapse-id", String(repeating: "x", count: 65), "BadCollapseId"),
        ] as [(String, String?, String)])
    func headers(name: String, value: String?, reason: String) {
        let request = Self.request([(Bytes(name), value.map { Bytes($0) })])
        #expect(Self.rules.check(request, now: .init(seconds: 0))?.name == Bytes(reason))
    }

    @Test("a header that comes twice is refused")
    func duplicates() {
        let answer = Self.rules.check(Self.request(twice: "apns-topic"), now: .init(seconds: 0))
        #expect(answer?.name == "DuplicateHeaders")
        #expect(answer?.status == 400)
    }

    @Test(
        "a payload that does not fit its push has its reason",
        arguments: [
            (["aps": ["alert": "x", "content-available": 1]], "InvalidPushType"),
            (["aps": ["content-available": "1"]], "InvalidPushType"), (["aps": [:]], "InvalidPushType"),
            (["aps": ["content-available": 1, "badge": 0]], "InvalidPushType"),
            (["hush": [:]], "PayloadEmpty"), (nil, "PayloadEmpty"),
        ] as [(PayloadValue?, String)])
    func payloads(payload: PayloadValue?, reason: String) {
        #expect(Self.rules.check(Self.request(payload: payload), now: .init(seconds: 0))?.name == Bytes(reason))
    }

    @Test("a payload of 4096 bytes passes, one more is too large, none is empty")
    func sizes() {
        func answer(_ count: Int) -> APNsReason? {
            Self.rules.check(Self.request(body: [UInt8](repeating: 32, count: count)), now: .init(seconds: 0))
        }
        #expect(answer(4096) == nil)
        #expect(answer(4097)?.status == 413)
        #expect(answer(0)?.name == "PayloadEmpty")
    }
}
