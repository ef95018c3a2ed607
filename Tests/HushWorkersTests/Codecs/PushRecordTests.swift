import HushCore
import HushWorkers
import Testing

@Suite("Records of hush.pushes")
struct PushRecordTests {
    private static let version = BindingVersion(at: Timestamp(millis: 1_764_583_200_123), partition: 3, offset: 88)
    private static let cause = Position(topic: .intents, partition: 3, offset: 1201)
    private static let bound = Binding(
        owner: "ada", device: "ada-phone", install: "i1", token: "abcd", app: "com.example.app", environment: .sandbox,
        dialect: .hush, acks: true, version: version)

    private static var told: Op {
        var op = Op(kind: .create, id: "7", revision: 2, content: Content(json: #"{"body":"B"}"#))
        op.isTold = true
        return op
    }

    static let golden: [(PushRecord, String)] = [
        (
            .bind(bound, fresh: true, cause: Position(topic: .devices, partition: 3, offset: 90)),
            #"{"v":1,"kind":"bind","owner":"ada","device":"ada-phone","install":"i1","token":"abcd","#
                + #""app":"com.example.app","environment":"sandbox","dialect":"hush","acks":true,"fresh":true,"#
                + #""version":[1764583200123,3,88],"cause":{"topic":"hush.devices","partition":3,"offset":90}}"#
        ),
        (
            .unbind(owner: "ada", version: version),
            #"{"v":1,"kind":"unbind","owner":"ada","version":[1764583200123,3,88]}"#
        ),
        (
            .ops(
                owner: "ada",
                ops: [
                    Op(
                        kind: .create, id: "order-42", revision: 1, first: true, urgent: true, mode: .visible,
                        notBefore: Timestamp(seconds: 1_764_583_260), expires: Timestamp(seconds: 1_764_583_300),
                        content: Content(json: #"{"title":"Caf\"é\"","extras":{"n":1.5,"m":1e+20}}"#)),
                    Op(kind: .delete, id: "order-41", revision: .max, quiet: true, liveCount: 2),
                ], cause: cause),
            #"{"v":1,"kind":"ops","owner":"ada","ops":[{"op":"create","id":"order-42","revision":1,"first":true,"#
                + #""urgent":true,"mode":"visible","not_before":"2025-12-01T10:01:00.000Z","#
                + #""expires":"2025-12-01T10:01:40.000Z","content":{"title":"Caf\"é\"","extras":{"n":1.5,"m":1e+20}}},"#
                + #"{"op":"delete","id":"order-41","revision":9223372036854775807,"quiet":true,"live":2}],"#
                + #""cause":{"topic":"hush.intents","partition":3,"offset":1201}}"#
        ),
        (
            .ops(owner: "ada", ops: [told], cause: Position(topic: .signals, partition: 1, offset: 2)),
            #"{"v":1,"kind":"ops","owner":"ada","ops":[{"op":"create","id":"7","revision":2,"told":true,"#
                + #""content":{"body":"B"}}],"cause":{"topic":"hush.signals","partition":1,"offset":2}}"#
        ),
        (
            .signal(
                owner: "ada",
                reading: DeviceReading(
                    at: Timestamp(seconds: 1_764_583_200), battery: 0.12, charging: false, lowPower: true,
                    backgroundRefresh: true, notBefore: Timestamp(seconds: 1_764_583_260)),
                acks: [OpID(partition: 3, offset: 1207, index: 0)], hello: true),
            #"{"v":1,"kind":"signal","owner":"ada","at":"2025-12-01T10:00:00.000Z","battery":0.12,"charging":false,"#
                + #""low_power":true,"background_refresh":true,"not_before":"2025-12-01T10:01:00.000Z","#
                + #""acks":["3:1207:0"],"hello":true}"#
        ),
        (
            .signal(owner: "ada", reading: DeviceReading(), acks: [], hello: false),
            #"{"v":1,"kind":"signal","owner":"ada"}"#
        ),
    ]

    @Test("every kind of record is written as documented, and reads back the same", arguments: golden)
    func writesAndReads(record: PushRecord, expected: String) throws {
        var json = JSONWriter()
        PushRecordWriter.write(record, into: &json)
        #expect(String(decoding: json.bytes, as: UTF8.self) == expected)
        #expect(try read(expected) == record)
    }

    @Test("content comes back in the very bytes the intent's codec wrote")
    func contentIsStable() throws {
        let intent = try decodedIntent(
            #"{"id":1,"title":"\u0000\u001f\t\\\"/\u2028é","extras":{"a":1.10,"b":1E5,"c":-0,"d":[1e-7,18446744073709551615]}}"#
        )
        guard case .show(let content) = intent.body else {
            Issue.record("it shows something")
            return
        }
        let record = PushRecord.ops(
            owner: "ada", ops: [Op(kind: .create, id: "1", revision: 1, content: content)], cause: Self.cause)
        var json = JSONWriter()
        PushRecordWriter.write(record, into: &json)
        #expect(try read(String(decoding: json.bytes, as: UTF8.self)) == record)
    }

    @Test("a version that is not known stops the reader, whatever else the record holds")
    func stopsAtUnknownVersion() {
        #expect(throws: PushRecordFault.unknownVersion(2)) { try read(#"{"v":2,"kind":"teleport"}"#) }
        #expect(
            PushRecordFault.unknownVersion(2).description
                == "the record has version 2, and this build reads 1: upgrade it first")
    }

    @Test(
        "a record that no planner wrote is malformed",
        arguments: [
            "", "x", "{}", #"{"v":"1"}"#, #"{"v":1}"#, #"{"v":1,"kind":"bind"}"#,
            #"{"v":1,"kind":"nudge","owner":"a"}"#,
            #"{"v":1,"kind":"unbind","owner":"a"}"#, #"{"v":1,"kind":"ops","owner":"a","ops":[]}"#,
            #"{"v":1,"kind":"ops","owner":"a","ops":[{"op":"bind","id":"x","revision":1}],"#
                + #""cause":{"topic":"hush.intents","partition":0,"offset":0}}"#,
            #"{"v":1,"kind":"ops","owner":"a","ops":[{"op":"create","id":"x","revision":1}],"#
                + #""cause":{"topic":"hush.intents","partition":0,"offset":0}}"#,
            #"{"v":1,"kind":"ops","owner":"a","ops":[],"cause":{"topic":"hush.pushes","partition":0,"offset":0}}"#,
        ])
    func refusesMalformed(value: String) {
        do throws(PushRecordFault) {
            _ = try read(value)
            Issue.record("the record was read")
        } catch {
            if case .unknownVersion = error { Issue.record("the version is known") }
        }
    }

    @Test("an unregister of the deliverer's is what the planner's decoder reads")
    func unregisterRoundTrips() throws {
        let loss = Unregistration(
            recipient: "ada", device: "ada-phone", reason: "Unregistered", address: Self.address, version: Self.version,
            at: Timestamp(millis: 1_764_583_200_999))
        var json = JSONWriter()
        DeviceRecordWriter.write(loss, into: &json)
        let text = String(decoding: json.bytes, as: UTF8.self)
        #expect(
            text
                == #"{"recipient":"ada","device":"ada-phone","unregister":true,"reason":"Unregistered","#
                + #""address":"0123456789abcdef0123456789abcdef","version":[1764583200123,3,88],"#
                + #""at":"2025-12-01T10:00:00.999Z"}"#)
        #expect(try decode(.devices, text).event == .unregister(loss))
    }

    @Test("a register that is written is what the planner's decoder reads")
    func registerRoundTrips() throws {
        let registration = Registration(
            recipient: "ada", device: "ada-phone", token: "abcd", app: "com.example.app", environment: .sandbox,
            dialect: .airship, acks: true, tags: ["ios", "de"], install: "i1", fresh: true)
        var json = JSONWriter()
        DeviceRecordWriter.write(registration, into: &json)
        #expect(try decode(.devices, String(decoding: json.bytes, as: UTF8.self)).event == .register(registration))
    }

    @Test("whatever the bytes, the reader gives a record or a fault")
    func neverFailsOtherwise() {
        var random = SeededRandom(seed: 19)
        let reader = PushRecordReader()
        var read = 0
        for round in 0..<6000 {
            var bytes = Array(Self.golden[round % Self.golden.count].1.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) { mutate(&bytes, &random) }
            bytes.withUnsafeBytes { bytes in
                if case .success = Result(catching: { () throws(PushRecordFault) in try reader.read(bytes) }) {
                    read += 1
                }
            }
        }
        #expect(read > 100)
        for (record, text) in Self.golden {
            #expect(Array(text.utf8).withUnsafeBytes { bytes in try? reader.read(bytes) } == record)
        }
    }

    private static let address = Address(key: "0123456789abcdef0123456789abcdef")

    private func read(_ text: String) throws(PushRecordFault) -> PushRecord {
        let result = Array(text.utf8).withUnsafeBytes { bytes in
            Result { () throws(PushRecordFault) in try PushRecordReader().read(bytes) }
        }
        return try result.get()
    }
}
