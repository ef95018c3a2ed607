import HushCore
import HushWorkers
import Testing

@Suite("The ledger's book")
struct LedgerBookTests {
    private let now = Timestamp(millis: 1_764_583_200_123)
    private let cause = Position(topic: .intents, partition: 3, offset: 1201)

    private func makeBook(_ state: LedgerState = LedgerState(next: 88_120)) -> LedgerBook {
        LedgerBook(task: "plan-3", stage: .plan, config: "c0ffee", build: "1.0.0", state: state)
    }

    private func write(_ line: PlanLine, in book: LedgerBook) -> String {
        var text = ""
        book.write(line, at: now) { text = String(decoding: $0, as: UTF8.self) }
        return text
    }

    private func order(_ book: LedgerBook) -> String {
        var text = ""
        book.writeOrder(at: now) { text = String(decoding: $0, as: UTF8.self) }
        return text
    }

    @Test("a plan line is written as documented")
    func writesPlanLine() {
        let line = PlanLine(
            decision: .planned, recipient: "ada", id: "order-42", revision: 1,
            ops: [
                .init(device: "ada-phone", kind: .create), .init(device: "ada-pad", kind: .delete, id: "order-41"),
            ], cause: cause)
        #expect(
            write(line, in: makeBook())
                == #"{"v":1,"task":"plan-3","n":88120,"at":"2025-12-01T10:00:00.123Z","stage":"plan","#
                + #""decision":"planned","id":"order-42","recipient":"ada","revision":1,"#
                + #""ops":[["ada-phone","create"],["ada-pad","delete","order-41"]],"#
                + #""cause":{"topic":"hush.intents","partition":3,"offset":1201}}"#)
    }

    @Test("what a line does not know is left out")
    func leavesOutAbsent() {
        #expect(
            write(PlanLine(decision: .dead, recipient: "", cause: cause), in: makeBook())
                == #"{"v":1,"task":"plan-3","n":88120,"at":"2025-12-01T10:00:00.123Z","stage":"plan","#
                + #""decision":"dead","cause":{"topic":"hush.intents","partition":3,"offset":1201}}"#)
    }

    @Test("a deliver line is written as documented")
    func writesDeliverLine() {
        let book = LedgerBook(
            task: "deliver-7", stage: .deliver, config: "c0ffee", build: "1.0.0", state: LedgerState(next: 5121))
        var line = DeliveryLine(
            .retry, isFinal: false, recipient: "ada", device: "ada-phone",
            ops: [
                .init(op: OpID(partition: 7, offset: 1207, index: 0), kind: .create, id: "order-42", cause: cause),
                .init(op: OpID(partition: 7, offset: 1208, index: 1), kind: .bind, id: nil, cause: nil),
            ], reason: "ServiceUnavailable", until: Timestamp(millis: 1_764_583_201_000))
        line.attempt = 1
        line.apnsID = Array("0a0b0c0d-0000-4000-8000-000000000001".utf8)
        line.status = 503
        var text = ""
        book.write(line, at: now) { text = String(decoding: $0, as: UTF8.self) }
        #expect(
            text
                == #"{"v":1,"task":"deliver-7","n":5121,"at":"2025-12-01T10:00:00.123Z","stage":"deliver","#
                + #""outcome":"retry","final":false,"device":"ada-phone","attempt":1,"#
                + #""apns_id":"0a0b0c0d-0000-4000-8000-000000000001","status":503,"reason":"ServiceUnavailable","#
                + #""until":"2025-12-01T10:00:01.000Z","ops":[{"op":"7:1207:0","kind":"create","id":"order-42","#
                + #""recipient":"ada","cause":{"topic":"hush.intents","partition":3,"offset":1201}},"#
                + #"{"op":"7:1208:1","kind":"bind","recipient":"ada"}]}"#)
    }

    @Test("a hold names its gate and how long")
    func writesHold() {
        let book = LedgerBook(task: "deliver-7", stage: .deliver, config: "c0ffee", build: "1.0.0")
        let line = DeliveryLine(
            .held, isFinal: false, recipient: "ada", device: nil, ops: [], gate: .battery,
            until: Timestamp(millis: 1_764_583_201_000))
        var text = ""
        book.write(line, at: now) { text = String(decoding: $0, as: UTF8.self) }
        #expect(
            text.hasSuffix(
                #""outcome":"held","final":false,"gate":"battery","until":"2025-12-01T10:00:01.000Z","ops":[]}"#))
    }

    @Test("an order line tells the interleave and the ends, and its digest covers the part")
    func writesOrderLine() {
        let book = makeBook()
        for offset in 1201..<1204 { book.took(.intents, offset: Int64(offset)) }
        book.took(.reads, offset: 7)
        book.took(.intents, offset: 1204)
        let line = write(PlanLine(decision: .duplicate, recipient: "ada", id: "x", cause: cause), in: book)
        let head =
            #"{"v":1,"task":"plan-3","n":88121,"at":"2025-12-01T10:00:00.123Z","stage":"plan","#
            + #""order":[["hush.intents",3],["hush.reads",1],["hush.intents",1]],"#
            + #""ends":{"hush.intents":1205,"hush.reads":8},"config":"c0ffee","build":"1.0.0","previous":"#
            + "\"\(String(repeating: "0", count: 64))\""
        let digest = String(decoding: Hex.encode(SHA256.digest(Array((line + "\n" + head).utf8))), as: UTF8.self)
        #expect(order(book) == head + ",\"digest\":\"\(digest)\"}")
        #expect(book.state.next == 88_122)
        #expect(Hex.encode(book.state.previous) == Array(digest.utf8))
        #expect(!book.isOpen)
    }

    @Test("the next part's order line names the digest before it")
    func chains() {
        let book = makeBook()
        book.took(.intents, offset: 1)
        _ = order(book)
        let first = String(decoding: Hex.encode(book.state.previous), as: UTF8.self)
        book.took(.intents, offset: 2)
        #expect(order(book).contains("\"previous\":\"\(first)\""))
    }

    @Test("after an abort the same records give the same lines again")
    func restores() {
        let book = makeBook()
        let committed = book.state
        func part() -> [String] {
            book.took(.intents, offset: 5)
            return [
                write(PlanLine(decision: .planned, recipient: "ada", id: "x", cause: cause), in: book), order(book),
            ]
        }
        book.took(.reads, offset: 9)
        _ = write(PlanLine(decision: .stale, recipient: "bob", id: "y", cause: cause), in: book)
        book.restore(committed)
        let again = part()
        book.restore(committed)
        #expect(part() == again)
        #expect(
            again
                == {
                    let fresh = makeBook()
                    fresh.took(.intents, offset: 5)
                    return [
                        write(PlanLine(decision: .planned, recipient: "ada", id: "x", cause: cause), in: fresh),
                        order(fresh),
                    ]
                }())
    }

    @Test("an order line never outgrows a record: past a limit it is due at once")
    func boundsOrder() {
        let book = makeBook()
        var longest = 0
        for offset in 0..<Int64(20_000) {
            book.took(offset % 2 == 0 ? .intents : .reads, offset: offset)
            if book.isOrderDue { longest = max(longest, order(book).utf8.count) }
        }
        #expect(longest > 50_000 && longest < 200_000)
    }
}
