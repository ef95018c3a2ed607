import HushCore
import HushWorkers
import Testing

@Suite("Intents")
struct IntentDecoderTests {
    @Test("the smallest intent gets the defaults of the format")
    func readsSmallest() throws {
        let intent = try decodedIntent(
            #"{"id": "order-42", "recipient": "ada", "title": "Your parcel is here", "body": "Locker 7"}"#)
        #expect(
            intent
                == Intent(
                    id: "order-42", recipient: "ada",
                    body: .show(Content(json: #"{"title":"Your parcel is here","body":"Locker 7"}"#))))
    }

    @Test("every field is read, and the content becomes canonical")
    func readsFull() throws {
        let intent = try decodedIntent(
            """
            {"extras": {"order": "42", "n": 1.50, "big": 12345678901234567}, "id": "order-42", "recipient": "ada",
             "revision": 2, "title": "Caf\\u00e9 \\"7\\"", "body": "Line\\n2", "created": "2026-11-28T10:00:00+01:00",
             "expires": 1764583200, "not_before": "2026-11-28T10:00:00.5Z", "app": "com.example.app", "mode": "visible",
             "urgent": true, "badge": 3, "sound": "default", "category": "parcel", "thread": "orders",
             "link": "app:\\/\\/orders/42", "url": "https://example.com/42",
             "tags": {"add": ["parcel"], "remove": ["waiting"]}, "in_app": {}, "actions": {"b": 1, "a": [true, null]},
             "colour": "unknown fields are no error"}
            """)
        #expect(intent.revision == 2)
        #expect(intent.created == Timestamp(rfc3339: "2026-11-28T09:00:00Z"))
        #expect(intent.expiry == .at(Timestamp(seconds: 1_764_583_200)))
        #expect(intent.notBefore == Timestamp(rfc3339: "2026-11-28T10:00:00.500Z"))
        #expect(intent.app == "com.example.app")
        #expect(intent.mode == .visible)
        #expect(intent.urgent)
        guard case .show(let content) = intent.body else {
            Issue.record("it shows something")
            return
        }
        #expect(
            content.json.text
                == #"{"title":"Café \"7\"","body":"Line\n2","badge":3,"sound":"default","category":"parcel","#
                + #""thread":"orders","link":"app://orders/42","url":"https://example.com/42","#
                + #""tags":{"add":["parcel"],"remove":["waiting"]},"in_app":{},"actions":{"b":1,"a":[true,null]},"#
                + #""extras":{"order":"42","n":1.5,"big":12345678901234567}}"#)
    }

    @Test("the fields of content have one order, in the core and in the codec")
    func contentOrderIsOne() throws {
        let names = Content.fields.map(\.text)
        let values = names.reversed().map { name in
            switch name {
            case "badge": "\"badge\":1"
            case "tags", "in_app", "actions", "extras": "\"\(name)\":{}"
            case "mutable_content", "content_available": "\"\(name)\":true"
            default: "\"\(name)\":\"x\""
            }
        }
        let intent = try decodedIntent("{\"id\":1,\(values.joined(separator: ","))}")
        guard case .show(let content) = intent.body else {
            Issue.record("it shows something")
            return
        }
        let order = content.json.text.matches(of: /"([a-z_]+)":/).map { String($0.1) }
        #expect(order == names)
    }

    @Test("ids are strings or whole numbers, and 42 is \"42\"")
    func readsIDs() throws {
        func id(_ json: String) throws -> Bytes { try decodedIntent("{\"id\":\(json),\"title\":\"x\"}").id }
        #expect(try id("42") == "42")
        #expect(try id("\"42\"") == "42")
        #expect(try id("9007199254740993") == "9007199254740993")
        #expect(try id("-9223372036854775808") == "-9223372036854775808")
        #expect(try id("18446744073709551615") == "18446744073709551615")
        #expect(try id("\"caf\\u00e9\"") == "caf\u{e9}")
        #expect(try id("\"cafe\\u0301\"") != id("\"caf\\u00e9\""))
        #expect(deadReason(.intents, #"{"id":42.0,"title":"x"}"#)?.code == .badField)
        #expect(deadReason(.intents, #"{"id":1e2,"title":"x"}"#)?.code == .badField)
        #expect(deadReason(.intents, #"{"id":true,"title":"x"}"#)?.code == .badField)
    }

    @Test("a recipient comes from the value, else from the key; where they differ the value wins and is reported")
    func findsRecipient() throws {
        let both = try decode(.intents, #"{"id":1,"recipient":"ada","title":"x"}"#, key: "ada")
        #expect(both.event.recipient == "ada" && both.isKeyedByRecipient)
        let keyOnly = try decode(.intents, #"{"id":1,"recipient":null,"title":"x"}"#, key: "bob")
        #expect(keyOnly.event.recipient == "bob" && keyOnly.isKeyedByRecipient)
        let differ = try decode(.intents, #"{"id":1,"recipient":"ada","title":"x"}"#, key: "bob")
        #expect(differ.event.recipient == "ada" && !differ.isKeyedByRecipient)
        let noKey = try decode(.intents, #"{"id":1,"recipient":7,"title":"x"}"#, key: nil)
        #expect(noKey.event.recipient == "7" && !noKey.isKeyedByRecipient)
    }

    @Test("a retract needs no content, and may name a revision")
    func readsRetract() throws {
        #expect(
            try decodedIntent(#"{"id":"order-42","recipient":"ada","retract":true}"#)
                == Intent(id: "order-42", recipient: "ada", body: .retract))
        #expect(try decodedIntent(#"{"id":1,"retract":true,"revision":3,"title":"x"}"#).revision == 3)
        #expect(deadReason(.intents, #"{"id":1,"retract":false}"#)?.code == .missingField)
    }

    @Test("ttl counts from created, and expires wins over it")
    func readsExpiry() throws {
        #expect(try decodedIntent(#"{"id":1,"title":"x","ttl":60}"#).expiry == .after(.seconds(60)))
        #expect(
            try decodedIntent(#"{"id":1,"title":"x","ttl":60,"expires":5}"#).expiry == .at(Timestamp(seconds: 5)))
        #expect(try decodedIntent(#"{"id":1,"title":"x","ttl":null}"#).expiry == nil)
    }

    @Test(
        "an unusable intent is a dead letter with a stable code that names the field",
        arguments: [
            (#"{"id":1}"#, DeadCode.missingField, "title"),
            (#"{"title":"x"}"#, .missingField, "id"),
            (#"{"id":1,"title":"","body":""}"#, .missingField, "title"),
            (#"{"id":null,"title":"x"}"#, .missingField, "id"),
            (#"{"id":"","title":"x"}"#, .badField, "id"),
            (#"{"id":1,"title":5}"#, .badField, "title"),
            (#"{"id":1,"title":"x","badge":"many"}"#, .badField, "badge"),
            (#"{"id":1,"title":"x","mutable_content":1}"#, .badField, "mutable_content"),
            (#"{"id":1,"title":"x","content_available":"1"}"#, .badField, "content_available"),
            (#"{"id":1,"title":"x","landing_page":{}}"#, .badField, "landing_page"),
            (#"{"id":1,"title":"x","share":1}"#, .badField, "share"),
            (#"{"id":1,"title":"x","message_center":[]}"#, .badField, "message_center"),
            (#"{"id":1,"title":"x","send_id":5}"#, .badField, "send_id"),
            (#"{"id":1,"title":"x","extras":{"aps":{}}}"#, .badField, "extras\" must not have a member \"aps\""),
            (#"{"id":1,"title":"x","extras":{"^d":"y"}}"#, .badField, "\"^d\""),
            (#"{"id":1,"title":"x","extras":{"\u005f":"y"}}"#, .badField, "\"_\""),
            (#"{"id":1,"title":"x","extras":{"hush":{}}}"#, .badField, "\"hush\""),
            (#"{"id":1,"title":"x","extras":{"com.urbanairship.in_app":{}}}"#, .badField, "com.urbanairship.in_app"),
            (#"{"id":1,"title":"x","extras":{"open_external_url_action":"y"}}"#, .badField, "open_external_url_action"),
            (#"{"id":1,"title":"x","body":[]}"#, .badField, "body"),
            (#"{"id":1,"title":"x","badge":"3"}"#, .badField, "badge"),
            (#"{"id":1,"title":"x","badge":-1}"#, .badField, "badge"),
            (#"{"id":1,"title":"x","badge":1.5}"#, .badField, "badge"),
            (#"{"id":1,"title":"x","revision":0}"#, .badField, "revision"),
            (#"{"id":1,"title":"x","revision":"2"}"#, .badField, "revision"),
            (#"{"id":1,"title":"x","revision":9223372036854775807}"#, .badField, "revision"),
            (#"{"id":1,"title":"x","revision":9223372036854775808}"#, .badField, "revision"),
            (#"{"id":1,"title":"x","expires":1764583200000}"#, .badField, "expires"),
            (#"{"id":1,"title":"x","expires":"tomorrow"}"#, .badField, "expires"),
            (#"{"id":1,"title":"x","expires":"2026-02-30T00:00:00Z"}"#, .badField, "expires"),
            (#"{"id":1,"title":"x","expires":"2026-02-03T00:00:00"}"#, .badField, "expires"),
            (#"{"id":1,"title":"x","expires":-1}"#, .badField, "expires"),
            (#"{"id":1,"title":"x","created":1.5}"#, .badField, "created"),
            (#"{"id":1,"title":"x","ttl":-1}"#, .badField, "ttl"),
            (#"{"id":1,"title":"x","mode":"loud"}"#, .badField, "mode"),
            (#"{"id":1,"title":"x","urgent":"true"}"#, .badField, "urgent"),
            (#"{"id":1,"title":"x","retract":1}"#, .badField, "retract"),
            (#"{"id":1,"title":"x","app":"com.example\u000d\u000aapp"}"#, .badField, "app"),
            (#"{"id":1,"title":"x","app":""}"#, .badField, "app"),
            (#"{"id":1,"title":"x","tags":["a"]}"#, .badField, "tags"),
            (#"{"id":1,"title":"x","tags":{"add":[1]}}"#, .badField, "tags"),
            (#"{"id":1,"title":"x","extras":"a"}"#, .badField, "extras"),
            (#"{"id":1,"title":"x","in_app":[]}"#, .badField, "in_app"),
            (#"{"id":1,"title":"x","audience":{"all":[]},"recipient":"ada"}"#, .badField, "audience"),
            (#"{"id":1,"title":"x","audience":"all"}"#, .badField, "audience"),
            (#"{"id":1,"title":"x","audience":{}}"#, .badField, "must name a tag"),
            (#"{"id":1,"title":"x","audience":{"all":[],"any":null,"none":[]}}"#, .badField, "must name a tag"),
            (#"{"id":1,"title":"x","audience":{"all":["ios"],"non":["muted"]}}"#, .badField, "other than"),
            (#"{"id":1,"title":"x","audience":{"all":"ios"}}"#, .badField, "audience.all"),
            (#"{"id":1,"title":"x","audience":{"any":[""]}}"#, .badField, "audience.any"),
            (#"{"id":1,"title":"x","audience":{"none":[1.5]}}"#, .badField, "audience.none"),
            (#"{"id":1,"title":"x","audience":true}"#, .badField, "must name tags"),
            (#"{"id":1,"audience":{"all":["ios"]}}"#, .missingField, "title"),
            (#"{"title":"x","audience":{"all":["ios"]}}"#, .missingField, "id"),
            ("not json", .notJSON, "JSON"),
            ("[]", .notObject, "object"),
        ])
    func refuses(value: String, code: DeadCode, mention: String) throws {
        let reason = try #require(deadReason(.intents, value))
        #expect(reason.code == code)
        #expect(reason.message.contains(mention))
    }

    @Test("an audience is read as its lists of tags; the id is what its record is keyed by")
    func readsAudience() throws {
        let value = #"{"id":7,"title":"x","audience":{"all":["ios",42],"any":["de","at"],"none":["muted"]}}"#
        let audience = Audience(all: ["ios", "42"], any: ["de", "at"], none: ["muted"])
        guard case .audience(let read) = try decode(.intents, value, key: "7").event else {
            Issue.record("not an audience")
            return
        }
        #expect(read.audience == audience)
        #expect(read.intent.id == "7" && read.intent.recipient == "7")
        let update = #"{"id":7,"title":"y","revision":2,"audience":true}"#
        guard case .audience(let known) = try decode(.fanout, update, key: nil).event else {
            Issue.record("not an audience")
            return
        }
        #expect(known.audience == nil && known.intent.revision == 2)
        guard case .intent = try decode(.intents, #"{"id":7,"title":"y","audience":false}"#, key: "ada").event else {
            Issue.record("an audience that is false is none")
            return
        }
    }

    @Test("an audience has at most 64 tags a list, as a device has")
    func boundsAudience() {
        func value(_ count: Int) -> String {
            #"{"id":1,"title":"x","audience":{"any":["# + (0..<count).map { "\"t\($0)\"" }.joined(separator: ",")
                + "]}}"
        }
        #expect(deadReason(.intents, value(64)) == nil)
        #expect(deadReason(.intents, value(65))?.code == .tooLarge)
        #expect(deadReason(.intents, value(100_000))?.code == .tooLarge)
        func register(_ count: Int) -> String {
            #"{"device":"d","token":"ab","app":"a","tags":["#
                + (0..<count).map { "\"t\($0)\"" }.joined(separator: ",") + "]}"
        }
        #expect(deadReason(.devices, register(64)) == nil)
        #expect(deadReason(.devices, register(100_000))?.code == .tooLarge)
    }

    @Test("no value, an empty one and no recipient anywhere are dead letters")
    func refusesAbsence() {
        #expect(deadReason(.intents, nil)?.code == .noValue)
        #expect(deadReason(.intents, "")?.code == .noValue)
        #expect(deadReason(.intents, #"{"id":1,"title":"x"}"#, key: nil)?.code == .missingField)
        #expect(deadReason(.intents, #"{"id":1,"title":"x"}"#, key: "")?.code == .missingField)
        #expect(
            deadReason(.intents, #"{"id":1,"title":"x"}"#, key: String(repeating: "k", count: 257))?.code == .badField)
        #expect(throws: DeadReason.self) {
            try decode(.intents, bytes: Array(#"{"id":1,"title":"x"}"#.utf8), key: [0xff, 0xfe])
        }
    }

    @Test("ids have at most 256 bytes")
    func boundsIDs() {
        let longest = String(repeating: "é", count: 128)
        #expect(deadReason(.intents, "{\"id\":\"\(longest)\",\"title\":\"x\"}") == nil)
        #expect(deadReason(.intents, "{\"id\":\"\(longest)x\",\"title\":\"x\"}")?.code == .badField)
    }

    @Test("content that no payload can hold is too large, and an alert holds half of it")
    func boundsContent() {
        func code(_ bodyBytes: Int, _ rest: String = "") -> DeadCode? {
            deadReason(.intents, "{\"id\":1,\"body\":\"\(String(repeating: "b", count: bodyBytes))\"\(rest)}")?.code
        }
        // {"body":"…"} and the id's JSON "1" take 14 bytes beside the text.
        #expect(code(Content.bytesMax - 14) == nil)
        #expect(code(Content.bytesMax - 13) == .tooLarge)
        #expect(code(Content.bytesMax / 2, ",\"mode\":\"visible\"") == .tooLarge)
        #expect(code(Content.bytesMax / 2 - 16, ",\"mode\":\"visible\"") == nil)
        #expect(code(1_000_000) == .tooLarge)
    }

    @Test("42: a null field is an absent one, whatever it is of")
    func nullContent() throws {
        let fields = [
            "body", "badge", "sound", "category", "thread", "link", "url", "tags", "in_app", "actions", "extras",
            "landing_page", "share", "message_center", "send_id", "mutable_content", "content_available", "app",
            "mode", "urgent", "not_before", "expires", "ttl", "created", "revision", "audience", "retract",
        ]
        let bare = try decodedIntent(#"{"id":"x","title":"T"}"#)
        for field in fields {
            #expect(try decodedIntent(#"{"id":"x","title":"T","\#(field)":null}"#) == bare, "\(field)")
        }
        #expect(deadReason(.intents, #"{"id":"x","title":null,"body":null}"#)?.code == .missingField)
    }

    @Test("24: one content in other raw forms is one content: escapes, spaces, the order of fields, forms of numbers")
    func rawForms() throws {
        let forms = [
            "{\"id\":\"x\",\"title\":\"caf\u{e9}\",\"body\":\"/\",\"badge\":3,\"extras\":{\"n\":1.5}}",
            #"{"extras":{"n":1.50},"badge":3,"body":"\/","title":"caf\u00e9","id":"\u0078"}"#,
            "{ \"badge\" : 3 ,\n\"body\":\"\\u002f\", \"id\":\"x\", \"extras\" : { \"n\" : 15e-1 },"
                + "\"title\":\"caf\\u00E9\" }",
        ]
        let intents = try forms.map { try decodedIntent($0) }
        #expect(intents[1] == intents[0] && intents[2] == intents[0])
        #expect(try decodedIntent(#"{"id":"x","title":"cafe\u0301","body":"/"}"#).body != intents[0].body)
    }
}
