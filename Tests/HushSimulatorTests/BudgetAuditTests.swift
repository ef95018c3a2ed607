import HushCore
import HushKit
import Testing

@testable import HushSimulator

@Suite("The count of wake-ups")
struct BudgetAuditTests {
    private static let start = Timestamp(millis: 1_764_583_200_000)

    private static func op(_ urgent: Bool = false) -> Op {
        Op(kind: .create, id: "a", revision: 1, urgent: urgent, content: Content(json: "{}"))
    }

    private static func payload(_ ops: [(Bytes, Bytes)]) -> PayloadValue {
        ["hush": ["ops": .array(ops.map { name, kind in [.string(name), .string(kind), "a", 1] })]]
    }

    private static func audit() -> BudgetAudit { BudgetAudit(policy: Policy()) }

    @Test("six deletes may leave at once, the seventh may not, and twenty minutes bring one more")
    func burst() {
        var audit = Self.audit()
        for _ in 0..<6 { audit.left(Self.payload([("1:0:0", "d")]), isAlert: false, at: Self.start) }
        #expect(audit.broken == nil)
        audit.left(Self.payload([("1:0:0", "d")]), isAlert: false, at: Self.start + .seconds(1200))
        #expect(audit.broken == nil)
        audit.left(Self.payload([("1:0:0", "d")]), isAlert: false, at: Self.start + .seconds(1201))
        #expect(audit.broken == Self.start + .seconds(1201))
    }

    @Test("what is refused, and what is acknowledged within a minute, gives its token back")
    func earned() {
        var audit = Self.audit()
        for _ in 0..<20 {
            audit.left(Self.payload([("1:0:0", "d")]), isAlert: false, at: Self.start)
            audit.answered(
                .answered(status: 429, reason: "TooManyRequests", retryAfter: nil, timestamp: nil), at: Self.start)
        }
        for _ in 0..<20 {
            audit.left(Self.payload([("1:0:0", "d")]), isAlert: false, at: Self.start)
            audit.answered(.answered(status: 200, reason: "", retryAfter: nil, timestamp: nil), at: Self.start)
            audit.acknowledged(at: Self.start + .seconds(60))
        }
        #expect(audit.broken == nil)
        for _ in 0..<7 { audit.left(Self.payload([("1:0:0", "d")]), isAlert: false, at: Self.start) }
        #expect(audit.broken != nil)
    }

    @Test("a create is free after its minute until APNs has it; a hello that brings it again makes it new")
    func creates() {
        var audit = Self.audit()
        let later = Self.start + .seconds(60)
        audit.queued([Self.op()], partition: 1, offset: 5, at: Self.start)
        for _ in 0..<20 { audit.left(Self.payload([("1:5:0", "c")]), isAlert: false, at: later) }
        #expect(audit.broken == nil)
        // The hello's answer is under way while the first one's 200 comes.
        audit.queued([Self.op()], partition: 1, offset: 6, at: Self.start)
        audit.answered(.answered(status: 200, reason: "", retryAfter: nil, timestamp: nil), at: later)
        for _ in 0..<20 { audit.left(Self.payload([("1:6:0", "c")]), isAlert: false, at: later) }
        #expect(audit.broken == nil)
        for _ in 0..<7 { audit.left(Self.payload([("1:5:0", "c")]), isAlert: false, at: later) }
        #expect(audit.broken == later)
    }

    @Test("urgent creates, alerts and binds need no token")
    func free() {
        var audit = Self.audit()
        audit.queued([Self.op(true)], partition: 1, offset: 5, at: Self.start)
        for _ in 0..<20 {
            audit.left(Self.payload([("1:5:0", "c")]), isAlert: false, at: Self.start)
            audit.left(Self.payload([("1:7:0", "c")]), isAlert: true, at: Self.start)
            audit.left(Self.payload([("1:8:0", "b")]), isAlert: false, at: Self.start)
        }
        #expect(audit.broken == nil)
    }
}
