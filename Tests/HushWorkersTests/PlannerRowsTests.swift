import HushCore
import HushStream
import Testing

@testable import HushWorkers

@Suite struct PlannerRowsTests {
    static let mark = Mark(
        standing: Standing(created: 2, deleted: 1), digest: 0x0102_0304_0506_0708, touched: Timestamp(millis: 1000),
        live: LiveNotification(
            content: Content(json: #"{"title":"t"}"#), expires: Timestamp(millis: 2000),
            notBefore: Timestamp(millis: -1), mode: .auto, urgent: true, app: "chat",
            planned: PlanOrder(at: Timestamp(millis: 900), offset: 7)))

    static func bytes(_ mark: Mark, lifeMillis: Int64 = 255) -> [UInt8] {
        var writer = RowWriter()
        PlannerRows.write(mark, lifeMillis: lifeMillis, &writer)
        return writer.bytes
    }

    @Test("a mark has these bytes, drop time first, then the format")
    func goldenMark() {
        let expected: [UInt8] =
            [0, 0, 0, 0, 0, 0, 4, 0xe8, 1, 4, 2, 0x88, 0x8e, 0x98, 0xa8, 0xc0, 0xe0, 0x80, 0x81, 0x01, 0xd0, 0x0f]
            + [1, 0xa0, 0x1f, 0x88, 0x0e, 0x0e, 2, 1, 1, 1, 1, 4] + Array("chat".utf8)
            + [13] + Array(#"{"title":"t"}"#.utf8)
        #expect(Self.bytes(Self.mark) == expected)
    }

    static let marks: [Mark] = [
        mark,
        Mark(touched: .distantPast),
        Mark(standing: Standing(created: .max, deleted: .max), digest: .max, touched: .distantFuture),
    ]

    @Test("a mark reads back as it was written", arguments: marks)
    func readsMark(_ mark: Mark) throws {
        let read = try Self.bytes(mark).withUnsafeBytes { bytes in try PlannerRows.mark(bytes) }
        #expect(read == mark)
    }

    @Test("the list entry of a mark is there where it has content", arguments: marks)
    func readsEntry(_ mark: Mark) throws {
        let id = Array("x".utf8)
        let entry = try Self.bytes(mark).withUnsafeBytes { bytes in
            try id.withUnsafeBytes { id in try PlannerRows.liveEntry(id: id, bytes) }
        }
        let expected = mark.live.map { LiveEntry(id: "x", expires: $0.expires, planned: $0.planned) }
        #expect(entry == expected)
    }

    static let recipient: Recipient = {
        func device(_ name: Bytes, install: Bytes?, renewed: BindingVersion?) -> RegisteredDevice {
            let registration = Registration(
                recipient: "ada", device: name, token: "ab01", app: "chat", environment: .sandbox, dialect: .crt,
                acks: true, tags: ["ios", "de"], install: install, fresh: true)
            return RegisteredDevice(
                registration: registration, address: registration.address,
                version: BindingVersion(at: Timestamp(millis: 5), partition: 3, offset: 88), renewed: renewed)
        }
        let later = BindingVersion(at: Timestamp(millis: 6), partition: 3, offset: 90)
        return Recipient(
            devices: [device("pad", install: nil, renewed: later), device("phone", install: "i1", renewed: nil)],
            departed: [DepartedDevice(device: "old", at: later)])
    }()

    @Test("a recipient reads back as it was written")
    func readsRecipient() throws {
        var writer = RowWriter()
        PlannerRows.write(Self.recipient, &writer)
        let read = try writer.bytes.withUnsafeBytes { bytes in
            try PlannerRows.recipient("ada", bytes)
        }
        #expect(read == Self.recipient)
    }

    @Test("a row of a newer format stops the task and says what to do")
    func newerFormat() {
        var mark = Self.bytes(Self.mark)
        mark[8] = 2
        let expected = TaskFailure("a mark row has format 2, and this build knows up to 1: run the newer build")
        #expect(throws: expected) {
            try mark.withUnsafeBytes { bytes in try PlannerRows.mark(bytes) }
        }
    }

    @Test("a row that was cut or lengthened anywhere stops the task")
    func damagedRows() {
        var writer = RowWriter()
        PlannerRows.write(Self.recipient, &writer)
        let recipient = writer.bytes
        let mark = Self.bytes(Self.mark)
        for count in mark.indices {
            #expect(throws: TaskFailure.self) {
                try mark[..<count].withUnsafeBytes { bytes in try PlannerRows.mark(bytes) }
            }
        }
        for count in recipient.indices {
            #expect(throws: TaskFailure.self) {
                try recipient[..<count].withUnsafeBytes { bytes in
                    try PlannerRows.recipient("ada", bytes)
                }
            }
        }
        #expect(throws: TaskFailure.self) {
            try (mark + [0]).withUnsafeBytes { bytes in try PlannerRows.mark(bytes) }
        }
    }

    @Test("no recipient's key prefix begins another's key")
    func prefixes() {
        let names: [Bytes] = ["a", "ab", "", Bytes(String(repeating: "a", count: 200)), "\u{1}a"]
        for left in names {
            for right in names where left != right {
                var first = ByteBuffer(reserving: 0)
                var second = ByteBuffer(reserving: 0)
                PlannerRows.appendMarkPrefix(left, to: &first)
                PlannerRows.appendMarkPrefix(right, to: &second)
                let (prefix, key) = (first.bytes, second.bytes + Array("id".utf8))
                #expect(!key.starts(with: prefix))
            }
        }
    }
}
