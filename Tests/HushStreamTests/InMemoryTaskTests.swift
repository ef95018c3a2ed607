import HushStream
import Testing

@Suite struct InMemoryTaskTests {
    private let tables = [
        StateTable(name: "counts", changelog: "c", kind: .compacted),
        StateTable(name: "marks", changelog: "m", kind: .expiring),
    ]

    private final class Nothing: PartitionTask {
        func restored(_ context: TaskContext) {}
        func process(_ record: InputRecord, _ context: TaskContext) {}
        func prepareCommit(_ context: TaskContext) {}
        func committed(_ context: TaskContext) {}
        func aborted(_ context: TaskContext) {}
        func woken(_ context: TaskContext) {}
        func drain(_ context: TaskContext) -> Bool { true }
        func closed() {}
    }

    private func make() -> InMemoryTask {
        InMemoryTask(inputCount: 1, outputPartitionCounts: [12], tables: tables)
    }

    private func keys(_ context: TaskContext, prefix: [UInt8]) -> [[UInt8]] {
        var found: [[UInt8]] = []
        prefix.withUnsafeBytes { prefix in
            context.scan(0, prefix: prefix) { key, _ in
                found.append(Array(key))
                return true
            }
        }
        return found
    }

    @Test("a task reads its own writes, and an abort takes them back")
    func abort() throws {
        let driver = make()
        driver.context.put(0, [1], [10])
        _ = try driver.commit(Nothing())
        driver.context.put(0, [1], [11])
        driver.context.put(0, [2], [20])
        driver.context.delete(0, [1])
        #expect(driver.context.value(0, [1]) == nil)
        #expect(driver.context.value(0, [2]) == [20])
        driver.abort(Nothing())
        #expect(driver.context.value(0, [1]) == [10])
        #expect(driver.context.value(0, [2]) == nil)
    }

    @Test("a scan merges uncommitted writes over committed ones, in the order of bytes")
    func scan() throws {
        let driver = make()
        for key in [[5, 1], [5, 3], [5, 5], [6]] as [[UInt8]] { driver.context.put(0, key, [0]) }
        _ = try driver.commit(Nothing())
        driver.context.put(0, [5, 9], [1])
        driver.context.put(0, [5, 2], [1])
        driver.context.delete(0, [5, 3])
        driver.context.put(0, [5, 5], [1])
        driver.context.put(0, [4], [1])
        #expect(keys(driver.context, prefix: [5]) == [[5, 1], [5, 2], [5, 5], [5, 9]])
        driver.context.put(0, [5, 0], [1])
        #expect(keys(driver.context, prefix: [5]) == [[5, 0], [5, 1], [5, 2], [5, 5], [5, 9]])
        #expect(keys(driver.context, prefix: []) == [[4], [5, 0], [5, 1], [5, 2], [5, 5], [5, 9], [6]])
    }

    @Test("nobody is woken who did not ask, whatever the time; who asked is woken once, at the earliest time asked for")
    func wakes() throws {
        let driver = make()
        #expect(try !driver.wake(Nothing(), nowMillis: .max))
        driver.context.wake(atMillis: 20)
        driver.context.wake(atMillis: 10)
        #expect(try !driver.wake(Nothing(), nowMillis: 9))
        #expect(try driver.wake(Nothing(), nowMillis: 10))
        #expect(try !driver.wake(Nothing(), nowMillis: .max))
        driver.context.wake(atMillis: 20)
        driver.context.signal()
        #expect(try driver.wake(Nothing(), nowMillis: 0))
        #expect(driver.wakeAtMillis == 20)
    }

    @Test("a walk goes on behind a key, in pieces, over committed writes and others")
    func walk() throws {
        let driver = make()
        for key in [[5, 1], [5, 3], [5, 5], [6]] as [[UInt8]] { driver.context.put(0, key, [0]) }
        _ = try driver.commit(Nothing())
        driver.context.put(0, [5, 2], [1])
        driver.context.put(0, [5, 2, 0], [1])
        driver.context.delete(0, [5, 3])
        func next(after: [UInt8]?) -> [UInt8]? {
            var found: [UInt8]?
            [UInt8]([5]).withUnsafeBytes { prefix in
                (after ?? []).withUnsafeBytes { start in
                    driver.context.walk(0, prefix: prefix, after: after == nil ? nil : start) { key, _ in
                        found = Array(key)
                        return false
                    }
                }
            }
            return found
        }
        #expect(next(after: nil) == [5, 1])
        #expect(next(after: [5, 1]) == [5, 2])
        #expect(next(after: [5, 2]) == [5, 2, 0])
        #expect(next(after: [5, 2, 0]) == [5, 5])
        #expect(next(after: [5, 4]) == [5, 5])
        #expect(next(after: [5, 5]) == nil)
    }

    @Test("a value of an expiring table is absent once append time has reached its drop time")
    func expiry() throws {
        let driver = make()
        let dropAt1000: [UInt8] = [0, 0, 0, 0, 0, 0, 3, 0xe8, 42]
        driver.context.put(1, [7], dropAt1000)
        try driver.process(Nothing(), input: 0, offset: 0, appendMillis: 999, key: nil, value: nil)
        #expect(driver.context.value(1, [7]) == dropAt1000)
        try driver.process(Nothing(), input: 0, offset: 1, appendMillis: 1000, key: nil, value: nil)
        #expect(driver.context.value(1, [7]) == nil)
        driver.abort(Nothing())
        #expect(driver.context.lastAppendMillis == 0)
    }

    @Test("records without a partition go where murmur2 of the key says")
    func send() throws {
        let driver = make()
        Array("foobar".utf8).withUnsafeBytes { key in
            driver.context.send(0, key: key, value: nil)
            driver.context.send(0, partition: 3, key: key, value: key, headers: [RecordHeader(name: "a", value: [1])])
        }
        let foobar = Array("foobar".utf8)
        #expect(
            try driver.commit(Nothing()) == [
                SentRecord(output: 0, partition: Murmur2.partition(of: foobar, count: 12), key: foobar, value: nil),
                SentRecord(
                    output: 0, partition: 3, key: foobar, value: foobar,
                    headers: [RecordHeader(name: "a", value: [1])]),
            ])
    }

    @Test("many keys written, overwritten and scanned in between agree with a plain dictionary")
    func manyKeys() throws {
        let driver = make()
        var expected: [[UInt8]: [UInt8]] = [:]
        var seed: UInt64 = 7
        for round in 0..<6000 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let key = [UInt8(seed >> 60), UInt8(truncatingIfNeeded: seed >> 40)]
            if seed >> 33 & 7 == 0 {
                driver.context.delete(0, key)
                expected[key] = nil
            } else {
                driver.context.put(0, key, [UInt8(truncatingIfNeeded: round)])
                expected[key] = [UInt8(truncatingIfNeeded: round)]
            }
            if round % 500 == 0 {
                let prefix = [UInt8(seed >> 60)]
                let wanted = expected.keys.filter { $0.first == prefix[0] }
                #expect(keys(driver.context, prefix: prefix) == wanted.sorted { $0.lexicographicallyPrecedes($1) })
            }
            if round % 900 == 0 { _ = try driver.commit(Nothing()) }
        }
        for (key, value) in expected { #expect(driver.context.value(0, key) == value) }
    }
}
