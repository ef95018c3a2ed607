/// The writes of a transaction that has not committed: the newest value of each key, or that it is deleted.
///
/// Keys are kept in the order of their first write, so that what is made of them is the same in every run. For scans
/// there are sorted runs of them, each at least twice as long as the next, so that a key is merged a few times at most.
struct Overlay: ~Copyable {
    struct Entry {
        fileprivate var hash: Int
        var table: UInt8
        var keyStart: UnsafeRawPointer
        var keyCount: Int
        /// Nil where the key is deleted.
        var valueStart: UnsafeRawPointer?
        var valueCount: Int

        var key: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: keyStart, count: keyCount) }
        var value: UnsafeRawBufferPointer? {
            valueStart.map { UnsafeRawBufferPointer(start: $0, count: valueCount) }
        }
    }

    private var arena = ByteArena()
    private(set) var entries: [Entry] = []
    /// Open addressing over `entries`: index + 1, 0 is free. A power of two, at most half full.
    private var slots: [Int32] = Array(repeating: 0, count: 1024)
    /// The first `sortedCount` entries, each run in the order of (table, key).
    private var runs: [[Int32]] = []
    private var sortedCount = 0

    var isEmpty: Bool { entries.isEmpty }
    /// Bytes of keys and values that were written, overwritten ones included.
    var bytes: Int { arena.bytes }

    /// What the overlay says of a key; nil where it says nothing.
    func find(_ table: UInt8, _ key: UnsafeRawBufferPointer) -> Entry? {
        if entries.isEmpty { return nil }
        let index = slots[slot(of: table, key, Self.hash(table, key))]
        return index == 0 ? nil : entries[Int(index) - 1]
    }

    /// Writes a value; nil deletes.
    mutating func write(_ table: UInt8, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) {
        let hash = Self.hash(table, key)
        let position = slot(of: table, key, hash)
        let start = value.map { arena.copy($0) }
        if slots[position] != 0 {
            let index = Int(slots[position]) - 1
            entries[index].valueStart = start
            entries[index].valueCount = value?.count ?? 0
            return
        }
        entries.append(
            Entry(
                hash: hash, table: table, keyStart: arena.copy(key), keyCount: key.count, valueStart: start,
                valueCount: value?.count ?? 0))
        slots[position] = Int32(entries.count)
        if entries.count * 2 > slots.count { grow() }
    }

    /// The entries of a table whose keys begin with `prefix`, those behind `after` alone where it is given, in the order
    /// of their keys.
    mutating func matches(
        _ table: UInt8, prefix: UnsafeRawBufferPointer, after: UnsafeRawBufferPointer? = nil
    ) -> [Entry] {
        if entries.isEmpty { return [] }
        sortNew()
        var found: [Entry] = []
        var runsWithAny = 0
        for run in runs {
            let before = found.count
            appendMatches(table, prefix, after, in: run, to: &found)
            if found.count > before { runsWithAny += 1 }
        }
        if runsWithAny > 1 { found.sort { KeyOrder.isLess($0.key, $1.key) } }
        return found
    }

    private func appendMatches(
        _ table: UInt8, _ prefix: UnsafeRawBufferPointer, _ after: UnsafeRawBufferPointer?, in run: [Int32],
        to found: inout [Entry]
    ) {
        let start = after ?? prefix
        var low = 0
        var high = run.count
        while low < high {
            let middle = (low + high) / 2
            let entry = entries[Int(run[middle])]
            if entry.table < table || (entry.table == table && KeyOrder.isLess(entry.key, start)) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        while low < run.count {
            let entry = entries[Int(run[low])]
            guard entry.table == table, KeyOrder.starts(entry.key, with: prefix) else { break }
            if after.map({ !KeyOrder.isEqual(entry.key, $0) }) ?? true { found.append(entry) }
            low += 1
        }
    }

    /// Shows every entry in the order of (table, key).
    mutating func forEachSorted(_ body: (Entry) -> Void) {
        sortNew()
        while runs.count > 1 { mergeLast() }
        for index in runs.first ?? [] { body(entries[Int(index)]) }
    }

    mutating func clear() {
        if entries.isEmpty { return }
        if slots.count > 1 << 16 {
            slots = Array(repeating: 0, count: 1024)
        } else {
            for index in slots.indices { slots[index] = 0 }
        }
        entries.removeAll(keepingCapacity: true)
        runs.removeAll(keepingCapacity: true)
        sortedCount = 0
        arena.clear()
    }

    private mutating func sortNew() {
        guard sortedCount < entries.count else { return }
        var fresh = (Int32(sortedCount)..<Int32(entries.count)).map { $0 }
        fresh.sort { isLess($0, $1) }
        runs.append(fresh)
        sortedCount = entries.count
        while runs.count > 1, runs[runs.count - 2].count < 2 * runs[runs.count - 1].count { mergeLast() }
    }

    /// Makes one of the last two runs.
    private mutating func mergeLast() {
        let (fresh, sorted) = (runs.removeLast(), runs.removeLast())
        var merged: [Int32] = []
        merged.reserveCapacity(sorted.count + fresh.count)
        var left = 0
        var right = 0
        while left < sorted.count, right < fresh.count {
            if isLess(fresh[right], sorted[left]) {
                merged.append(fresh[right])
                right += 1
            } else {
                merged.append(sorted[left])
                left += 1
            }
        }
        merged.append(contentsOf: sorted[left...])
        merged.append(contentsOf: fresh[right...])
        runs.append(merged)
    }

    private func isLess(_ left: Int32, _ right: Int32) -> Bool {
        let (a, b) = (entries[Int(left)], entries[Int(right)])
        return a.table != b.table ? a.table < b.table : KeyOrder.isLess(a.key, b.key)
    }

    /// Keys come from outside, so the hash is one nobody can aim at: Swift's, seeded anew in every process.
    private static func hash(_ table: UInt8, _ key: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(table)
        hasher.combine(bytes: key)
        return hasher.finalize()
    }

    private func slot(of table: UInt8, _ key: UnsafeRawBufferPointer, _ hash: Int) -> Int {
        let mask = slots.count - 1
        var position = hash & mask
        while slots[position] != 0 {
            let entry = entries[Int(slots[position]) - 1]
            if entry.hash == hash, entry.table == table, KeyOrder.isEqual(entry.key, key) { break }
            position = (position + 1) & mask
        }
        return position
    }

    private mutating func grow() {
        slots = Array(repeating: 0, count: slots.count * 2)
        let mask = slots.count - 1
        for index in entries.indices {
            var position = entries[index].hash & mask
            while slots[position] != 0 { position = (position + 1) & mask }
            slots[position] = Int32(index + 1)
        }
    }
}
