import HushCore
import Testing

/// Random histories, from seeds that a failure names.
@Suite struct PlannerPropertyTests {
    @Test("the same records in any order, some of them twice, end in the same live set", arguments: 0..<60)
    func converges(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let events = history(&random)
        var expected: [Bytes: Standing] = [:]
        for event in events { event.join(&expected) }
        let live = expected.filter(\.value.isShown).keys.sorted()
        for _ in 0..<4 {
            var rig = PlannerRig()
            for event in shuffled(events, &random) { rig.feed(event) }
            #expect(rig.live().sorted() == live)
            for (id, standing) in expected {
                let mark = rig.state.mark(id, of: "ada")
                #expect(mark?.standing.isShown == standing.isShown)
                let content = Content(json: Bytes(#"{"title":"\#(id) \#(standing.created)"}"#))
                #expect(mark?.live?.content == (standing.isShown ? content : nil))
            }
        }
    }

    @Test("a phone that applies what its address is sent shows what is live, whatever came between", arguments: 0..<60)
    func screens(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var rig = PlannerRig()
        var events = history(&random)
        for number: Int64 in 1...6 {
            let (device, app): (Bytes, Bytes) = Bool.random(using: &random) ? ("phone", "chat") : ("pad", "shop")
            let token: Bytes = Bool.random(using: &random) ? "t1" : "t2"
            events.append(.register(device, token, install: Bytes("i\(number)"), app: app))
        }
        for event in shuffled(events, &random) { rig.feed(event) }
        for device in rig.state.recipient("ada").devices {
            var screen: [Bytes: Standing] = [:]
            for push in rig.pushes where push.address == device.address {
                switch push.record {
                case .bind: screen = [:]
                case .ops(_, let ops, _): for op in ops { op.join(&screen) }
                case .unbind, .signal: break
                }
            }
            let shown = screen.filter(\.value.isShown).keys.sorted()
            let meant = rig.live().filter {
                rig.state.mark($0, of: "ada")?.live?.isMeant(for: device.registration.app) == true
            }
            #expect(shown == meant.sorted())
        }
    }

    @Test("a hello mends any screen", arguments: 0..<60)
    func helloMends(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1"))
        for event in history(&random) { rig.feed(event) }
        let marks = rig.state.marks["ada"] ?? [:]
        var screen: [Bytes: Standing] = [:]
        var gone: [(Bytes, Int64)] = []
        for number in 0..<12 {
            let id = Bytes("n\(number)")
            // A phone shows no revision that was never planned, unless the planner has forgotten the id.
            let highest = marks[id]?.standing.created ?? 3
            guard highest > 0 else { continue }
            let revision = Int64.random(in: 1...highest, using: &random)
            screen[id, default: Standing()].create(revision)
            if Bool.random(using: &random) {
                screen[id, default: Standing()].delete(through: revision)
                gone.append((id, revision))
            }
        }
        let swiped = gone.filter { id, revision in marks[id]?.standing.created == revision }.map(\.0)
        let shown = screen.filter(\.value.isShown).map { ($0.key, $0.value.created) }
        let before = rig.pushes.count
        rig.feed(.hello("phone", shown: shown, gone: gone))
        for push in rig.pushes[before...] {
            if case .ops(_, let ops, _) = push.record { for op in ops { op.join(&screen) } }
        }
        let meant = rig.live().filter {
            marks[$0]?.live?.isMeant(for: "chat") == true && !swiped.contains($0)
        }
        #expect(screen.filter(\.value.isShown).keys.sorted() == meant.sorted())
    }

    @Test("a replay from any point on gives the same state and the same effects", arguments: 0..<20)
    func replays(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let events = history(&random)
        var rig = PlannerRig()
        rig.feed(.register("phone", "t1"))
        let cut = Int.random(in: 0..<events.count, using: &random)
        for event in events[..<cut] { rig.feed(event) }
        var again = rig
        for event in events[cut...] {
            #expect(rig.feed(event) == again.feed(event))
        }
        #expect(rig.state == again.state)
        #expect(rig.pushes == again.pushes)
    }

    @Test("every record has one line for each id it names")
    func linesBalance() {
        var random = SplitMix64(seed: 4)
        var rig = PlannerRig()
        rig.planner.policy.livePerRecipientMax = 3
        for event in history(&random) + history(&random) {
            let lines = rig.feed(event).filter { !$0.contains("<-") && !$0.hasPrefix("evicted") }
            #expect(lines.count == 1)
        }
    }

    /// Creates, updates, reads and retracts of a few ids; content is a function of id and revision, as senders promise.
    private func history(_ random: inout SplitMix64) -> [PlannerEvent] {
        (0..<40).map { _ in
            let id = Bytes("n\(Int.random(in: 0..<8, using: &random))")
            let revision = Int64.random(in: 1...3, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<7:
                let app: Bytes? = [nil, "chat", "shop"][Int(FNV1a.hash(id.raw + [UInt8(revision)]) % 3)]
                return .show(id, revision, title: "\(id) \(revision)", app: app)
            case 7: return .retract(id, Bool.random(using: &random) ? revision : nil)
            default: return .read(id, revision)
            }
        }
    }

    private func shuffled(_ events: [PlannerEvent], _ random: inout SplitMix64) -> [PlannerEvent] {
        (events + events.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }).shuffled(using: &random)
    }
}

extension PlannerEvent {
    /// What the event means to one notification, by the merging rule alone.
    fileprivate func join(_ known: inout [Bytes: Standing]) {
        switch self {
        case .intent(let intent):
            switch intent.body {
            case .show: known[intent.id, default: Standing()].create(intent.revision ?? 1)
            case .retract:
                known[intent.id, default: Standing()].delete(through: intent.revision ?? Standing.everyRevision)
            }
        case .read(let read):
            for id in read.ids { known[id, default: Standing()].delete(through: read.revision ?? 1) }
        case .register, .unregister, .signal, .audience: break
        }
    }
}

extension Op {
    fileprivate func join(_ screen: inout [Bytes: Standing]) {
        switch kind {
        case .create: screen[id, default: Standing()].create(revision)
        case .delete: screen[id, default: Standing()].delete(through: revision)
        case .bind: break
        }
    }
}
