import Foundation
import HushBase
import Testing

@testable import HushStream

@Suite struct StateStoreTests {
    private let tables = [
        StateTable(name: "rows", changelog: "r", kind: .compacted),
        StateTable(name: "marks", changelog: "m", kind: .expiring, deleteRetention: .seconds(1000)),
    ]
    private let directory = FileManager.default.temporaryDirectory
        .appending(path: "hush-store-\(UInt64.random(in: 0...UInt64.max))").path

    private func checkpoint(_ offsets: [Int64], nowMillis: Int64 = 0) -> Checkpoint {
        Checkpoint(
            identity: "copy/2", changelogOffsets: offsets, nowMillis: nowMillis, writtenMillis: 5000, transactions: 3)
    }

    private func write(_ store: StateStore, _ rows: [(UInt8, [UInt8], [UInt8]?)], _ checkpoint: Checkpoint) throws {
        var overlay = Overlay()
        for (table, key, value) in rows {
            key.withUnsafeBytes { key in
                if let value {
                    value.withUnsafeBytes { overlay.write(table, key, $0) }
                } else {
                    overlay.write(table, key, nil)
                }
            }
        }
        try store.apply(&overlay, checkpoint: checkpoint)
    }

    private func rows(_ store: StateStore, _ table: UInt8) -> [[UInt8]] {
        let cursor = store.cursor(table, prefix: UnsafeRawBufferPointer(start: nil, count: 0))
        defer { cursor.close() }
        var rows: [[UInt8]] = []
        while let row = cursor.current {
            rows.append(Array(row.key) + Array(row.value))
            cursor.advance()
        }
        #expect(cursor.fault == nil)
        return rows
    }

    @Test("a walk over what is stored goes on behind a key, and stays within its prefix")
    func walks() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let home = try StateHome(directory: directory)
        let store = try home.acquire("copy/0", tables: tables)
        let keys: [[UInt8]] = [[4], [5], [5, 0], [5, 1], [6]]
        try write(store, keys.map { (0, $0, [9]) } + [(1, [5, 7], [9])], checkpoint([1, 1]))
        func walk(after: [UInt8]?) -> [[UInt8]] {
            let cursor = [UInt8]([5]).withUnsafeBytes { prefix in
                (after ?? []).withUnsafeBytes { start in
                    store.cursor(0, prefix: prefix, after: after == nil ? nil : start, isWalk: true)
                }
            }
            defer { cursor.close() }
            var found: [[UInt8]] = []
            while let row = cursor.current {
                found.append(Array(row.key))
                cursor.advance()
            }
            return found
        }
        #expect(walk(after: nil) == [[5], [5, 0], [5, 1]])
        #expect(walk(after: [5]) == [[5, 0], [5, 1]])
        #expect(walk(after: [5, 0]) == [[5, 1]])
        #expect(walk(after: [5, 1]) == [])
    }

    @Test("data and checkpoint are there again after a clean close")
    func reopens() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        do {
            let home = try StateHome(directory: directory)
            let store = try home.acquire("copy/0", tables: tables)
            #expect(try store.checkpoint() == nil)
            try write(store, [(0, [1], [10]), (0, [2], [20]), (1, [1], [99])], checkpoint([3, 4]))
            try write(store, [(0, [2], nil)], checkpoint([5, 4]))
            try home.close(store)
        }
        let home = try StateHome(directory: directory)
        let store = try home.acquire("copy/0", tables: tables)
        #expect(rows(store, 0) == [[1, 10]])
        #expect(rows(store, 1) == [[1, 99]])
        #expect(try store.checkpoint() == checkpoint([5, 4]))
    }

    @Test("a warm store is handed on with its uncommitted-to-disk writes, and closed by name otherwise")
    func warm() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let home = try StateHome(directory: directory)
        let store = try home.acquire("copy/0", tables: tables)
        try write(store, [(0, [1], [10])], checkpoint([1, 0]))
        home.keepWarm(store)
        let again = try home.acquire("copy/0", tables: tables)
        #expect(again === store)
        #expect(rows(again, 0) == [[1, 10]])
    }

    @Test("a directory that another has open is refused with its name")
    func locked() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let home = try StateHome(directory: directory)
        let store = try home.acquire("copy/0", tables: tables)
        do {
            _ = try StateHome(directory: directory).acquire("copy/0", tables: tables)
            Issue.record("opened twice")
        } catch {
            #expect(error.description.hasPrefix("state: cannot open \(directory)/copy/0: IO error: lock hold by"))
        }
        #expect(try store.checkpoint() == nil)
    }

    @Test("deleting all leaves neither data nor checkpoint")
    func deleteAll() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let home = try StateHome(directory: directory)
        let store = try home.acquire("copy/0", tables: tables)
        try write(store, [(0, [], [1]), (1, [255, 255], [2])], checkpoint([1, 1]))
        try store.deleteAll()
        #expect(try store.checkpoint() == nil)
        #expect(rows(store, 0).isEmpty && rows(store, 1).isEmpty)
    }

    @Test("a checkpoint reads back as it was written, and foreign bytes are none")
    func checkpointBytes() {
        let bytes = checkpoint([7, -2], nowMillis: 258).encoded()
        #expect(
            bytes == [
                1, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0x13, 0x88, 0, 0, 0, 0, 0, 0, 0, 3,
                0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 7, 255, 255, 255, 255, 255, 255, 255, 254,
            ] + Array("copy/2".utf8))
        #expect(bytes.withUnsafeBytes { Checkpoint(decoding: $0) } == checkpoint([7, -2], nowMillis: 258))
        #expect(bytes.dropLast().withUnsafeBytes { Checkpoint(decoding: $0) } == nil)
        #expect([UInt8](repeating: 2, count: 60).withUnsafeBytes { Checkpoint(decoding: $0) } == nil)
    }

    @Test(
        "25: a checkpoint of another format, or a damaged one, is refused, and what stands beside it stays",
        arguments: [
            ([2, 0, 0, 0, 0, 0, 0, 0, 6], "is of format 2"), ([1, 0], "is damaged"), ([], "is empty"),
        ] as [([UInt8], String)])
    func newerCheckpoint(bytes: [UInt8], words: String) throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let home = try StateHome(directory: directory)
        let store = try home.acquire("copy/0", tables: tables)
        try write(store, [(0, [1], [10])], checkpoint([3, 4]))
        var batch = store.makeBatch()
        bytes.withUnsafeBytes { batch.add(Checkpoint.table, UnsafeRawBufferPointer(start: nil, count: 0), $0) }
        try store.write(&batch)
        do {
            _ = try store.checkpoint()
            Issue.record("the checkpoint was taken")
        } catch {
            #expect(error.description.hasPrefix("state: the checkpoint in \(directory)/copy/0 \(words)"))
            #expect(error.description.contains("delete the directory") && !error.isMendedByRestart)
        }
        #expect(rows(store, 0) == [[1, 10]])
    }

    @Test("a value past its drop time goes when the database compacts; one of another table or before its time stays")
    func expiryFilter() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let home = try StateHome(directory: directory)
        let store = try home.acquire("copy/0", tables: tables)
        func drop(_ millis: UInt8) -> [UInt8] { [0, 0, 0, 0, 0, 0, 0, millis, 7] }
        try write(
            store, [(0, [1], drop(5)), (1, [1], drop(5)), (1, [2], drop(9)), (1, [3], [5])],
            checkpoint([1, 1], nowMillis: 5))
        // RocksDB compacts by itself once it has a few files that overlap.
        let deadline = ContinuousClock.now + .seconds(30)
        while rows(store, 1).count > 2, ContinuousClock.now < deadline {
            try write(store, [], checkpoint([1, 1], nowMillis: 5))
            try store.flush(waits: true)
        }
        #expect(rows(store, 0) == [[1] + drop(5)])
        #expect(rows(store, 1) == [[2] + drop(9), [3, 5]])
        #expect(try store.checkpoint() == checkpoint([1, 1], nowMillis: 5))
    }

    @Test("a state is rebuilt where it is foreign, or so old that deletions may be gone from a changelog")
    func reasons() {
        let configuration = StreamConfiguration(
            application: "copy", groupID: "g", slotName: "s", transactionalIDPrefix: "t", inputs: ["in"],
            partitionCount: 2, outputs: [], tables: tables)
        var found = checkpoint([1, 1])
        #expect(configuration.reasonToRebuild(found, nowMillis: 5000) != nil)
        found.identity = "copy/2/rows:compacted/marks:expiring"
        #expect(configuration.reasonToRebuild(found, nowMillis: 5000) == nil)
        #expect(configuration.reasonToRebuild(found, nowMillis: 505_000) == nil)
        #expect(
            configuration.reasonToRebuild(found, nowMillis: 505_001)
                == "it is 500 s old, and deletions in m may be gone since")
    }

    @Test("a slot notices that it was stopped for longer than its limit, and only then")
    func freeze() {
        var watch = FreezeWatch(limit: .seconds(5), nowNanos: 0)
        let ticks = [5_000_000_000, 10_000_000_001, 10_000_000_002].map { watch.tick(nowNanos: $0) }
        #expect(ticks == [false, true, false])
        #expect(watch.count == 1)
    }

    @Test("a step beyond its limit calls the watchdog's end")
    func watchdog() throws {
        let wakeUp = try WakeUp()
        let watchdog = try Watchdog(slot: "test", log: .silent) { _ in wakeUp.signal() }
        watchdog.begin("a step", atMost: .milliseconds(1))
        #expect(wakeUp.wait(atMost: .seconds(20)))
        watchdog.stop()
    }

    @Test("writes go to disk before they take more than their share, those of a changelog too")
    func boundedWrites() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let home = try StateHome(directory: directory, writeBufferBytes: 4 << 20)
        let stores = [try home.acquire("copy/0", tables: tables), try home.acquire("copy/1", tables: tables)]
        #expect(home.writeBytesPerStore == 2 << 20)
        let value = [UInt8](repeating: 7, count: 1000)
        for store in stores {
            var batch = store.makeBatch()
            for number in 0..<20_000 {
                withUnsafeBytes(of: number.bigEndian) { key in value.withUnsafeBytes { batch.add(0, key, $0) } }
                if batch.bytes > 100_000 { try store.apply(&batch, checkpoint: checkpoint([Int64(number), 0])) }
                // A batch, and a block that the last write began, may stand above the share.
                #expect(store.writeBytes < (2 << 20) + 400_000)
            }
        }
        #expect(rows(stores[0], 0).count > 19_000)
        for store in stores { try home.close(store) }
    }

    @Test("22: the state is its owner's alone to read")
    func permissions() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let home = try StateHome(directory: directory + "/deep")
        _ = try home.acquire("copy/0", tables: tables)
        for path in ["", "/deep", "/deep/copy", "/deep/copy/0"] {
            let mode = try FileManager.default.attributesOfItem(atPath: directory + path)[.posixPermissions]
            #expect(mode as? Int == 0o700, "\(path)")
        }
    }
}
