import Foundation
import HushBase
import HushCore
import HushWorkers
import Testing

@Suite("Pseudonyms in the ledger")
struct PseudonymTests {
    private static let keyText = "an example key, and no secret at all"
    private static let names: [(Bytes, Bytes)] = [
        ("ada", "hmac:lyUQgjDB7L2XomlGeDCRSw"), ("ada-phone", "hmac:5JCOAkQKZSbRGzWUmHlPoA"),
        ("ada-pad", "hmac:oDkqXEJBtaeve0DJMdUnHw"),
    ]
    private let now = Timestamp(millis: 1_764_583_200_123)
    private let cause = Position(topic: .intents, partition: 3, offset: 1201)

    private func key() throws -> PseudonymKey { try PseudonymKey(Array(Self.keyText.utf8)) }

    private func text(_ write: ((UnsafeRawBufferPointer) -> Void) -> Void) -> String {
        var text = ""
        write { text = String(decoding: $0, as: UTF8.self) }
        return text
    }

    @Test("recipients and devices of plan and order lines are pseudonyms, ids are not, and the key has a mark")
    func planLines() throws {
        let book = LedgerBook(
            task: "plan-3", stage: .plan, config: "c0ffee", build: "1.0.0", pseudonymKey: try key())
        let line = PlanLine(
            decision: .planned, recipient: "ada", id: "order-42", revision: 1,
            ops: [
                .init(device: "ada-phone", kind: .create), .init(device: "ada-pad", kind: .delete, id: "order-41"),
            ], cause: cause)
        #expect(
            text { book.write(line, at: now, $0) }
                == #"{"v":1,"task":"plan-3","n":0,"at":"2025-12-01T10:00:00.123Z","stage":"plan","#
                + #""decision":"planned","id":"order-42","recipient":"hmac:lyUQgjDB7L2XomlGeDCRSw","revision":1,"#
                + #""ops":[["hmac:5JCOAkQKZSbRGzWUmHlPoA","create"],"#
                + #"["hmac:oDkqXEJBtaeve0DJMdUnHw","delete","order-41"]],"#
                + #""cause":{"topic":"hush.intents","partition":3,"offset":1201}}"#)
        #expect(book.shown(recipient: "ada") == "hmac:lyUQgjDB7L2XomlGeDCRSw")
        // An audience's line has nobody.
        #expect(book.shown(recipient: "") == "")
        let order = text { book.writeOrder(at: now, $0) }
        #expect(order.contains(#""build":"1.0.0","pseudonyms":"4e344bf4eecf5984","previous":"#))
    }

    @Test("so are those of deliver lines, redrive lines and slices")
    func otherLines() throws {
        let book = LedgerBook(task: "t", stage: "deliver", config: "c", build: "b", pseudonymKey: try key())
        let part = DeliveryLine.Part(
            op: OpID(partition: 7, offset: 1207, index: 0), kind: .create, id: "order-42", cause: nil)
        let delivery = DeliveryLine(.accepted, recipient: "ada", device: "ada-phone", ops: [part, part])
        let slice = AudienceSlice(
            id: "promo", revision: 1, cause: cause, after: "ada", through: "ada-pad", recipients: 1, isLast: true)
        let place = TopicPlace(topic: .intents, partition: 0, offset: 1)
        let redrive = RedriveLine(
            recipient: "ada", id: "order-42", code: "bad_field", attempt: 1, mended: nil, letter: place, origin: place,
            to: place, run: "r")
        let lines = [
            text { book.write(delivery, at: now, $0) },
            text { book.write(slice, count: 1, digest: "d", at: now, $0) },
            text { book.write(redrive, at: now, $0) },
        ]
        #expect(lines[0].contains(#""device":"hmac:5JCOAkQKZSbRGzWUmHlPoA","#))
        #expect(lines[0].components(separatedBy: #""recipient":"hmac:lyUQgjDB7L2XomlGeDCRSw""#).count == 3)
        #expect(lines[1].contains(#""after":"hmac:lyUQgjDB7L2XomlGeDCRSw","through":"hmac:oDkqXEJBtaeve0DJMdUnHw""#))
        #expect(lines[2].contains(#""recipient":"hmac:lyUQgjDB7L2XomlGeDCRSw","id":"order-42""#))
        for line in lines { #expect(!line.contains("ada")) }
    }

    @Test("without a key names stand in clear, and order lines say nothing of one")
    func clear() {
        let book = LedgerBook(task: "plan-3", stage: .plan, config: "c", build: "b")
        #expect(book.shown(recipient: "ada") == "ada")
        #expect(!text { book.writeOrder(at: now, $0) }.contains("pseudonyms"))
    }

    @Test("another program makes the same pseudonyms and the same mark from the key file, as the reference page says")
    func recomputed() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
        let page = try String(contentsOf: root.appendingPathComponent("docs/reference/ledger.md"), encoding: .utf8)
        let start = try #require(page.range(of: "```python\n"))
        let program = try #require(
            page[start.upperBound...].range(of: "```").map { page[start.upperBound..<$0.lowerBound] })
        let file = FileManager.default.temporaryDirectory.appending(path: "hush-key-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(Self.keyText.utf8).write(to: file)
        let odd = "Zoë \"the\\first\""
        let names = Self.names.map(\.0.text) + [odd, ""]
        let output = try RealKafka.run("python3", ["-c", String(program), file.path] + names)
        let made = Pseudonyms(try key())
        let expected = Self.names.map(\.1) + [made.pseudonym(of: Bytes(odd))]
        let lines = output.split(separator: "\n").map(String.init)
        #expect(lines.dropLast() == expected.map(\.text)[...])
        #expect(lines.last == "mark 4e344bf4eecf5984" && made.mark == "4e344bf4eecf5984")
    }

    @Test("a key is never shown, whatever of it is printed")
    func hidden() throws {
        let key = try key()
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] {
            #expect(text.contains("4e344bf4eecf5984") && !text.contains("97") && !text.contains("example"), "\(text)")
        }
    }

    @Test("a key file that is missing, too short or too large is refused, with its path and what to do")
    func badFiles() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "hush-keys-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        func read(_ name: String, _ bytes: Int?) throws -> PseudonymKey? {
            let path = directory.appending(path: name).path
            if let bytes { try Data(repeating: 1, count: bytes).write(to: URL(fileURLWithPath: path)) }
            var loader = SettingsLoader(table: HushSettings.table)
            loader.addArgument("ledger.pseudonym.key.file", path)
            return try PseudonymKey(try loader.load())
        }
        func problem(_ name: String, _ bytes: Int?) -> String? {
            #expect(throws: SettingsFault.self) { try read(name, bytes) }?.problems.first
        }
        let missing = try #require(problem("missing", nil))
        #expect(missing.hasPrefix("ledger.pseudonym.key.file: \(directory.path)/missing cannot be read: "))
        #expect(
            problem("short", 31)
                == "ledger.pseudonym.key.file: \(directory.path)/short has 31 bytes, and a key must have 32 at least: "
                + "openssl rand -hex 32 makes one")
        #expect(problem("large", 4097)?.hasSuffix("large has 4097 bytes: a key has 4096 at most") == true)
        #expect(problem("", nil)?.contains("cannot be read: ") == true)
        #expect(try read("good", 32) != nil)
        #expect(try PseudonymKey(Settings(table: HushSettings.table)) == nil)
    }
}
