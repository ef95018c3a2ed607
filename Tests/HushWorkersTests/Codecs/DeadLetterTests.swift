import HushCore
import HushStream
import HushWorkers
import Testing

@Suite("Dead letters")
struct DeadLetterTests {
    private func text(_ headers: [RecordHeader]) -> [String] {
        headers.map { "\($0.name)=\(String(decoding: $0.value, as: UTF8.self))" }
    }

    @Test("the original's headers stay, and where it died and why come behind them")
    func addsHeaders() {
        let headers = DeadLetter.headers(
            of: [RecordHeader(name: "ce_id", value: Array("e1".utf8))], topic: "hush.intents", partition: 3,
            offset: 1201, timeMillis: 1_764_583_200_123, stage: .plan,
            reason: DeadReason(.badField, "field \"id\" must not be empty"))
        #expect(
            text(headers) == [
                "ce_id=e1", "__streams.errors.topic=hush.intents", "__streams.errors.partition=3",
                "__streams.errors.offset=1201", "__streams.errors.exception=hush.bad_field",
                "__streams.errors.message=field \"id\" must not be empty", "hush.error.stage=plan",
                "hush.error.code=bad_field", "hush.error.time=1764583200123",
            ])
    }

    @Test("a letter that died before tells its last death only")
    func replacesEarlierDeath() {
        let first = DeadLetter.headers(
            of: [], topic: "hush.intents", partition: 0, offset: 1, timeMillis: 1, stage: .plan,
            reason: DeadReason(.noValue, "a"))
        let second = DeadLetter.headers(
            of: first, topic: "hush.reads", partition: 1, offset: 2, timeMillis: 2, stage: .deliver,
            reason: DeadReason(.notJSON, "b"))
        #expect(text(second).count == text(first).count)
        #expect(text(second).contains("hush.error.code=not_json"))
    }

    @Test("the headers keep within the room that hush.dead has for them")
    func boundsHeaders() {
        let headers = DeadLetter.headers(
            of: [], topic: "hush.intents", partition: .max, offset: .max, timeMillis: .max, stage: .deliver,
            reason: DeadReason(.badField, String(repeating: "é", count: 100_000)))
        let bytes = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.count + 16 }
        #expect(bytes < DeadLetter.bytesMax)
    }

    @Test("codes are lower case, stable, and say what they mean")
    func codesAreStable() {
        #expect(
            DeadCode.allCases.map(\.rawValue) == [
                "no_value", "not_utf8", "not_json", "not_object", "too_deep", "too_large", "bad_envelope",
                "missing_field", "bad_field", "misrouted", "undeliverable", "unwritable",
                "too_many_audiences",
            ])
        #expect(DeadCode.allCases.allSatisfy { $0.meaning.hasSuffix(".") })
    }
}
