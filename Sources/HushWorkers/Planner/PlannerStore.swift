import HushCore
import HushStream

/// The planner's state in the store of its partition.
///
/// A cache holds devices, live lists and ids of recipients that were active lately, so that a new id to one of them
/// costs one mark written, and neither a read nor a scan.
final class PlannerStore: PlannerState {
    typealias Failure = TaskFailure

    /// The tables' indices in `StreamConfiguration.tables`.
    static let marksTable = 0
    static let rowsTable = 1

    static func tables(marksChangelog: String, rowsChangelog: String) -> [StateTable] {
        [
            StateTable(name: "marks", changelog: marksChangelog, kind: .expiring),
            StateTable(name: "rows", changelog: rowsChangelog, kind: .compacted),
        ]
    }

    /// How much longer the store keeps a mark than the rules count it, so that the rules alone decide: the store's time
    /// does not go back when a transaction aborts, the planner's does.
    static let markSlackMillis: Int64 = 3_600_000

    /// What the key of a recipient's row begins with.
    static let recipientPrefix = [UInt8(ascii: "d")]

    let context: TaskContext
    let markLifeMillis: Int64
    /// The unfinished jobs of audiences; nil until they were looked for.
    var knownTurns: [AudienceTurn]?
    // All is of one thread and none is used from within its own use, so what these accesses would be checked for at run
    // time, a dozen times a record, cannot be.
    @exclusivity(unchecked) private var cache: RecipientCache
    /// The key of the last read or write.
    @exclusivity(unchecked) private var key = ByteBuffer(reserving: 512)
    @exclusivity(unchecked) private var writer = RowWriter()
    /// Whether `key` is that of a mark that was looked for and is not there.
    @exclusivity(unchecked) private var isMarkAbsent = false

    init(_ context: TaskContext, markLifeMillis: Int64, cacheBytesMax: Int) {
        self.context = context
        self.markLifeMillis = markLifeMillis + Self.markSlackMillis
        cache = RecipientCache(bytesMax: cacheBytesMax)
    }

    func mark(_ id: Bytes, of recipient: Bytes) throws(TaskFailure) -> Mark? {
        setMarkKey(id, of: recipient)
        if cache.entry(recipient).lacks(id) {
            isMarkAbsent = true
            return nil
        }
        let mark = try read(Self.marksTable) { value throws(TaskFailure) in try value.map(PlannerRows.mark) }
        isMarkAbsent = mark == nil
        return mark
    }

    func setMark(_ mark: Mark, _ id: Bytes, of recipient: Bytes) {
        let isNew = isMarkAbsent && PlannerRows.isMarkKey(key, id, of: recipient)
        if !isNew { setMarkKey(id, of: recipient) }
        isMarkAbsent = false
        PlannerRows.write(mark, lifeMillis: markLifeMillis, &writer)
        put(Self.marksTable)
        cache.entry(recipient).follow(mark, id, isNew: isNew)
    }

    func recipient(_ name: Bytes) throws(TaskFailure) -> Recipient {
        let entry = cache.entry(name)
        if let known = entry.recipient { return known }
        setRecipientKey(name)
        let recipient = try read(Self.rowsTable) { value throws(TaskFailure) in
            try value.map { value throws(TaskFailure) in try PlannerRows.recipient(name, value) } ?? Recipient()
        }
        entry.recipient = recipient
        return recipient
    }

    func setRecipient(_ recipient: Recipient, _ name: Bytes) {
        setRecipientKey(name)
        if recipient == Recipient() {
            key.withUnsafeBytes { context.delete(Self.rowsTable, $0) }
        } else {
            PlannerRows.write(recipient, &writer)
            put(Self.rowsTable)
        }
        cache.entry(name).recipient = recipient
    }

    func live(of recipient: Bytes, at now: Timestamp) throws(TaskFailure) -> [LiveEntry] {
        let entry = cache.entry(recipient)
        if entry.live == nil { try scanMarks(recipient, entry) }
        entry.live?.dropExpired(at: now)
        return entry.live?.entries ?? []
    }

    /// Forgets what is cached, for the rows have gone back to what was committed.
    func aborted() {
        isMarkAbsent = false
        knownTurns = nil
        cache.removeAll()
    }

    /// Does what concerns recipients that will hardly be asked for again soon: the cache keeps those it has.
    func passingBy<Value>(_ body: () throws(TaskFailure) -> Value) throws(TaskFailure) -> Value {
        cache.isClosed = true
        defer { cache.isClosed = false }
        return try body()
    }

    private func scanMarks(_ recipient: Bytes, _ entry: CachedRecipient) throws(TaskFailure) {
        setMarkKey(Bytes([]), of: recipient)
        var entries: [LiveEntry] = []
        var ids: KnownIDs? = KnownIDs()
        try key.withUnsafeBytes { prefix throws(TaskFailure) in
            try context.scan(Self.marksTable, prefix: prefix) { key, value throws(TaskFailure) in
                let id = UnsafeRawBufferPointer(rebasing: key[prefix.count...])
                if let entry = try PlannerRows.liveEntry(id: id, value) { entries.append(entry) }
                if ids?.insert(id) == false { ids = nil }
                return true
            }
        }
        entries.sort { $0.planned < $1.planned }
        entry.live = LiveList(entries)
        entry.ids = ids
    }

    private func read<Value>(
        _ table: Int, _ body: (UnsafeRawBufferPointer?) throws(TaskFailure) -> Value
    ) throws(TaskFailure) -> Value {
        try key.withUnsafeBytes { key throws(TaskFailure) in try context.withValue(table, key, body) }
    }

    private func put(_ table: Int) {
        key.withUnsafeBytes { key in writer.withUnsafeBytes { context.put(table, key, $0) } }
    }

    private func setMarkKey(_ id: Bytes, of recipient: Bytes) {
        isMarkAbsent = false
        key.removeAll()
        PlannerRows.appendMarkPrefix(recipient, to: &key)
        key.append(id.raw)
    }

    private func setRecipientKey(_ name: Bytes) {
        isMarkAbsent = false
        key.removeAll()
        key.append(UInt8(ascii: "d"))
        key.append(name.raw)
    }
}
