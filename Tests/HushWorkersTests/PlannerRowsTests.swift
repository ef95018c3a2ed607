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
        Mark(touched: Timestamp(millis: 1), excluded: ["ada-pad", "ada-tv"]),
        Mark(standing: Standing(created: .max, deleted: .max), digest: .max, touched: .distantFuture),
    ]

    @Test("a mark reads back as it was written", arguments: marks)
    func readsMark(_ mark: Mark) throws {
        let read = try Self.bytes(mark).withUnsafeBytes { bytes in try PlannerRows.mark(bytes) }
        #expect(read == mark)
    }

    @Test("a mark is of format 1 where it excludes no device, and of 2 where it does")
    func markFormats() {
        #expect(Self.bytes(Self.mark)[8] == 1)
        var mark = Self.mark
        mark.excluded = ["pad"]
        #expect(Self.bytes(mark)[8] == 2)
        #expect(Self.bytes(mark).suffix(5) == [1, 3] + Array("pad".utf8))
    }

    static let jobs: [AudienceJob] = [
        AudienceJob(turn: 1),
        AudienceJob(
            turn: .max,
            evaluation: .init(cause: Position(topic: .fanout, partition: 3, offset: 88), after: "ada"),
            audience: Audience(all: ["ios", "de"], any: ["a"], none: []), app: "chat"),
        AudienceJob(turn: 7, telling: .init(cause: Position(topic: .fanout, partition: 0, offset: 0))),
    ]

    @Test("an audience's job reads back as it was written", arguments: jobs)
    func readsJob(_ job: AudienceJob) throws {
        var writer = RowWriter()
        AudienceRows.write(job, dropping: Timestamp(millis: 1), &writer)
        let read = try writer.bytes.withUnsafeBytes { bytes in try AudienceRows.job(bytes) }
        #expect(read == job)
        let turn = try Array("x".utf8).withUnsafeBytes { id in
            try writer.bytes.withUnsafeBytes { bytes in try AudienceRows.turn(id: id, bytes) }
        }
        #expect(turn == AudienceTurn(turn: job.turn, id: "x", isAsking: job.evaluation != nil))
    }

    @Test("an audience's mark reads back as it was written", arguments: marks, [true, false])
    func readsAudience(_ mark: Mark, _ isEvaluated: Bool) throws {
        let audience = AudienceMark(mark: mark, isEvaluated: isEvaluated)
        var writer = RowWriter()
        AudienceRows.write(audience, lifeMillis: 255, &writer)
        let read = try writer.bytes.withUnsafeBytes { bytes in try AudienceRows.audience(bytes) }
        #expect(read == audience)
    }

    @Test("keys of audiences begin with a zero, which no recipient's marks do, and holders of one id stand together")
    func audienceKeys() {
        #expect(AudienceRows.audienceKey("x") == [0, 0x61, 0x78])
        #expect(AudienceRows.jobKey("x") == [0, 0x6a, 0x78])
        #expect(AudienceRows.holderPrefix("x") == [0, 0x68, 0, 1, 0x78])
        #expect(AudienceRows.holderPrefix(Bytes(String(repeating: "x", count: 256))).prefix(4) == [0, 0x68, 1, 0])
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
        mark[8] = 3
        let expected = TaskFailure("a mark row has format 3, and this build knows up to 2: run the newer build")
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

    @Test("25: rows of a newer format stop the task, whatever they are of")
    func newerFormats() {
        func expect(_ row: String, _ read: (UnsafeRawBufferPointer) throws(TaskFailure) -> Void, _ bytes: [UInt8]) {
            var failure: TaskFailure?
            bytes.withUnsafeBytes { bytes in
                do throws(TaskFailure) { try read(bytes) } catch { failure = error }
            }
            #expect(failure?.description.hasPrefix("a \(row) row has format 9, and this build knows up to ") == true)
        }
        let expiring: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1, 9, 0, 0]
        expect("recipient", { bytes throws(TaskFailure) in _ = try PlannerRows.recipient("ada", bytes) }, [9, 0, 0])
        expect("audience", { bytes throws(TaskFailure) in _ = try AudienceRows.audience(bytes) }, expiring)
        expect("audience job", { bytes throws(TaskFailure) in _ = try AudienceRows.job(bytes) }, expiring)
    }
}
