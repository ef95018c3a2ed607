import HushCore
import HushStream
import Testing

@testable import HushWorkers

@Suite struct PlannerStoreTests {
    /// Runs the rules on the store alone.
    final class StoreTask: PartitionTask {
        var store: PlannerStore?

        func restored(_ context: TaskContext) {
            store = PlannerStore(context, markLifeMillis: Planner().markLifeMillis, cacheBytesMax: 4000)
        }
        func process(_ record: InputRecord, _ context: TaskContext) {}
        func prepareCommit(_ context: TaskContext) {}
        func committed(_ context: TaskContext) {}
        func aborted(_ context: TaskContext) { store?.aborted() }
        func woken(_ context: TaskContext) {}
        func drain(_ context: TaskContext) -> Bool { true }
        func closed() {}
    }

    static let tables = PlannerStore.tables(marksChangelog: "marks", rowsChangelog: "rows")

    @Test(
        "on the store the rules decide as in memory, through commits, aborts and a cache that is too small",
        arguments: 0..<30)
    func agrees(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var planner = Planner()
        planner.policy.livePerRecipientMax = 4
        planner.policy.sliceOpsMax = 3
        planner.policy.sliceRowsMax = 4
        let task = StoreTask()
        let driver = InMemoryTask(inputCount: 4, outputPartitionCounts: [], tables: Self.tables)
        task.restored(driver.context)
        var memory = MemoryPlannerState()
        var committed = memory
        for offset in Int64(0)..<400 {
            switch Int.random(in: 0..<24, using: &random) {
            case 0:
                _ = try driver.commit(task)
                committed = memory
                // Another worker takes the partition over, with nothing in memory.
                if Bool.random(using: &random) { task.restored(driver.context) }
            case 1:
                driver.abort(task)
                memory = committed
            case 20..<24:
                let now = Timestamp(seconds: 1_764_583_200 + offset * 3600)
                var (expected, actual) = (PlanEffects(), PlanEffects())
                let slice = planner.slice(now: now, &memory, &expected)
                var store = try #require(task.store)
                let same = try store.passingBy { () throws(TaskFailure) in
                    try planner.slice(now: now, &store, &actual)
                }
                #expect(same == slice)
                #expect(actual == expected)
                #expect(try store.turns() == memory.turns())
            default:
                let time = Timestamp(seconds: 1_764_583_200 + offset * 3600)
                let position = Position(topic: .intents, partition: 0, offset: offset)
                let arrival = Arrival(position: position, appended: time, now: time)
                let event = Self.event(&random)
                var (expected, actual) = (PlanEffects(), PlanEffects())
                planner.step(event, arrival, &memory, &expected)
                var store = try #require(task.store)
                try planner.step(event, arrival, &store, &actual)
                task.store = store
                #expect(actual == expected)
            }
        }
    }

    static func event(_ random: inout SplitMix64) -> PlannerEvent {
        let recipient = Bytes("r\(Int.random(in: 0..<6, using: &random))")
        let id = Bytes("n\(Int.random(in: 0..<12, using: &random))")
        let revision = Int64.random(in: 1...4, using: &random)
        let device = Bytes("d\(Int.random(in: 0..<3, using: &random))")
        switch Int.random(in: 0..<24, using: &random) {
        case 0..<12:
            let expiry = Expiry.after(.seconds(Int.random(in: 1...50, using: &random) * 3600))
            return .intent(
                Intent(
                    id: id, recipient: recipient, body: .show(Content(json: Bytes(#"{"title":"\#(id)"}"#))),
                    revision: revision, expiry: expiry))
        case 12: return .intent(Intent(id: id, recipient: recipient, body: .retract, revision: revision))
        case 13, 14: return .read(Read(recipient: recipient, ids: [id, "n0"], revision: revision))
        case 15, 16, 17:
            let token = Bytes("a\(Int.random(in: 0..<4, using: &random))")
            let tags = ["ios", "de"].filter { _ in Bool.random(using: &random) } as [Bytes]
            return .register(
                Registration(recipient: recipient, device: device, token: token, app: "chat", tags: tags))
        case 18: return .unregister(Unregistration(recipient: recipient, device: device))
        case 19...22:
            let isRetract = Int.random(in: 0..<4, using: &random) == 0
            let body = isRetract ? Intent.Body.retract : .show(Content(json: Bytes(#"{"title":"\#(revision)"}"#)))
            let audience = Audience(any: ["ios"], none: Bool.random(using: &random) ? ["de"] : [])
            return .audience(
                AudienceIntent(
                    intent: Intent(
                        id: id, recipient: id, body: body, revision: revision, expiry: .after(.seconds(90_000))),
                    audience: isRetract || revision == 3 ? nil : audience))
        default:
            let hello = Signal.Hello(shown: [Signal.Entry(id: id, revision: revision)], gone: [])
            return .signal(Signal(recipient: recipient, device: device, hello: hello))
        }
    }

    @Test("the cache takes no more than its limit, and keeps those in use")
    func bounded() {
        var cache = RecipientCache(bytesMax: 100_000)
        let kept = cache.entry("kept")
        var most = 0
        for number in 0..<1000 {
            cache.entry(Bytes("r\(number)")).recipient = PlannerRowsTests.recipient
            #expect(cache.entry("kept") === kept)
            // The half that is full is found so by the next one.
            #expect(cache.bytes <= 102_000)
            most = max(most, cache.count)
        }
        #expect((20...200).contains(most))
    }

    @Test("a recipient that has grown counts as what it has come to")
    func growth() {
        var cache = RecipientCache(bytesMax: 1_000_000)
        _ = cache.entry("other")
        let alone = cache.bytes
        let entry = cache.entry("ada")
        let small = cache.bytes
        #expect(small > alone && small < 2 * alone + 100)
        entry.ids = KnownIDs()
        for number in 0..<KnownIDs.countMax { _ = entry.ids?.insert(Bytes("id-\(number)")) }
        entry.live = LiveList(
            (0..<64).map { number in
                LiveEntry(
                    id: Bytes("id-\(number)"), expires: Timestamp(millis: 1),
                    planned: PlanOrder(at: Timestamp(millis: 1), offset: Int64(number)))
            })
        _ = cache.entry("other")
        // 512 places of eight bytes, and 64 entries with an id of 48 bytes each.
        #expect(cache.bytes - small > 512 * 8 + 64 * 48)
        #expect(cache.bytes - small < 20_000)
        cache.removeAll()
        #expect(cache.bytes == 0)
    }

    @Test("who passes by drives nobody out of the cache, and meets those who are in it")
    func closedCache() {
        var cache = RecipientCache(bytesMax: 2000)
        let kept = ["a", "b", "c"].map { cache.entry($0) }
        cache.isClosed = true
        for number in 0..<100 { _ = cache.entry(Bytes("r\(number)")) }
        #expect(["a", "b", "c"].map { cache.entry($0) }.elementsEqual(kept, by: ===))
        let passing = cache.entry("r0")
        #expect(cache.entry("r0") === passing)
        cache.isClosed = false
        #expect(cache.entry("r0") !== passing)
        #expect(cache.entry("c") === kept[2])
    }

    @Test("a recipient that lost its last device and has nothing to remember leaves no row")
    func emptyRecipient() throws {
        let task = StoreTask()
        let driver = InMemoryTask(inputCount: 4, outputPartitionCounts: [], tables: Self.tables)
        task.restored(driver.context)
        task.store?.setRecipient(PlannerRowsTests.recipient, "ada")
        _ = try driver.commit(task)
        #expect(driver.context.value(PlannerStore.rowsTable, Array("dada".utf8)) != nil)
        task.store?.setRecipient(Recipient(), "ada")
        #expect(driver.context.value(PlannerStore.rowsTable, Array("dada".utf8)) == nil)
    }
}
