import HushCore
import HushKit

/// Counts the background pushes of one address against what the wake-up budget's rule allows, without the rule's bucket:
/// of the pushes that need a token, no span of time may hold more than the burst, what flows in meanwhile, and what was
/// earned back in it.
///
/// It sees what the deliverer sees and when, transaction by transaction: an answer that was lost with its process gave
/// nothing back, and an op that it was about is as new as before.
struct BudgetAudit {
    private enum Entry {
        case spent(Timestamp)
        case earned
    }

    private let burst: Int
    private let millisPerToken: Int64
    private let createWait: Duration
    private let promptAck: Duration
    /// Creates of which APNs did not say yet that it has them, and when they may go without a token; by their ops' ids,
    /// for a hello brings the same notification again under another.
    private var freeFrom: [OpID: Timestamp] = [:]
    private var entries: [Entry] = []
    /// When APNs last answered 200, for acknowledgements that come soon after.
    private var acceptedAt = Timestamp.distantPast
    /// What the push under way brings, and whether it wakes an app.
    private var creates: [OpID] = []
    private var isBackground = false
    private(set) var broken: Timestamp?

    init(policy: Policy) {
        burst = policy.wakeUpBurst
        millisPerToken = 3_600_000 / Int64(max(policy.wakeUpsPerHour, 1))
        createWait = policy.createBudgetWaitMax
        promptAck = policy.promptAck
    }

    /// The deliverer took these ops of one record.
    mutating func queued(_ ops: [Op], partition: Int32, offset: Int64, at: Timestamp) {
        if burst == 0 { return }
        for (index, op) in ops.enumerated() where op.kind == .create {
            let name = OpID(partition: partition, offset: offset, index: Int32(index))
            let from = max(at, op.notBefore ?? .distantPast) + createWait
            freeFrom[name] = op.urgent ? .distantPast : from
        }
    }

    /// A push leaves. One that brings a bind is free, for its owner may have changed.
    mutating func left(_ payload: PayloadValue, isAlert: Bool, at now: Timestamp) {
        if burst == 0 { return }
        creates.removeAll(keepingCapacity: true)
        isBackground = !isAlert
        var isFree = isAlert
        for op in payload["hush"]?["ops"]?.array ?? [] {
            guard let parts = op.array, parts.count > 1, let name = parts[0].string.flatMap({ OpID($0) }) else {
                continue
            }
            if parts[1] == "b" { isFree = true }
            guard parts[1] == "c" else { continue }
            creates.append(name)
            if let from = freeFrom[name], from <= now { isFree = true }
        }
        if isFree { return }
        entries.append(.spent(now))
        check(now)
    }

    /// The deliverer took an answer for the push under way. What APNs did not take gives its token back.
    mutating func answered(_ result: PushResult, at now: Timestamp) {
        if burst == 0 { return }
        switch result {
        case .unknown: return
        case .answered(200, _, _, _):
            acceptedAt = now
            // An urgent one passes at its repeats too.
            for name in creates where freeFrom[name] != .distantPast { freeFrom[name] = nil }
        case .notSent, .answered: if isBackground { entries.append(.earned) }
        }
    }

    /// The deliverer took acknowledgements; one that comes soon after its push shows that iOS does not hold back.
    mutating func acknowledged(at now: Timestamp) {
        if now - acceptedAt <= promptAck { entries.append(.earned) }
    }

    /// A restart forgets the budget, by decision.
    mutating func restarted() {
        entries.removeAll()
    }

    private mutating func check(_ now: Timestamp) {
        var spent = 0
        var earned = 0
        var isOld = 0
        for index in entries.indices.reversed() {
            guard case .spent(let at) = entries[index] else {
                earned += 1
                continue
            }
            spent += 1
            let span = (now - at).wholeMillis
            if spent - earned > burst + Int(span / millisPerToken) { broken = broken ?? now }
            // Beyond this span the bucket was full whatever came before.
            if span > Int64(burst) * millisPerToken * 4 { isOld = max(isOld, index) }
        }
        if isOld > 64 { entries.removeFirst(isOld) }
    }
}
