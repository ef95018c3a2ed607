import HushAudit
import HushCore
import HushSimulator
import HushWorkers
import Testing

/// Random workloads through the whole path, with aborts, crashes, lost answers, lagging planners and phones that are
/// away; then all that heals, and the screens must be what the oracle says, which shares no rule with the path.
@Suite("The path: random histories")
struct RandomPathTests {
    /// A few at random, and those that found something.
    static let seeds: [UInt64] = Array(0..<24) + [67]

    @Test("whatever happened on the way, every hush screen ends right and the books balance", arguments: seeds)
    func converges(seed: UInt64) throws {
        let (path, world, oracle) = try Self.play(seed)
        for (index, phone) in world.phones.enumerated() where phone.dialect == .hush {
            let expected = oracle.screen(of: index, at: world.workload.lastExpiry + .seconds(3600))
            #expect(phone.entries == expected, "\(phone.device) of \(phone.owner), seed \(seed)")
        }
        #expect(world.shownToOthers == 0)
        let books = path.books
        #expect(books.problems == [], "seed \(seed)")
        #expect(books.pending == [], "seed \(seed)")
        let audit = try path.audit()
        #expect(audit.verdict == .proved, "seed \(seed): \(audit.text)")
        #expect(audit.total.pending == 0 && audit.total.waiting == 0)
        #expect(path.apns.refused.allSatisfy { $0 == "Unregistered" })
    }

    @Test("a phone that merges wrongly is found out")
    func brokenRule() throws {
        var wrong = 0
        for seed: UInt64 in 0..<4 {
            let (_, world, oracle) = try Self.play(seed, filter: BrokenMerging.ignoringRetracts)
            wrong += world.phones.indices.count { index in
                world.phones[index].entries
                    != oracle.screen(of: index, at: world.workload.lastExpiry + .seconds(3600))
            }
        }
        #expect(wrong > 4)
    }

    static func play(
        _ seed: UInt64, filter: SimulatedPhone.Filter? = nil
    ) throws -> (VirtualPath, World, Oracle) {
        var options = WorkloadOptions()
        options.seed = seed
        options.recipients = 4
        options.intents = 80
        options.duration = .seconds(1200)
        let workload = Workload(options)
        let world = World(workload, seed: seed, filter: filter)
        let path = try VirtualPath(world: world)
        var random = SplitMix64(seed: seed &* 7919)
        var elapsed = Duration.zero
        while !world.isOver {
            let step = Duration.milliseconds(Int64.random(in: 0...20_000, using: &random))
            elapsed += step
            try path.pass(step)
            path.publish(world.play(until: elapsed, eventsMax: 64, now: path.now))
            for dead in world.takeDead() { path.apns.bury(dead.token, at: dead.since) }
            try trouble(path, &random)
        }
        path.apns.fate = .accept
        path.apns.release()
        path.letGo()
        try path.catchUp()
        try path.comeOnline()
        for _ in 0..<36 { try path.pass(.seconds(3600)) }
        return (path, world, Oracle(workload))
    }

    private static func trouble(_ path: VirtualPath, _ random: inout SplitMix64) throws {
        switch Int.random(in: 0..<13, using: &random) {
        case 0: try path.abortDelivery()
        case 1: try path.crashDelivery()
        case 2: path.apns.fate = .lose
        case 3: path.apns.fate = .takeAndLoseAnswer
        case 4: path.apns.fate = .hold
        case 5:
            path.lag("user-\(Int.random(in: 0..<4, using: &random))")
        case 6: path.isDetained = true
        case 7:
            if let phone = path.world?.phones.randomElement(using: &random) { path.goOffline(phone) }
        case 8: try path.abortPlanning()
        default:
            path.apns.fate = .accept
            path.apns.release()
            path.letGo()
            try path.catchUp()
            if random.chance(0.5) { try path.comeOnline() }
        }
        if random.chance(0.7) { try path.settle() }
    }
}
