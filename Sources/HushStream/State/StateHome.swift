import CRocksDB
import Glibc
import Synchronization

/// The state directory of a process: every task's database lies in it, and all share one block cache and one limit of
/// memory for writes.
///
/// A store that its slot gave back stays open (*warm*) until the slot knows that the partition does not come back.
public final class StateHome: Sendable {
    public let directory: String
    /// Room for blocks, indexes and filters that were read, over all tasks.
    public let cacheBytes: Int
    /// Room for writes that are not on disk yet, over all tasks.
    public let writeBufferBytes: Int

    // The cache is RocksDB's own and safe on any thread; only the pointer to it is kept here.
    private let cache: UInt

    /// A store is used by one slot at a time: it is either in `warm` or with the slot that took it.
    struct Registry: @unchecked Sendable {
        var warm: [String: StateStore] = [:]
        /// Every path that has an open store, warm or in use.
        var open: Set<String> = []
        /// Stores in use that hold whole commits, and how many were settled before: where one was given back and taken
        /// again meanwhile, the number is another.
        var settled: [String: (store: StateStore, number: Int)] = [:]
        var settledCount = 0
    }

    let registry = Mutex(Registry())

    public init(
        directory: String, cacheBytes: Int = 64 << 20, writeBufferBytes: Int = 128 << 20
    ) throws(StreamFault) {
        self.directory = directory
        self.cacheBytes = cacheBytes
        self.writeBufferBytes = writeBufferBytes
        try Self.makeDirectory(directory)
        cache = UInt(bitPattern: rocksdb_cache_create_lru(cacheBytes))
    }

    deinit {
        rocksdb_cache_destroy(OpaquePointer(bitPattern: cache))
    }

    /// The share of one store in the memory for writes. Where there are so many that it would be hardly more than what
    /// an empty one takes it is a megabyte.
    var writeBytesPerStore: Int {
        max(1 << 20, writeBufferBytes / max(1, registry.withLock { $0.open.count }))
    }

    /// Opens the store of a task, or takes the one that is still open; waits while another slot is closing it.
    func acquire(_ name: String, tables: [StateTable]) throws(StreamFault) -> StateStore {
        let path = "\(directory)/\(name)"
        for _ in 0..<Self.acquireTries {
            let (warm, isOurs) = registry.withLock { registry -> (Handover, Bool) in
                if let store = registry.warm.removeValue(forKey: path) { return (Handover(store: store), false) }
                return (Handover(store: nil), registry.open.insert(path).inserted)
            }
            if let store = warm.store { return store }
            if isOurs { return try open(path, tables) }
            rest(.milliseconds(10))
        }
        throw .state("\(path) is still in use by another slot of this process")
    }

    private static let acquireTries = 1000

    private func open(_ path: String, _ tables: [StateTable]) throws(StreamFault) -> StateStore {
        do throws(StreamFault) {
            try Self.makeDirectory(path)
            return try StateStore(directory: path, tables: tables, home: self)
        } catch {
            registry.withLock { _ = $0.open.remove(path) }
            throw error
        }
    }

    /// Gives a store back open, for whoever gets its partition next.
    func keepWarm(_ store: StateStore) {
        let handover = Handover(store: store)
        registry.withLock { registry in
            registry.settled[handover.path] = nil
            registry.warm[handover.path] = handover.store
        }
    }

    /// Closes what is warm under these names.
    func closeWarm(_ names: [String]) throws(StreamFault) {
        for name in names {
            let path = "\(directory)/\(name)"
            let warm = registry.withLock { Handover(store: $0.warm.removeValue(forKey: path)) }
            if let store = warm.store { try close(store) }
        }
    }

    /// Puts a store's writes on disk and closes it.
    func close(_ store: StateStore) throws(StreamFault) {
        let path = store.directory
        defer { registry.withLock { _ = $0.open.remove(path) } }
        defer { store.close() }
        registry.withLock { $0.settled[path] = nil }
        try store.flush(waits: true)
    }

    /// Carries a store through the lock: what is taken out of `warm` is the taker's alone, and of what is settled another
    /// thread than the slot's calls nothing but `copy`.
    struct Handover: @unchecked Sendable {
        var store: StateStore?
        var path: String { store?.directory ?? "" }
    }

    func makeOptions() -> OpaquePointer? {
        let options = rocksdb_options_create()
        rocksdb_options_set_create_if_missing(options, 1)
        rocksdb_options_set_info_log_level(options, 3)
        rocksdb_options_set_keep_log_file_num(options, 2)
        rocksdb_options_set_max_open_files(options, 256)
        // The most that one store has: as a rule its share ends it sooner.
        rocksdb_options_set_write_buffer_size(options, 16 << 20)
        rocksdb_options_set_arena_block_size(options, 128 << 10)
        rocksdb_options_set_max_write_buffer_number(options, 2)
        rocksdb_options_set_compression(options, Int32(rocksdb_lz4_compression))
        // One thread writes, and most reads are of keys that are not there: the memtable's filter knows without a search.
        rocksdb_options_set_allow_concurrent_memtable_write(options, 0)
        rocksdb_options_set_memtable_prefix_bloom_size_ratio(options, 0.02)
        rocksdb_options_set_memtable_whole_key_filtering(options, 1)
        let blocks = rocksdb_block_based_options_create()
        rocksdb_block_based_options_set_block_cache(blocks, OpaquePointer(bitPattern: cache))
        rocksdb_block_based_options_set_cache_index_and_filter_blocks(blocks, 1)
        rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(blocks, 1)
        rocksdb_block_based_options_set_filter_policy(blocks, rocksdb_filterpolicy_create_bloom_full(10))
        rocksdb_options_set_block_based_table_factory(options, blocks)
        rocksdb_block_based_options_destroy(blocks)
        return options
    }

    private static func makeDirectory(_ path: String) throws(StreamFault) {
        var made = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/") {
            made += "/" + part
            if mkdir(made, 0o700) != 0, errno != EEXIST {
                throw .state("cannot make the directory \(made): \(String(cString: strerror(errno)))")
            }
        }
    }
}
