/// Committed state in memory: for tests, replays and tools that have no directory.
final class MemoryStore {
    /// Bytes that stay where they are while somebody looks at them.
    final class Bytes {
        private let owned: UnsafeMutableRawBufferPointer

        init(_ bytes: UnsafeRawBufferPointer) {
            owned = .allocate(byteCount: bytes.count, alignment: 1)
            owned.copyMemory(from: bytes)
        }

        deinit { owned.deallocate() }

        var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(owned) }
    }

    private struct Key: Hashable {
        var table: UInt8
        var bytes: [UInt8]
    }

    private var values: [Key: Bytes] = [:]

    func get(_ table: UInt8, _ key: UnsafeRawBufferPointer) -> Bytes? {
        values[Key(table: table, bytes: Array(key))]
    }

    func apply(_ overlay: borrowing Overlay) {
        for entry in overlay.entries {
            values[Key(table: entry.table, bytes: Array(entry.key))] = entry.value.map { Bytes($0) }
        }
    }

    func cursor(_ table: UInt8, prefix: UnsafeRawBufferPointer, after: UnsafeRawBufferPointer?) -> Cursor {
        let rows = values.filter { key, _ in
            key.table == table
                && key.bytes.withUnsafeBytes { bytes in
                    KeyOrder.starts(bytes, with: prefix) && after.map { KeyOrder.isLess($0, bytes) } ?? true
                }
        }
        let sorted = rows.sorted { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }
        return Cursor(sorted.map { row in (row.key.bytes.withUnsafeBytes { Bytes($0) }, row.value) })
    }

    final class Cursor {
        private let rows: [(key: Bytes, value: Bytes)]
        private var index = 0

        fileprivate init(_ rows: [(key: Bytes, value: Bytes)]) {
            self.rows = rows
        }

        var current: (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
            index < rows.count ? (rows[index].key.bytes, rows[index].value.bytes) : nil
        }

        func advance() { index += 1 }
    }
}
