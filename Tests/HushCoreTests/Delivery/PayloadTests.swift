import Foundation
import HushCore
import Testing

@Suite("Payloads")
struct DeliveryPayloadTests {
    private let version = BindingVersion(at: Timestamp(millis: 1_764_583_200_123), partition: 3, offset: 88)
    private let first = OpID(partition: 7, offset: 1190, index: 0)
    private let second = OpID(partition: 7, offset: 1207, index: 0)

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    private func content(_ json: String) -> Content { Content(json: Bytes(json)) }

    @Test("a hush push lists its ops under the owner's tag and the binding's version")
    func hush() {
        var payload = HushPayloadWriter(owner: "ada", version: version, bytesMax: 4096)
        let deleted = payload.delete(first, id: "order-41", through: 1)
        let created = payload.create(
            second, id: "order-42", revision: 2,
            content: content(#"{"title":"Your parcel moved","body":"Locker 9"}"#),
            expires: Timestamp(seconds: 1_764_583_200))
        #expect(deleted && created)
        let size = payload.count
        let bytes = payload.finish()
        #expect(
            text(bytes)
                == #"{"aps":{"content-available":1},"hush":{"v":1,"to":"e70bc0190530e13b","b":[1764583200123,3,88],"#
                + #""ops":[["7:1190:0","d","order-41",1],["7:1207:0","c","order-42",2,{"title":"Your parcel moved","#
                + #""body":"Locker 9","expires":1764583200}]]}}"#)
        #expect(size == bytes.count)
    }

    @Test("a bind, and the wish for a hello, name an op and nothing else")
    func bind() {
        var payload = HushPayloadWriter(owner: "ada", version: version, bytesMax: 4096)
        let bound = payload.bind(first)
        let asked = payload.hello(first)
        #expect(bound && asked)
        #expect(text(payload.finish()).hasSuffix(#""ops":[["7:1190:0","b"],["7:1190:0","h"]]}}"#))
    }

    @Test("an op that does not fit leaves the payload as it was")
    func full() {
        var payload = HushPayloadWriter(owner: "ada", version: version, bytesMax: 150)
        let fits = payload.delete(first, id: "order-41", through: 1)
        let count = payload.count
        let overflows = payload.delete(
            second, id: Bytes(String(repeating: "x", count: 40)), through: Standing.everyRevision)
        #expect(fits && !overflows)
        #expect(payload.count == count)
        #expect(text(payload.finish()).hasSuffix(#"[["7:1190:0","d","order-41",1]]}}"#))
    }

    @Test("text is raw UTF-8 with the shortest escapes, and an emoji counts as its bytes")
    func rawText() {
        var payload = HushPayloadWriter(owner: "ada", version: version, bytesMax: 4096)
        let fits = payload.create(
            first, id: "😀\"\n", revision: 1, content: content("{}"), expires: Timestamp(seconds: 9))
        #expect(fits)
        #expect(text(payload.finish()).hasSuffix(#"["7:1190:0","c","😀\"\n",1,{"expires":9}]]}}"#))
    }

    @Test("an alert shows itself; its repeat makes no sound")
    func alert() {
        let content = content(
            #"{"title":"T","body":"B","badge":0,"sound":"default","category":"parcel","thread":"orders"}"#)
        var loud = HushPayloadWriter(
            alert: content, liveCount: 1, isPassive: false, owner: "ada", version: version, bytesMax: 4096)
        var quiet = HushPayloadWriter(
            alert: content, liveCount: 1, isPassive: true, owner: "ada", version: version, bytesMax: 4096)
        _ = loud.bind(first)
        _ = quiet.bind(first)
        #expect(
            text(loud.finish()).hasPrefix(
                #"{"aps":{"alert":{"title":"T","body":"B"},"mutable-content":1,"badge":0,"sound":"default","#
                    + #""category":"parcel","thread-id":"orders"},"hush":{"v":1,"#))
        #expect(
            text(quiet.finish()).hasPrefix(
                #"{"aps":{"alert":{"title":"T","body":"B"},"mutable-content":1,"badge":0,"#
                    + #""interruption-level":"passive","category":"parcel","thread-id":"orders"},"hush":"#))
    }

    @Test(
        "the first seed's bytes: an integer id is a number, any other a string",
        arguments: [
            ("1", #"{"aps":{"content-available":1},"crt":1,"title":"hello there"}"#),
            ("-12", #"{"aps":{"content-available":1},"crt":-12,"title":"hello there"}"#),
            (
                "9223372036854775807",
                #"{"aps":{"content-available":1},"crt":9223372036854775807,"title":"hello there"}"#
            ),
            (
                "9223372036854775808",
                #"{"aps":{"content-available":1},"crt":"9223372036854775808","title":"hello there"}"#
            ),
            ("007", #"{"aps":{"content-available":1},"crt":"007","title":"hello there"}"#),
            ("-0", #"{"aps":{"content-available":1},"crt":"-0","title":"hello there"}"#),
            ("order-42", #"{"aps":{"content-available":1},"crt":"order-42","title":"hello there"}"#),
        ])
    func seed(id: String, expected: String) {
        let content = content(#"{"title":"hello there","body":"never sent"}"#)
        #expect(text(SeedPayload.create(Bytes(id), content: content, dialect: .crt)) == expected)
    }

    @Test("the first seed's delete, and both in Pushwoosh's custom data")
    func seedDelete() {
        #expect(
            text(SeedPayload.delete("1", dialect: .crt)) == #"{"aps":{"content-available":1},"dlt":1}"#)
        #expect(
            text(SeedPayload.delete("1", dialect: .pushwoosh)) == #"{"aps":{"content-available":1},"u":"{\"dlt\":1}"}"#)
        #expect(
            text(SeedPayload.create("1", content: content(#"{"title":"say \"hi\""}"#), dialect: .pushwoosh))
                == #"{"aps":{"content-available":1},"u":"{\"crt\":1,\"title\":\"say \\\"hi\\\"\"}"}"#)
        #expect(
            text(SeedPayload.create("1", content: content(#"{"body":"B"}"#), dialect: .crt))
                == #"{"aps":{"content-available":1},"crt":1,"title":"B"}"#)
    }

    @Test(
        "a content field is found at the top level only, as it stands",
        arguments: [
            ("title", #""a\",\"b""#), ("badge", "3"), ("tags", #"{"add":["title"],"remove":[]}"#),
            ("extras", #"{"k":{"sound":"x"}}"#), ("sound", nil), ("add", nil), ("titl", nil),
        ] as [(String, String?)])
    func fields(name: String, expected: String?) {
        let content = content(
            #"{"title":"a\",\"b","badge":3,"tags":{"add":["title"],"remove":[]},"extras":{"k":{"sound":"x"}}}"#)
        #expect(content.field(Bytes(name)).map { text(Array($0)) } == expected)
    }

    @Test("an apns-id is a version 8 UUID that spells op and attempt")
    func apnsID() {
        let op = OpID(partition: 7, offset: 0x0123_4567_89ab_cdef, index: 2)
        #expect(text(APNsID.text(op, attempt: 3)) == "00071234-5678-89ab-8000-cdef00020003")
        #expect(text(APNsID.text(first, attempt: 1)) == "00070000-0000-8000-8000-04a600000001")
    }
}

@Suite("What APNs answers")
struct APNsReasonTests {
    @Test(
        "an answer is one of a few things to do",
        arguments: [
            (200, "", .delivered), (400, "BadTopic", .rejectOps), (400, "BadDeviceToken", .restAddress),
            (400, "IdleTimeout", .reconnect), (403, "ExpiredProviderToken", .renewToken),
            (403, "InvalidProviderToken", .pauseCredential), (403, "Forbidden", .rejectOps),
            (410, "Unregistered", .dropDevice), (410, "ExpiredToken", .dropDevice), (413, "PayloadTooLarge", .split),
            (429, "TooManyRequests", .delayToken), (429, "TooManyProviderTokenUpdates", .keepToken),
            (500, "InternalServerError", .retry), (503, "ServiceUnavailable", .retry), (503, "Shutdown", .reconnect),
        ] as [(UInt16, String, AnswerClass)])
    func classes(status: UInt16, reason: String, expected: AnswerClass) {
        #expect(APNsReason.classify(status: status, reason: reason.utf8) == expected)
    }

    @Test(
        "a reason nobody knows goes by its status",
        arguments: [
            (400, .rejectOps), (403, .pauseCredential), (404, .rejectOps), (410, .dropDevice), (413, .split),
            (429, .delayToken), (500, .retry), (502, .retry), (302, .retry),
        ] as [(UInt16, AnswerClass)])
    func unknown(status: UInt16, expected: AnswerClass) {
        #expect(APNsReason.classify(status: status, reason: "NewlyInvented".utf8) == expected)
        #expect(APNsReason.classify(status: status, reason: "".utf8) == expected)
    }

    @Test("each reason stands in the table once, under one status")
    func table() {
        #expect(Set(APNsReason.all.map(\.name)).count == APNsReason.all.count)
        #expect(APNsReason.all.allSatisfy { (400...599).contains($0.status) })
    }

    @Test("the page in the docs is the table")
    func page() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("docs/reference/apns.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| 4") || $0.hasPrefix("| 5") }
            .map { $0.split(separator: "|").prefix(3).map { $0.trimmingCharacters(in: .whitespaces) } }
        #expect(rows == APNsReason.all.map { ["\($0.status)", "`\($0.name)`", "`\($0.answer)`"] })
    }
}
