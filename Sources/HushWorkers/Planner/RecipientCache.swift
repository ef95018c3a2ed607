import HushCore

/// A recipient's live notifications in the order they were planned.
struct LiveList {
    private(set) var entries: [LiveEntry]
    private var idBytes: Int
    /// No entry expires before; so as a rule nothing need be looked at.
    private var earliestExpiry: Timestamp

    init(_ entries: [LiveEntry]) {
        self.entries = entries
        idBytes = entries.reduce(0) { $0 + $1.id.footprint }
        earliestExpiry = entries.lazy.map(\.expires).min() ?? .distantFuture
    }

    var footprint: Int { Footprint.array(of: LiveEntry.self, entries.capacity) + idBytes }

    mutating func dropExpired(at now: Timestamp) {
        if earliestExpiry > now { return }
        self = LiveList(entries.filter { $0.expires > now })
    }

    /// Takes in a mark as it is now; of a new one there is no entry yet.
    mutating func follow(_ mark: Mark, _ id: Bytes, isNew: Bool) {
        // By index: to iterate would copy each entry.
        if !isNew, let index = entries.indices.last(where: { entries[$0].id == id }) {
            idBytes -= id.footprint
            entries.remove(at: index)
        }
        guard let notification = mark.live else { return }
        let entry = LiveEntry(id: id, expires: notification.expires, planned: notification.planned)
        // What is planned now comes last, for the task's time never goes back.
        let place = entries.indices.last { entries[$0].planned < entry.planned }.map { $0 + 1 } ?? 0
        entries.insert(entry, at: place)
        idBytes += id.footprint
        earliestExpiry = min(earliestExpiry, entry.expires)
    }
}

/// What the planner holds in memory of a recipient that was active lately: a copy of its rows, never ahead of them.
final class CachedRecipient {
    // Of one thread, and none is used from within its own use.
    /// Nil until it was read.
    @exclusivity(unchecked) var recipient: Recipient? {
        didSet { recipientBytes = recipient?.footprint ?? 0 }
    }
    @exclusivity(unchecked) private var recipientBytes = 0
    /// Nil until it was scanned for.
    @exclusivity(unchecked) var live: LiveList?
    /// Which marks there are; nil until they were scanned, and where there are too many.
    @exclusivity(unchecked) var ids: KnownIDs?
    /// What the cache has counted of it.
    @exclusivity(unchecked) fileprivate var counted = 0

    fileprivate var footprint: Int {
        Self.base + recipientBytes + (live?.footprint ?? 0) + (ids?.footprint ?? 0)
    }

    /// Itself, and its place in the cache.
    private static let base =
        Footprint.object(
            MemoryLayout<Recipient?>.stride + MemoryLayout<LiveList?>.stride + MemoryLayout<KnownIDs?>.stride + 16)
        + Footprint.dictionaryEntry

    /// Whether there is certainly no mark of this id, so that the store need not be asked.
    func lacks(_ id: Bytes) -> Bool { ids?.contains(id) == false }

    /// Takes in a mark as it is now.
    func follow(_ mark: Mark, _ id: Bytes, isNew: Bool) {
        live?.follow(mark, id, isNew: isNew)
        if ids?.insert(id) == false { ids = nil }
    }
}

/// A cache of recipients in two generations, bounded by what they take: what was asked for since the last change of
/// generations stays.
struct RecipientCache {
    private let bytesMax: Int
    private var young: [Bytes: CachedRecipient] = [:]
    private var old: [Bytes: CachedRecipient] = [:]
    /// Of the young, but for what the last one has grown by since it was asked for.
    private var youngBytes = 0
    private var oldBytes = 0
    /// A record asks for its recipient several times.
    private var lastName = Bytes([])
    private var lastEntry: CachedRecipient?
    private var isLastYoung = false

    init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    var count: Int { young.count + old.count }
    /// What all take, but for what the last one that was asked for has grown by since.
    var bytes: Int { youngBytes + oldBytes }

    /// While it is true nobody new comes in, so that a walk over many recipients drives nobody out.
    var isClosed = false {
        didSet { forgetLast() }
    }

    mutating func entry(_ name: Bytes) -> CachedRecipient {
        if let lastEntry, lastName == name { return lastEntry }
        forgetLast()
        let entry: CachedRecipient
        if let found = young[name] {
            entry = found
            isLastYoung = true
        } else if isClosed {
            entry = old[name] ?? CachedRecipient()
        } else {
            entry = take(name)
            isLastYoung = true
        }
        lastName = name
        lastEntry = entry
        return entry
    }

    /// Makes one of the old, or a new one, young.
    private mutating func take(_ name: Bytes) -> CachedRecipient {
        if youngBytes >= bytesMax / 2 {
            old = young
            oldBytes = youngBytes
            young.removeAll(keepingCapacity: true)
            youngBytes = 0
        }
        let entry = old.removeValue(forKey: name) ?? CachedRecipient()
        oldBytes -= entry.counted
        entry.counted = entry.footprint + name.footprint
        youngBytes += entry.counted
        young[name] = entry
        return entry
    }

    /// Counts what the last one has come to: it has been asked for, and may have grown.
    private mutating func forgetLast() {
        if let lastEntry, isLastYoung {
            let bytes = lastEntry.footprint + lastName.footprint
            youngBytes += bytes - lastEntry.counted
            lastEntry.counted = bytes
        }
        lastEntry = nil
        isLastYoung = false
    }

    /// Forgets everything, as after an abort: the rows have gone back.
    mutating func removeAll() {
        young.removeAll()
        old.removeAll()
        (youngBytes, oldBytes) = (0, 0)
        lastEntry = nil
        isLastYoung = false
    }
}
