import HushCore

/// The deliverer of one address: the rules, with transactions that may abort and a process that may die.
///
/// Take, commit, send: a push leaves only when the transaction around it has committed; answers stay until one has.
struct FleetDeliverer {
    private struct Waiting {
        var record: PushRecord
        var offset: Int64
        var at: Timestamp
    }

    let address: Address
    private let deliverer: Deliverer
    private let partition: Int32
    private(set) var state = AddressState()
    private let seed: UInt64
    private let isCareless: Bool
    private var random = SplitMix64(seed: 0)
    private var waiting: [Waiting] = []
    private var answers: [PushResult] = []
    private var offset: Int64 = 0
    private var effects = DeliveryEffects()
    /// The process that serves it now; answers to an older one's pushes are nobody's.
    private(set) var life = 0
    /// When the queue lets it work next.
    var scheduled: Timestamp?
    var audit: BudgetAudit
    /// Outcomes told in the ledger that must not be.
    private(set) var rejected: [Bytes] = []

    /// What a committed transaction asks for.
    struct Work {
        var push: OutgoingPush?
        var losses: [Unregistration] = []
        var wakeAt: Timestamp?
    }

    init(_ address: Address, partition: Int32, _ deliverer: Deliverer, seed: UInt64, broken: BrokenRule? = nil) {
        self.address = address
        self.partition = partition
        self.deliverer = deliverer
        self.seed = seed
        isCareless = broken == .ownerCheck
        audit = BudgetAudit(policy: deliverer.policy)
    }

    var isIdle: Bool { waiting.isEmpty && answers.isEmpty && state.soft.inFlight == nil }

    mutating func append(_ record: PushRecord, at: Timestamp) {
        waiting.append(Waiting(record: record, offset: offset, at: at))
        offset += 1
    }

    mutating func answered(_ result: PushResult) { answers.append(result) }

    /// One transaction; nil where it aborted.
    mutating func work(_ now: Timestamp, isAborted: Bool) -> Work? {
        random = SplitMix64(seed: seed ^ UInt64(bitPattern: now.millis) &* 0x9e37_79b9_7f4a_7c15)
        let before = isAborted ? state : nil
        var work = Work()
        if state.soft.inFlight == nil, state.row.ops.contains(where: \.isLeaving) { step(.restored, now, &work) }
        for answer in answers { step(.answer(answer), now, &work) }
        for waiting in waiting {
            let record = isCareless ? believed(waiting.record) : waiting.record
            step(.record(record, partition: partition, offset: waiting.offset, at: waiting.at), now, &work)
        }
        step(.plan(isPaused: false), now, &work)
        work.push = effects.push
        work.wakeAt = effects.wakeAt
        if let before {
            state = before
            return nil
        }
        tell(now)
        waiting.removeAll(keepingCapacity: true)
        answers.removeAll(keepingCapacity: true)
        return work
    }

    /// Tells the audit what the transaction took.
    private mutating func tell(_ now: Timestamp) {
        for answer in answers { audit.answered(answer, at: now) }
        for waiting in waiting {
            switch waiting.record {
            case .ops(_, let ops, _): audit.queued(ops, partition: partition, offset: waiting.offset, at: now)
            case .signal(_, _, let acks, _): if !acks.isEmpty { audit.acknowledged(at: now) }
            case .bind, .unbind: break
            }
        }
    }

    /// Ops as they would be taken if nobody looked whose they are.
    private func believed(_ record: PushRecord) -> PushRecord {
        guard case .ops(_, let ops, let cause) = record, let binding = state.row.binding else { return record }
        return .ops(owner: binding.owner, ops: ops, cause: cause)
    }

    private mutating func step(_ event: DeliveryEvent, _ now: Timestamp, _ work: inout Work) {
        effects.removeAll()
        deliverer.step(event, address: address, now: now, random: &random, state: &state, effects: &effects)
        work.losses += effects.losses
        for line in effects.lines where line.outcome == .rejected { rejected.append(line.reason ?? "rejected") }
    }

    /// The process dies; another takes over from what was committed.
    mutating func crash() {
        life += 1
        answers.removeAll()
        state.soft = AddressSoftState()
        audit.restarted()
    }
}
