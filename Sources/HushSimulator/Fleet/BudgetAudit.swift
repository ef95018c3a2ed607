import HushCore

/// Counts the background pushes of one address against what the wake-up budget's rule allows, without the rule's bucket:
/// of the pushes that need a token, no span of time may hold more than the burst, what flows in meanwhile, and what was
/// earned back in it.
struct BudgetAudit {
    private struct Key: Hashable {
        var id: Bytes
        var revision: Int64
    }

    private enum Entry {
        case spent(Timestamp)
        case earned(Timestamp)
    }

    private let burst: Int
    private let millisPerToken: Int64
    private let createWait: Duration
    private let promptAck: Duration
    /// Creates that no push brought to APNs yet, by when they came.
    private var fresh: [Key: Timestamp] = [:]
    private var urgent: Set<Key> = []
    private var entries: [Entry] = []
    /// When APNs last answered 200, for acknowledgements that come soon after.
    private var answeredAt: [Timestamp] = []
    private(set) var broken: Timestamp?

    init(policy: Policy) {
        burst = policy.wakeUpBurst
        millisPerToken = 3_600_000 / Int64(max(policy.wakeUpsPerHour, 1))
        createWait = policy.createBudgetWaitMax
        promptAck = policy.promptAck
    }

    mutating func queued(_ ops: [Op], at: Timestamp) {
        if burst == 0 { return }
        for op in ops where op.kind == .create {
            let key = Key(id: op.id, revision: op.revision)
            fresh[key] = max(fresh[key] ?? .distantPast, max(at, op.notBefore ?? .distantPast))
            if op.urgent { urgent.insert(key) }
        }
    }

    /// A background push leaves with these creates; `isFree` where it brings a bind for another owner.
    mutating func left(_ creates: [(id: Bytes, revision: Int64)], isFree: Bool, at now: Timestamp) {
        if burst == 0 || isFree { return }
        for create in creates {
            let key = Key(id: create.id, revision: create.revision)
            if urgent.contains(key) { return }
            if let came = fresh[key], now >= came + createWait { return }
        }
        entries.append(.spent(now))
        check(now)
    }

    /// An answer for a push with these creates.
    mutating func answered(_ creates: [(id: Bytes, revision: Int64)], status: UInt16, at now: Timestamp) {
        if burst == 0 { return }
        guard status == 200 else { return entries.append(.earned(now)) }
        answeredAt.append(now)
        for create in creates { fresh[Key(id: create.id, revision: create.revision)] = nil }
    }

    mutating func acknowledged(_ acks: [OpID], at now: Timestamp) {
        answeredAt.removeAll { now - $0 > promptAck + .seconds(5) }
        if !answeredAt.isEmpty { entries.append(.earned(now)) }
    }

    /// A restart forgets the budget, by decision.
    mutating func reset(_ now: Timestamp) {
        entries.removeAll()
    }

    private mutating func check(_ now: Timestamp) {
        var spent = 0
        var earned = 0
        var isOld = 0
        for index in entries.indices.reversed() {
            switch entries[index] {
            case .earned: earned += 1
            case .spent(let at):
                spent += 1
                let span = (now - at).wholeMillis
                if spent - earned > burst + Int(span / millisPerToken) + 1 { broken = broken ?? now }
                // Beyond this span the bucket was full whatever came before.
                if span > Int64(burst) * millisPerToken * 4 { isOld = max(isOld, index) }
            }
        }
        if isOld > 256 { entries.removeFirst(isOld) }
    }
}
