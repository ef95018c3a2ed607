/// What a task sees of its tables: its own uncommitted writes over what is committed.
final class TaskState {
    /// Where committed values are: on disk, or in memory for tests and tools.
    enum Base {
        case store(StateStore)
        case memory(MemoryStore)
    }

    let tables: [StateTable]
    private let expires: [Bool]
    let base: Base
    private(set) var overlay = Overlay()
    /// The task's time: the highest append time it has seen.
    private(set) var nowMillis: Int64
    private var committedNowMillis: Int64
    /// The first failure of the store; the transaction it happened in must not commit.
    private(set) var fault: StreamFault?
    private var scratch: [UInt8] = []

    init(tables: [StateTable], base: Base, nowMillis: Int64) {
        self.tables = tables
        expires = tables.map { $0.kind == .expiring }
        self.base = base
        self.nowMillis = nowMillis
        committedNowMillis = nowMillis
    }

    func withValue<Result, Failure: Error>(
        _ table: Int, _ key: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer?) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if let entry = overlay.find(UInt8(table), key) { return try body(visible(table, entry.value)) }
        switch base {
        case .memory(let store):
            guard let value = store.get(UInt8(table), key) else { return try body(nil) }
            defer { extendLifetime(value) }
            return try body(visible(table, value.bytes))
        case .store(let store):
            var read: StateStore.Pinned?
            do throws(StreamFault) {
                read = try store.get(UInt8(table), key, &scratch)
            } catch {
                if fault == nil { fault = error }
            }
            guard let read else { return try body(nil) }
            defer { read.release() }
            return try body(visible(table, read.bytes))
        }
    }

    func write(_ table: Int, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) {
        precondition(table >= 0 && table < tables.count, "no such table")
        overlay.write(UInt8(table), key, value)
    }

    /// Tells every visible key that begins with `prefix`, those behind `after` alone where it is given, in order, until
    /// the body says false. A walk leaves the block cache to others.
    func scan<Failure: Error>(
        _ table: Int, prefix: UnsafeRawBufferPointer, after: UnsafeRawBufferPointer? = nil, isWalk: Bool = false,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(Failure) -> Bool
    ) throws(Failure) {
        let fresh = overlay.matches(UInt8(table), prefix: prefix, after: after)
        let cursor: StateCursor
        switch base {
        case .memory(let store): cursor = .memory(store.cursor(UInt8(table), prefix: prefix, after: after))
        case .store(let store):
            cursor = .store(store.cursor(UInt8(table), prefix: prefix, after: after, isWalk: isWalk))
        }
        defer { cursor.close() }
        var next = 0
        while true {
            let stored = cursor.current
            if next < fresh.count, stored.map({ !KeyOrder.isLess($0.key, fresh[next].key) }) ?? true {
                // The overlay's key comes first, or hides the stored one.
                let entry = fresh[next]
                next += 1
                if let stored, KeyOrder.isEqual(stored.key, entry.key) { cursor.advance() }
                if let value = visible(table, entry.value), try !body(entry.key, value) { break }
            } else if let stored {
                if let value = visible(table, stored.value), try !body(stored.key, value) { break }
                cursor.advance()
            } else {
                break
            }
        }
        if let failure = cursor.fault, fault == nil { fault = failure }
    }

    /// Moves the task's time on; it never goes back but in `rollBack`.
    func advance(to appendMillis: Int64) {
        if appendMillis > nowMillis { nowMillis = appendMillis }
    }

    /// Writes what is committed to the store, with the checkpoint that goes with it.
    func apply(to store: StateStore, checkpoint: Checkpoint) throws(StreamFault) {
        try store.apply(&overlay, checkpoint: checkpoint)
    }

    /// What was written is committed elsewhere; the overlay starts anew.
    func settle() {
        overlay.clear()
        committedNowMillis = nowMillis
    }

    /// Forgets what was written and seen since the last `settle`.
    func rollBack() {
        overlay.clear()
        nowMillis = committedNowMillis
        fault = nil
    }

    private func visible(_ table: Int, _ value: UnsafeRawBufferPointer?) -> UnsafeRawBufferPointer? {
        guard let value, expires[table], StateTable.isDropped(value, at: nowMillis) else { return value }
        return nil
    }
}
