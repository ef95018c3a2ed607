import CRocksDB
import Synchronization

/// Lets RocksDB drop values of expiring tables while it compacts, once their drop time is past the committed time.
///
/// What a task reads does not depend on it: such values read as absent already. Lives as long as the database.
final class ExpiryFilter {
    let raw: OpaquePointer?

    /// What the callbacks see, on RocksDB's threads.
    private final class Context: Sendable {
        let expires: [Bool]
        let nowMillis = Atomic<Int64>(0)

        init(expires: [Bool]) {
            self.expires = expires
        }
    }

    private let context: Context

    init(tables: [StateTable]) {
        context = Context(expires: tables.map { $0.kind == .expiring })
        // RocksDB's filter holds a reference of its own and gives it back when it is destroyed.
        raw = rocksdb_compactionfilter_create(
            Unmanaged.passRetained(context).toOpaque(),
            { state in
                guard let state else { return }
                Unmanaged<Context>.fromOpaque(state).release()
            },
            { state, _, key, keyCount, value, valueCount, _, _, _ in
                guard let state, let key, keyCount > 0 else { return 0 }
                let context = Unmanaged<Context>.fromOpaque(state).takeUnretainedValue()
                let table = Int(UInt8(bitPattern: key[0]))
                guard table < context.expires.count, context.expires[table] else { return 0 }
                let bytes = UnsafeRawBufferPointer(start: value, count: valueCount)
                return StateTable.isDropped(bytes, at: context.nowMillis.load(ordering: .relaxed)) ? 1 : 0
            },
            { _ in ExpiryFilter.name })
    }

    // A constant of the program, never freed.
    private static var name: UnsafePointer<CChar>? {
        UnsafeRawPointer(StaticString("hush.expiry").utf8Start).assumingMemoryBound(to: CChar.self)
    }

    deinit {
        rocksdb_compactionfilter_destroy(raw)
    }

    func advance(to nowMillis: Int64) {
        context.nowMillis.store(nowMillis, ordering: .relaxed)
    }
}
