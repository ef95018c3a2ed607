import HushCore
import Testing

@Suite("Deliverer: random histories")
struct DelivererPropertyTests {
    @Test("whatever is lost, repeated, reordered or crashed, the phone ends with what is live", arguments: 0..<300)
    func converges(seed: UInt64) {
        var world = World(seed: seed)
        for _ in 0..<120 { world.step() }
        world.quiesce()
        #expect(world.phone.shown == world.live, "seed \(seed)")
        #expect(world.bench.state.row.ops.isEmpty, "seed \(seed)")
        #expect(world.bench.state.soft.inFlight == nil)
        // Each op has one final outcome.
        let finals = world.finals
        #expect(finals.count == Set(finals).count, "seed \(seed)")
        #expect(Set(finals) == world.taken, "seed \(seed)")
    }

    @Test("an op that was never committed as leaving has never left", arguments: 0..<50)
    func nothingLeavesUncommitted(seed: UInt64) {
        var world = World(seed: seed)
        for _ in 0..<80 {
            world.step()
            for op in world.bench.state.row.ops where op.attempts == 0 {
                #expect(!world.everLeft.contains(op.op))
            }
        }
    }
}

/// A phone that merges by the join, the slot of APNs between, and a planner that answers hellos.
private struct World {
    struct Phone {
        var standings: [Bytes: Standing] = [:]

        var shown: [Bytes: Int64] {
            standings.filter(\.value.isShown).mapValues(\.created)
        }
    }

    var bench: DeliveryBench
    var random: SplitMix64
    var phone = Phone()
    /// What the planner holds as live, and what it planned of each id.
    var live: [Bytes: Int64] = [:]
    var planned: [Bytes: Standing] = [:]
    var taken: Set<String> = []
    var finals: [String] = []
    var everLeft: Set<OpID> = []
    /// Pushes on their way to the phone; it may be offline, and they may overtake each other.
    var air: [[PendingOp]] = []

    init(seed: UInt64) {
        var policy = Policy()
        policy.opsPerAddressMax = 8
        policy.payloadBytesMax = 400
        bench = DeliveryBench(policy: policy)
        random = SplitMix64(seed: seed)
        let op = bench.bind("ada", version: 1, fresh: true)
        taken.insert("\(op)")
        commit()
    }

    mutating func step() {
        switch Int.random(in: 0..<14, using: &random) {
        case 0..<4: plan(isDelete: false)
        case 4..<6: plan(isDelete: true)
        case 6..<9: answer()
        case 9: receive()
        case 10: bench.pass(.seconds(Int.random(in: 0..<4000, using: &random)))
        case 11:
            bench.crash()
        case 12:
            bench.signal(
                DeviceReading(at: bench.now, battery: Double.random(in: 0...0.4, using: &random)))
        default:
            // Between the commit and the sending.
            commit(diesBeforeSending: true)
        }
        commit()
    }

    /// Everything opens: answers are 200, the phone is reachable, acknowledges and says hello.
    mutating func quiesce() {
        for _ in 0..<400 {
            bench.answer(200)
            commit()
            while !air.isEmpty { receive() }
            if bench.state.row.ops.isEmpty, bench.state.soft.inFlight == nil, !bench.state.row.wantsHello { break }
            if bench.state.row.wantsHello { hello() }
            bench.now = max(bench.wakeAt ?? bench.now, bench.now)
            bench.pass(.zero)
            commit()
        }
        hello()
        for _ in 0..<50 {
            bench.answer(200)
            commit()
            while !air.isEmpty { receive() }
            bench.now = max(bench.wakeAt ?? bench.now, bench.now)
            bench.pass(.zero)
            commit()
        }
    }

    private mutating func plan(isDelete: Bool) {
        let id = Bytes("n\(Int.random(in: 0..<12, using: &random))")
        var standing = planned[id] ?? Standing()
        let op: OpID
        if isDelete, live[id] != nil {
            standing.delete(through: standing.created)
            live[id] = nil
            op = bench.delete(id, through: standing.deleted)
        } else {
            let isFirst = standing == Standing()
            standing.create(max(standing.created, standing.deleted) + 1)
            live[id] = standing.created
            let modes: [Mode] = [.silent, .silent, .silent, .visible, .auto]
            op = bench.create(
                id, standing.created, first: isFirst, urgent: Bool.random(using: &random),
                mode: modes[Int.random(in: 0..<modes.count, using: &random)])
        }
        planned[id] = standing
        taken.insert("\(op)")
    }

    private mutating func answer() {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bench.answer(503, "ServiceUnavailable")
        case 1: bench.answer(429, "TooManyRequests")
        case 2: bench.send(.answer(.unknown))
        case 3: bench.answer(413, "PayloadTooLarge")
        default: bench.answer(200)
        }
    }

    /// One push of those under way reaches the phone, in any order, perhaps twice, perhaps never.
    private mutating func receive() {
        guard !air.isEmpty else { return }
        let index = Int.random(in: 0..<air.count, using: &random)
        let ops = air[index]
        if Int.random(in: 0..<4, using: &random) > 0 { air.remove(at: index) }
        for op in ops {
            switch op.kind {
            case .create: phone.standings[op.id, default: Standing()].create(op.revision)
            case .delete: phone.standings[op.id, default: Standing()].delete(through: op.revision)
            case .bind: break
            }
        }
        bench.signal(acks: ops.map(\.op), hello: false)
        commit()
    }

    /// The planner's answer to a hello: live − shown − gone, and shown − live.
    private mutating func hello() {
        bench.signal(hello: true)
        for (id, revision) in live.sorted(by: { $0.key < $1.key }) {
            var known = phone.standings[id] ?? Standing()
            guard known.create(revision) else { continue }
            taken.insert("\(bench.create(id, revision, first: false))")
        }
        for (id, revision) in phone.shown.sorted(by: { $0.key < $1.key }) where live[id] == nil {
            taken.insert("\(bench.delete(id, through: max(revision, planned[id]?.deleted ?? 0)))")
        }
        commit()
    }

    /// The transaction commits: only now the push leaves.
    private mutating func commit(diesBeforeSending: Bool = false) {
        let leaves = !diesBeforeSending && Int.random(in: 0..<10, using: &random) > 0
        if !bench.pushes.isEmpty, leaves {
            let names = Set(bench.state.soft.inFlight?.parts.map(\.op) ?? [])
            everLeft.formUnion(names)
            air.append(bench.state.row.ops.filter { names.contains($0.op) })
        }
        let isLost = !bench.pushes.isEmpty && !leaves
        bench.pushes.removeAll()
        for line in bench.lines where line.isFinal { finals += line.ops.map { "\($0.op)" } }
        bench.lines.removeAll()
        if isLost {
            bench.crash()
            commit()
        }
    }
}
