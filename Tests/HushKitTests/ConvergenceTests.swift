import HushCore
import HushKit
import Testing

@Suite("Convergence on the phone")
struct ConvergenceTests {
    /// A centre that remembers what stands on the screen and what rang.
    private final class Screen: NotificationCentre {
        var shown: [Bytes: Int64] = [:]
        var rung: [Bytes: [Int64]] = [:]

        func show(_ notification: HushNotification, sound: Bool) {
            shown[notification.id] = notification.revision
            if sound { rung[notification.id, default: []].append(notification.revision) }
        }
        func remove(_ identifiers: [Bytes]) {
            shown = shown.filter { !identifiers.contains(StableIdentifier.of($0.key)) }
        }
        func removeAll() { shown.removeAll() }
        func setBadge(_ count: Int64) {}
    }

    @Test("any order, duplication and repeat of ops ends in the screen that the revisions say", arguments: 0..<300)
    func converges(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var created: [Bytes: Int64] = [:]
        var deleted: [Bytes: Int64] = [:]
        var ops: [PayloadValue] = []
        for _ in 0..<Int.random(in: 1...30, using: &random) {
            let id = Bytes("n\(Int.random(in: 0..<4, using: &random))")
            let revision = Int64.random(in: 1...4, using: &random)
            if Bool.random(using: &random) {
                created[id] = max(created[id] ?? 0, revision)
                ops.append(create(.string(id), revision))
            } else {
                deleted[id] = max(deleted[id] ?? 0, revision)
                ops.append(delete(.string(id), revision))
            }
        }
        // Each op arrives at least once, some again, in pushes of any cut.
        var arrivals = ops + ops.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
        arrivals.shuffle(using: &random)
        var inbox = inbox()
        let screen = Screen()
        while !arrivals.isEmpty {
            let count = min(arrivals.count, Int.random(in: 1...5, using: &random))
            for action in inbox.receive(push(Array(arrivals.prefix(count))), now: start) { _ = screen.perform(action) }
            arrivals.removeFirst(count)
        }
        let expected = created.filter { $0.value > deleted[$0.key] ?? 0 }
        #expect(screen.shown == expected, "seed \(seed)")
        for (id, revisions) in screen.rung {
            #expect(revisions == revisions.sorted() && Set(revisions).count == revisions.count, "seed \(seed), \(id)")
        }
    }
}
