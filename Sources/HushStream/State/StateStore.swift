import CRocksDB
import Synchronization

/// The committed state of one task on disk: one RocksDB, all tables and the checkpoint in one key space.
///
/// Its write-ahead log is off. Data and checkpoint go into one memtable in one batch, so what a crash leaves is the whole
/// of some commit, and the changelog has the rest.
final class StateStore {
    let directory: String
    private let handle: OpaquePointer
    private let home: StateHome
    private let readOptions = rocksdb_readoptions_create()
    private let writeOptions = rocksdb_writeoptions_create()
    private let filter: ExpiryFilter
    private var scratch: [UInt8] = []

    /// Bytes written since the last flush to disk.
    private(set) var unflushedBytes = 0

    /// Opens or makes the database in `directory`, which one process at a time may hold.
    init(directory: String, tables: [StateTable], home: StateHome) throws(StreamFault) {
        self.directory = directory
        self.home = home
        filter = ExpiryFilter(tables: tables)
        rocksdb_writeoptions_disable_WAL(writeOptions, 1)
        let options = home.makeOptions()
        defer { rocksdb_options_destroy(options) }
        rocksdb_options_set_compaction_filter(options, filter.raw)
        var words: UnsafeMutablePointer<CChar>?
        let opened = rocksdb_open(options, directory, &words)
        guard let opened, words == nil else {
            let message = Self.take(words)
            rocksdb_readoptions_destroy(readOptions)
            rocksdb_writeoptions_destroy(writeOptions)
            throw .state("cannot open \(directory): \(message)")
        }
        handle = opened
    }

    deinit {
        rocksdb_close(handle)
        rocksdb_readoptions_destroy(readOptions)
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
        let slice = withStoredKey(table, key, &scratch) { start, count in
            rocksdb_get_pinned(handle, readOptions, start, count, &words)
        }
        if words != nil { throw .state("cannot read \(directory): \(Self.take(words))") }
        return slice.map { Pinned(slice: $0) }
    }

    /// Writes an overlay and the checkpoint that goes with it: both or neither.
    func apply(_ overlay: borrowing Overlay, checkpoint: Checkpoint) throws(StreamFault) {
        let batch = rocksdb_writebatch_create()
        defer { rocksdb_writebatch_destroy(batch) }
        for entry in overlay.entries { add(entry.table, entry.key, entry.value, to: batch) }
        try write(batch, checkpoint, bytes: overlay.bytes)
        filter.advance(to: checkpoint.nowMillis)
    }

    /// Writes what a changelog told; `values` are (table, key, value or nil).
    func restore(
        _ values: [(table: UInt8, key: [UInt8], value: [UInt8]?)], checkpoint: Checkpoint
    ) throws(StreamFault) {
        let batch = rocksdb_writebatch_create()
        defer { rocksdb_writebatch_destroy(batch) }
        var bytes = 0
        for (table, key, value) in values {
            bytes += key.count + (value?.count ?? 0)
            key.withUnsafeBytes { key in
                if let value {
                    value.withUnsafeBytes { add(table, key, $0, to: batch) }
                } else {
                    add(table, key, nil, to: batch)
                }
            }
        }
        try write(batch, checkpoint, bytes: bytes)
    }

    private func add(
        _ table: UInt8, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?, to batch: OpaquePointer?
    ) {
        withStoredKey(table, key, &scratch) { start, count in
            if let value {
                rocksdb_writebatch_put(
                    batch, start, count, value.baseAddress?.assumingMemoryBound(to: CChar.self), value.count)
            } else {
                rocksdb_writebatch_delete(batch, start, count)
            }
        }
    }

    private func write(_ batch: OpaquePointer?, _ checkpoint: Checkpoint, bytes: Int) throws(StreamFault) {
        let encoded = checkpoint.encoded()
        encoded.withUnsafeBytes { value in
            add(Checkpoint.table, UnsafeRawBufferPointer(start: nil, count: 0), value, to: batch)
        }
        var words: UnsafeMutablePointer<CChar>?
        rocksdb_write(handle, writeOptions, batch, &words)
        if words != nil { throw .state("cannot write \(directory): \(Self.take(words))") }
        unflushedBytes += bytes
    }

    /// The checkpoint of the last commit; nil where nothing was ever committed here, or in a format not known.
    func checkpoint() throws(StreamFault) -> Checkpoint? {
        var scratch: [UInt8] = []
        guard let pinned = try get(Checkpoint.table, UnsafeRawBufferPointer(start: nil, count: 0), &scratch) else {
            return nil
        }
        defer { pinned.release() }
        return Checkpoint(decoding: pinned.bytes)
    }

    /// Puts all committed writes on disk.
    func flush(waits: Bool) throws(StreamFault) {
        let options = rocksdb_flushoptions_create()
        defer { rocksdb_flushoptions_destroy(options) }
        rocksdb_flushoptions_set_wait(options, waits ? 1 : 0)
        var words: UnsafeMutablePointer<CChar>?
        rocksdb_flush(handle, options, &words)
        if words != nil { throw .state("cannot flush \(directory): \(Self.take(words))") }
        unflushedBytes = 0
    }

    func cursor(_ table: UInt8, prefix: UnsafeRawBufferPointer) -> Cursor {
        Cursor(rocksdb_create_iterator(handle, readOptions), directory, [table] + prefix)
    }

    /// A walk over stored keys with a common prefix; their table byte is not shown.
    final class Cursor {
        private var iterator: OpaquePointer?
        private let directory: String
        private let prefix: [UInt8]

        fileprivate init(_ iterator: OpaquePointer?, _ directory: String, _ prefix: [UInt8]) {
            self.iterator = iterator
            self.directory = directory
            self.prefix = prefix
            prefix.withUnsafeBytes { bytes in
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

    private func withStoredKey<Result>(
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
