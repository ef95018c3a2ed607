/// The writes of a transaction that has not committed: the newest value of each key, or that it is deleted.
///
/// Keys are kept in the order of their first write, so that what is made of them is the same in every run; a scan sorts
/// what is new since the last one.
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
    /// The first `sorted.count` entries, in the order of (table, key).
    private var sorted: [Int32] = []

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

    /// The entries of a table whose keys begin with `prefix`, in the order of their keys.
    mutating func matches(_ table: UInt8, prefix: UnsafeRawBufferPointer) -> [Entry] {
        if entries.isEmpty { return [] }
        sortNew()
        var low = 0
        var high = sorted.count
        while low < high {
            let middle = (low + high) / 2
            let entry = entries[Int(sorted[middle])]
            if entry.table < table || (entry.table == table && KeyOrder.isLess(entry.key, prefix)) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        var found: [Entry] = []
        while low < sorted.count {
            let entry = entries[Int(sorted[low])]
            guard entry.table == table, KeyOrder.starts(entry.key, with: prefix) else { break }
            found.append(entry)
            low += 1
        }
        return found
    }

    mutating func clear() {
        if entries.isEmpty { return }
        if slots.count > 1 << 16 {
            slots = Array(repeating: 0, count: 1024)
        } else {
            for index in slots.indices { slots[index] = 0 }
        }
        entries.removeAll(keepingCapacity: true)
        sorted.removeAll(keepingCapacity: true)
        arena.clear()
    }

    private mutating func sortNew() {
        guard sorted.count < entries.count else { return }
        var fresh = (Int32(sorted.count)..<Int32(entries.count)).map { $0 }
        fresh.sort { isLess($0, $1) }
        if sorted.isEmpty {
            sorted = fresh
            return
        }
        var merged: [Int32] = []
        merged.reserveCapacity(entries.count)
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
        sorted = merged
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
