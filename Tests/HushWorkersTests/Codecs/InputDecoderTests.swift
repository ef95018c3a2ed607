import HushCore
import HushWorkers
import Testing

@Suite("Reads, devices, signals and envelopes")
struct InputDecoderTests {
    @Test("a read names one id or several, each once")
    func readsReads() throws {
        let full = try decode(
            .reads,
            #"{"recipient":"ada","id":"order-42","revision":2,"device":"ada-phone","install":"i1","at":5,"kind":"dismissed"}"#
        )
        #expect(
            full.event
                == .read(
                    Read(
                        recipient: "ada", ids: ["order-42"], revision: 2, device: "ada-phone", install: "i1",
                        kind: .dismissed)))
        let several = try decode(.reads, #"{"ids":["order-42",43,"43"]}"#, key: "ada")
        #expect(several.event == .read(Read(recipient: "ada", ids: ["order-42", "43"])))
    }

    @Test(
        "an unusable read is a dead letter",
        arguments: [
            (#"{}"#, DeadCode.missingField, "id"), (#"{"ids":[]}"#, .missingField, "id"),
            (#"{"id":1,"ids":[2]}"#, .badField, "ids"), (#"{"ids":"a"}"#, .badField, "ids"),
            (#"{"ids":[[1]]}"#, .badField, "ids"), (#"{"id":1,"kind":"seen"}"#, .badField, "read, dismissed"),
            (#"{"id":1,"at":"noon"}"#, .badField, "at"), (#"{"id":1,"device":1.5}"#, .badField, "device"),
        ])
    func refusesReads(value: String, code: DeadCode, mention: String) throws {
        let reason = try #require(deadReason(.reads, value))
        #expect(reason.code == code)
        #expect(reason.message.contains(mention))
    }

    @Test("a read of more ids than the limit is too large")
    func boundsReads() {
        let ids = { (count: Int) in (0..<count).map(String.init).joined(separator: ",") }
        #expect(deadReason(.reads, "{\"ids\":[\(ids(1000))]}") == nil)
        #expect(deadReason(.reads, "{\"ids\":[\(ids(1001))]}")?.code == .tooLarge)
    }

    @Test("a register has its token in lower case, whatever was sent")
    func readsRegister() throws {
        let input = try decode(
            .devices,
            """
            {"recipient":"ada","device":"ada-phone","token":"ABCDEF0123456789","app":"com.example.app",
             "environment":"sandbox","dialect":"crt","acks":true,"tags":["ios",7],"install":"i1","fresh":true}
            """)
        #expect(
            input.event
                == .register(
                    Registration(
                        recipient: "ada", device: "ada-phone", token: "abcdef0123456789", app: "com.example.app",
                        environment: .sandbox, dialect: .crt, acks: true, tags: ["ios", "7"], install: "i1",
                        fresh: true)))
    }

    @Test("an unregister may name a binding and Apple's time")
    func readsUnregister() throws {
        let plain = try decode(.devices, #"{"recipient":"ada","device":"ada-phone","unregister":true}"#)
        #expect(plain.event == .unregister(Unregistration(recipient: "ada", device: "ada-phone")))
        let bound = try decode(
            .devices,
            """
            {"recipient":"ada","device":"ada-phone","unregister":true,"reason":"Unregistered",
             "address":"0123456789abcdef0123456789abcdef","version":[1764583200123,3,88],"at":"2026-12-01T10:00:00.123Z"}
            """)
        #expect(
            bound.event
                == .unregister(
                    Unregistration(
                        recipient: "ada", device: "ada-phone", reason: "Unregistered",
                        address: Address(key: "0123456789abcdef0123456789abcdef"),
                        version: BindingVersion(at: Timestamp(millis: 1_764_583_200_123), partition: 3, offset: 88),
                        at: Timestamp(millis: 1_796_119_200_123))))
    }

    @Test(
        "an unusable register is a dead letter",
        arguments: [
            (#"{"token":"ab","app":"a"}"#, DeadCode.missingField, "device"),
            (#"{"device":"d","app":"a"}"#, .missingField, "token"),
            (#"{"device":"d","token":"ab"}"#, .missingField, "app"),
            (#"{"device":"d","token":"xyz0","app":"a"}"#, .badField, "token"),
            (#"{"device":"d","token":"abc","app":"a"}"#, .badField, "token"),
            (#"{"device":"d","token":"","app":"a"}"#, .badField, "token"),
            (#"{"device":"d","token":"ab","app":"a","environment":"test"}"#, .badField, "production, sandbox"),
            (#"{"device":"d","token":"ab","app":"a","dialect":"fcm"}"#, .badField, "dialect"),
            (#"{"device":"d","token":"ab","app":"a","acks":1}"#, .badField, "acks"),
            (#"{"device":"d","unregister":true,"version":[1,2]}"#, .badField, "version"),
            (#"{"device":"d","unregister":true,"version":[1,4294967296,3]}"#, .badField, "version"),
            (#"{"device":"d","unregister":true,"address":"ABCDEF0123456789ABCDEF0123456789"}"#, .badField, "address"),
            (#"{"device":"d","unregister":"yes"}"#, .badField, "unregister"),
        ])
    func refusesDevices(value: String, code: DeadCode, mention: String) throws {
        let reason = try #require(deadReason(.devices, value))
        #expect(reason.code == code)
        #expect(reason.message.contains(mention))
    }

    @Test("a signal carries a reading, acks and a hello, each of which may be absent")
    func readsSignals() throws {
        let full = try decode(
            .signals,
            """
            {"recipient":"ada","device":"ada-phone","at":"2026-12-01T10:00:00Z","battery":0.12,"charging":false,
             "low_power":true,"background_refresh":true,"not_before":1764583260,"acks":["3:1207:0"],
             "hello":{"shown":[["order-42",2],[43,1]],"gone":[["order-41",1]]}}
            """)
        #expect(
            full.event
                == .signal(
                    Signal(
                        recipient: "ada", device: "ada-phone",
                        reading: DeviceReading(
                            at: Timestamp(millis: 1_796_119_200_000), battery: 0.12, charging: false, lowPower: true,
                            backgroundRefresh: true, notBefore: Timestamp(seconds: 1_764_583_260)),
                        acks: [OpID(partition: 3, offset: 1207, index: 0)],
                        hello: Signal.Hello(
                            shown: [.init(id: "order-42", revision: 2), .init(id: "43", revision: 1)],
                            gone: [.init(id: "order-41", revision: 1)]))))
        let least = try decode(.signals, #"{"device":"d"}"#, key: "ada")
        #expect(least.event == .signal(Signal(recipient: "ada", device: "d")))
    }

    @Test(
        "an unusable signal is a dead letter",
        arguments: [
            (#"{}"#, DeadCode.missingField, "device"), (#"{"device":"d","battery":12}"#, .badField, "battery"),
            (#"{"device":"d","battery":"0.5"}"#, .badField, "battery"),
            (#"{"device":"d","acks":["3:1207"]}"#, .badField, "acks"),
            (#"{"device":"d","acks":[3]}"#, .badField, "acks"),
            (#"{"device":"d","hello":true}"#, .badField, "hello"),
            (#"{"device":"d","hello":{"shown":[["a"]]}}"#, .badField, "shown"),
            (#"{"device":"d","hello":{"gone":[["a",0]]}}"#, .badField, "gone"),
        ])
    func refusesSignals(value: String, code: DeadCode, mention: String) throws {
        let reason = try #require(deadReason(.signals, value))
        #expect(reason.code == code)
        #expect(reason.message.contains(mention))
    }

    @Test("a CloudEvent in binary mode is its value; its time stands in for created")
    func readsBinaryEvents() throws {
        let value = #"{"id":1,"title":"x"}"#
        let event = try decodedIntent(value, contentType: "application/json", eventTime: "2026-12-01T10:00:00Z")
        #expect(event.created == Timestamp(rfc3339: "2026-12-01T10:00:00Z"))
        let own = try decodedIntent(
            #"{"id":1,"title":"x","created":"2026-12-01T09:00:00Z"}"#, eventTime: "2026-12-01T10:00:00Z")
        #expect(own.created == Timestamp(rfc3339: "2026-12-01T09:00:00Z"))
        #expect(deadReason(.intents, value, eventTime: "yesterday")?.code == .badEnvelope)
    }

    @Test("a structured CloudEvent carries the record in its data")
    func readsStructuredEvents() throws {
        let value = """
            {"specversion":"1.0","id":"e1","source":"/shop","type":"t","time":"2026-12-01T10:00:00Z",
             "data":{"id":"order-42","recipient":"ada","title":"x"}}
            """
        // The last two are what the Python SDK writes.
        for type in [
            "application/cloudevents+json", "Application/CloudEvents+JSON; charset=UTF-8", "application/json", nil,
        ] {
            let intent = try decodedIntent(value, contentType: type)
            #expect(intent.id == "order-42")
            #expect(intent.created == Timestamp(rfc3339: "2026-12-01T10:00:00Z"))
        }
        let type = "application/cloudevents+json"
        #expect(deadReason(.intents, #"{"id":"e1","data":{}}"#, contentType: type)?.code == .badEnvelope)
        #expect(deadReason(.intents, #"{"specversion":"1.0"}"#, contentType: type)?.code == .badEnvelope)
        #expect(
            deadReason(.intents, #"{"specversion":"1.0","data_base64":"e30="}"#, contentType: type)?.code
                == .badEnvelope)
    }

    @Test("the five bytes of Confluent's wire format are passed over")
    func skipsSchemaPrefix() throws {
        let value = [0, 0, 0, 0, 7] + Array(#"{"id":1,"title":"x"}"#.utf8)
        #expect(try decode(.intents, bytes: value, key: [0x61]).event.recipient == "a")
        #expect(throws: DeadReason(.notJSON, "the value is not JSON")) {
            try decode(.intents, bytes: [0, 0, 0, 0, 7], key: [0x61])
        }
    }

    @Test("whatever the bytes, a record is an event or a dead letter, and the next one is read as if it were the first")
    func neverFailsOtherwise() throws {
        var random = SeededRandom(seed: 7)
        let seeds: [(InputTopic, String)] = [
            (.intents, #"{"id":"order-42","recipient":"ada","revision":2,"title":"x","tags":{"add":["a"]},"ttl":5}"#),
            (.reads, #"{"recipient":"ada","ids":["order-42",43],"kind":"read"}"#),
            (.devices, #"{"recipient":"ada","device":"d","token":"abcd","app":"a","version":[1,2,3],"acks":true}"#),
            (.signals, #"{"recipient":"ada","device":"d","battery":0.5,"acks":["1:2:3"],"hello":{"shown":[["a",1]]}}"#),
        ]
        let decoder = InputDecoder()
        var codes: Set<DeadCode> = []
        for round in 0..<8000 {
            let (topic, seed) = seeds[round % seeds.count]
            var bytes = Array(seed.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) { mutate(&bytes, &random) }
            let outcome = Result { () throws(DeadReason) in
                try decode(topic, bytes: bytes, key: [0x6b], with: decoder)
            }
            if case .failure(let reason) = outcome { codes.insert(reason.code) }
            #expect(outcome == Result { () throws(DeadReason) in try decode(topic, bytes: bytes, key: [0x6b]) })
        }
        #expect(codes.isSuperset(of: [.notJSON, .badField, .missingField, .notUTF8]))
        for (topic, seed) in seeds {
            #expect(throws: Never.self) { try decode(topic, bytes: Array(seed.utf8), key: nil, with: decoder) }
        }
    }
}
