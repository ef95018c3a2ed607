import CRocksDB
import Synchronization

/// The committed state of one task on disk: one RocksDB, all tables and the checkpoint in one key space.
///
/// Its write-ahead log is off. Data and checkpoint go into one memtable in one batch, so what a crash leaves is the whole
/// of some commit, and the changelog has the rest.
final class StateStore {
    let directory: String
    /// Nil once it is closed; nobody reads or writes after that.
    private var handle: OpaquePointer?
    private let readOptions = rocksdb_readoptions_create()
    /// For walks over whole tables, whose blocks are not wanted again soon.
    private let walkOptions = rocksdb_readoptions_create()
    private let writeOptions = rocksdb_writeoptions_create()
    private let filter: ExpiryFilter
    private var batch = Batch()
    /// Holds this store where it is warm.
    private weak var home: StateHome?
    /// Held while a copy is made, which closing waits for.
    private let copying = Mutex(())

    /// Opens or makes the database in `directory`, which one process at a time may hold.
    init(directory: String, tables: [StateTable], home: StateHome) throws(StreamFault) {
        self.directory = directory
        self.home = home
        filter = ExpiryFilter(tables: tables)
        rocksdb_writeoptions_disable_WAL(writeOptions, 1)
        rocksdb_readoptions_set_fill_cache(walkOptions, 0)
        // RocksDB counts its steps for whoever asks; nobody does. Of the calling thread, which is the slot's.
        rocksdb_set_perf_level(Int32(rocksdb_disable))
        let options = home.makeOptions()
        defer { rocksdb_options_destroy(options) }
        rocksdb_options_set_compaction_filter(options, filter.raw)
        var words: UnsafeMutablePointer<CChar>?
        let opened = rocksdb_open(options, directory, &words)
        guard let opened, words == nil else {
            let message = Self.take(words)
            throw .state("cannot open \(directory): \(message)")
        }
        handle = opened
    }

    /// Lets go of the directory; what is not flushed comes back from the changelogs.
    func close() {
        copying.withLock { _ in
            if let handle { rocksdb_close(handle) }
            handle = nil
        }
    }

    /// Makes a database of what is written until now in a new directory: links to the files that never change, on the
    /// same file system, and a flush. The one thing that another thread than the slot's may do meanwhile, for RocksDB
    /// may be used by several, and the handle changes under the lock alone.
    func copy(to path: String) throws(StreamFault) {
        let fault: String? = copying.withLock { _ in
            guard let handle else { return "it is closed" }
            var words: UnsafeMutablePointer<CChar>?
            let checkpoint = rocksdb_checkpoint_object_create(handle, &words)
            guard let checkpoint, words == nil else { return Self.take(words) }
            defer { rocksdb_checkpoint_object_destroy(checkpoint) }
            // Without a write-ahead log all must be flushed, whatever its size.
            rocksdb_checkpoint_create(checkpoint, path, 0, &words)
            return words == nil ? nil : Self.take(words)
        }
        if let fault { throw .state("cannot copy \(directory) to \(path): \(fault)") }
    }

    deinit {
        close()
        rocksdb_readoptions_destroy(readOptions)
        rocksdb_readoptions_destroy(walkOptions)
        rocksdb_writeoptions_destroy(writeOptions)
    }

    /// A value held in RocksDB's own memory until `release`.
    struct Pinned {
        fileprivate let slice: OpaquePointer

        var bytes: UnsafeRawBufferPointer {
            var count = 0
            let start = rocksdb_pinnableslice_value(slice, &count)
            return UnsafeRawBufferPointer(start: start, count: count)
        }

        func release() { rocksdb_pinnableslice_destroy(slice) }
    }

    func get(
        _ table: UInt8, _ key: UnsafeRawBufferPointer, _ scratch: inout [UInt8]
    ) throws(StreamFault) -> Pinned? {
        var words: UnsafeMutablePointer<CChar>?
        let slice = Self.withStoredKey(table, key, &scratch) { start, count in
            rocksdb_get_pinned(handle, readOptions, start, count, &words)
        }
        if words != nil { throw .state("cannot read \(directory): \(Self.take(words))") }
        return slice.map { Pinned(slice: $0) }
    }

    /// Writes that are gathered from a changelog, and go to disk with a checkpoint.
    struct Batch: ~Copyable {
        fileprivate let raw: OpaquePointer?
        fileprivate(set) var bytes = 0
        private var scratch: [UInt8] = []

        fileprivate init() {
            raw = rocksdb_writebatch_create()
        }

        deinit {
            rocksdb_writebatch_destroy(raw)
        }

        mutating func add(_ table: UInt8, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) {
            bytes += key.count + (value?.count ?? 0)
            StateStore.withStoredKey(table, key, &scratch) { start, count in
                if let value {
                    rocksdb_writebatch_put(
                        raw, start, count, value.baseAddress?.assumingMemoryBound(to: CChar.self), value.count)
                } else {
                    rocksdb_writebatch_delete(raw, start, count)
                }
            }
        }

        fileprivate mutating func clear() {
            rocksdb_writebatch_clear(raw)
            bytes = 0
        }
    }

    func makeBatch() -> Batch { Batch() }

    /// Writes an overlay and the checkpoint that goes with it: both or neither.
    func apply(_ overlay: inout Overlay, checkpoint: Checkpoint) throws(StreamFault) {
        // In the order of the keys, in which a memtable takes them for half of the time.
        overlay.forEachSorted { batch.add($0.table, $0.key, $0.value) }
        try apply(&batch, checkpoint: checkpoint)
        setTime(checkpoint.nowMillis)
    }

    /// Writes a batch and the checkpoint that goes with it, and empties the batch.
    func apply(_ batch: inout Batch, checkpoint: Checkpoint) throws(StreamFault) {
        let encoded = checkpoint.encoded()
        encoded.withUnsafeBytes { value in
            batch.add(Checkpoint.table, UnsafeRawBufferPointer(start: nil, count: 0), value)
        }
        try write(&batch)
    }

    /// Writes a batch, and empties it.
    func write(_ batch: inout Batch) throws(StreamFault) {
        var words: UnsafeMutablePointer<CChar>?
        rocksdb_write(handle, writeOptions, batch.raw, &words)
        batch.clear()
        if words != nil { throw .state("cannot write \(directory): \(Self.take(words))") }
        if let home, writeBytes > home.writeBytesPerStore { try flush(waits: false) }
    }

    /// The memory of the writes since the last flush, with all that RocksDB keeps for them.
    var writeBytes: Int {
        var bytes: UInt64 = 0
        return rocksdb_property_int(handle, "rocksdb.cur-size-active-mem-table", &bytes) == 0 ? Int(bytes) : 0
    }

    /// Committed time: what is to be dropped by then may go.
    func setTime(_ nowMillis: Int64) {
        filter.advance(to: nowMillis)
    }

    /// Forgets all data and the checkpoint.
    func deleteAll() throws(StreamFault) {
        let raw = rocksdb_writebatch_create()
        defer { rocksdb_writebatch_destroy(raw) }
        let (first, last): ([CChar], [CChar]) = ([0], [-1, -1])
        rocksdb_writebatch_delete_range(raw, first, 1, last, 2)
        var words: UnsafeMutablePointer<CChar>?
        rocksdb_write(handle, writeOptions, raw, &words)
        if words != nil { throw .state("cannot clear \(directory): \(Self.take(words))") }
        setTime(0)
    }

    /// The checkpoint of the last commit; nil where nothing was ever committed here.
    ///
    /// - Throws: `StreamFault.state` where it is of another format than this build's: rows beside it would be guessed at.
    func checkpoint() throws(StreamFault) -> Checkpoint? {
        var scratch: [UInt8] = []
        guard let pinned = try get(Checkpoint.table, UnsafeRawBufferPointer(start: nil, count: 0), &scratch) else {
            return nil
        }
        defer { pinned.release() }
        if let found = Checkpoint(decoding: pinned.bytes) { return found }
        let format = pinned.bytes.first.map { $0 == Checkpoint.version ? "is damaged" : "is of format \($0)" }
        throw .state(
            "the checkpoint in \(directory) \(format ?? "is empty"), and this build reads format "
                + "\(Checkpoint.version): run the build that wrote it, or delete the directory, which comes back from "
                + "the changelogs")
    }

    /// Puts all committed writes on disk.
    func flush(waits: Bool) throws(StreamFault) {
        let options = rocksdb_flushoptions_create()
        defer { rocksdb_flushoptions_destroy(options) }
        rocksdb_flushoptions_set_wait(options, waits ? 1 : 0)
        var words: UnsafeMutablePointer<CChar>?
        rocksdb_flush(handle, options, &words)
        if words != nil { throw .state("cannot flush \(directory): \(Self.take(words))") }
    }

    func cursor(
        _ table: UInt8, prefix: UnsafeRawBufferPointer, after: UnsafeRawBufferPointer? = nil, isWalk: Bool = false
    ) -> Cursor {
        let iterator = rocksdb_create_iterator(handle, isWalk ? walkOptions : readOptions)
        return Cursor(iterator, directory, prefix: [table] + prefix, after: after.map { [table] + $0 })
    }

    /// A walk over stored keys with a common prefix; their table byte is not shown.
    final class Cursor {
        private var iterator: OpaquePointer?
        private let directory: String
        private let prefix: [UInt8]

        fileprivate init(_ iterator: OpaquePointer?, _ directory: String, prefix: [UInt8], after: [UInt8]?) {
            self.iterator = iterator
            self.directory = directory
            self.prefix = prefix
            // The first key behind another is that with a zero at its end.
            (after.map { $0 + [0] } ?? prefix).withUnsafeBytes { bytes in
                rocksdb_iter_seek(iterator, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
            }
        }

        deinit { close() }

        var current: (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
            guard let iterator, rocksdb_iter_valid(iterator) != 0 else { return nil }
            var count = 0
            let key = UnsafeRawBufferPointer(start: rocksdb_iter_key(iterator, &count), count: count)
            guard prefix.withUnsafeBytes({ KeyOrder.starts(key, with: $0) }) else { return nil }
            let value = rocksdb_iter_value(iterator, &count)
            return (
                UnsafeRawBufferPointer(rebasing: key.dropFirst()), UnsafeRawBufferPointer(start: value, count: count)
            )
        }

        var fault: StreamFault? {
            guard let iterator else { return nil }
            var words: UnsafeMutablePointer<CChar>?
            rocksdb_iter_get_error(iterator, &words)
            return words == nil ? nil : .state("cannot scan \(directory): \(StateStore.take(words))")
        }

        func advance() { if let iterator { rocksdb_iter_next(iterator) } }

        func close() {
            if let iterator { rocksdb_iter_destroy(iterator) }
            iterator = nil
        }
    }

    private static func withStoredKey<Result>(
        _ table: UInt8, _ key: UnsafeRawBufferPointer, _ scratch: inout [UInt8],
        _ body: (UnsafePointer<CChar>?, Int) -> Result
    ) -> Result {
        scratch.removeAll(keepingCapacity: true)
        scratch.append(table)
        scratch.append(contentsOf: key)
        return scratch.withUnsafeBytes { body($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count) }
    }

    fileprivate static func take(_ words: UnsafeMutablePointer<CChar>?) -> String {
        guard let words else { return "unknown" }
        defer { rocksdb_free(words) }
        return String(cString: words)
    }
}
