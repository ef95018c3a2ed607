import HushCore

/// A recipient's live notifications in the order they were planned.
struct LiveList {
    private(set) var entries: [LiveEntry]
    /// No entry expires before; so as a rule nothing need be looked at.
    private var earliestExpiry: Timestamp

    init(_ entries: [LiveEntry]) {
        self.entries = entries
        earliestExpiry = entries.lazy.map(\.expires).min() ?? .distantFuture
    }

    mutating func dropExpired(at now: Timestamp) {
        if earliestExpiry > now { return }
        self = LiveList(entries.filter { $0.expires > now })
    }

    /// Takes in a mark as it is now; of a new one there is no entry yet.
    mutating func follow(_ mark: Mark, _ id: Bytes, isNew: Bool) {
        // By index: to iterate would copy each entry.
        if !isNew, let index = entries.indices.last(where: { entries[$0].id == id }) { entries.remove(at: index) }
        guard let notification = mark.live else { return }
        let entry = LiveEntry(id: id, expires: notification.expires, planned: notification.planned)
        // What is planned now comes last, for the task's time never goes back.
        let place = entries.indices.last { entries[$0].planned < entry.planned }.map { $0 + 1 } ?? 0
        entries.insert(entry, at: place)
        earliestExpiry = min(earliestExpiry, entry.expires)
    }
}

/// What the planner holds in memory of a recipient that was active lately: a copy of its rows, never ahead of them.
final class CachedRecipient {
    // Of one thread, and none is used from within its own use.
    /// Nil until it was read.
    @exclusivity(unchecked) var recipient: Recipient?
    /// Nil until it was scanned for.
    @exclusivity(unchecked) var live: LiveList?
    /// Which marks there are; nil until they were scanned, and where there are too many.
    @exclusivity(unchecked) var ids: KnownIDs?

    /// Whether there is certainly no mark of this id, so that the store need not be asked.
    func lacks(_ id: Bytes) -> Bool { ids?.contains(id) == false }

    /// Takes in a mark as it is now.
    func follow(_ mark: Mark, _ id: Bytes, isNew: Bool) {
        live?.follow(mark, id, isNew: isNew)
        if ids?.insert(id) == false { ids = nil }
    }
}

/// A bounded cache of recipients in two generations: what was asked for since the last change of generations stays.
struct RecipientCache {
    private let countMax: Int
    private var young: [Bytes: CachedRecipient] = [:]
    private var old: [Bytes: CachedRecipient] = [:]
    /// A record asks for its recipient several times.
    private var lastName = Bytes([])
    private var lastEntry: CachedRecipient?

    init(countMax: Int) {
        self.countMax = max(countMax, 2)
    }

    var count: Int { young.count + old.count }

    /// While it is true nobody new comes in, so that a walk over many recipients drives nobody out.
    var isClosed = false {
        didSet { lastEntry = nil }
    }

    mutating func entry(_ name: Bytes) -> CachedRecipient {
        if let lastEntry, lastName == name { return lastEntry }
        let entry: CachedRecipient
        if let found = young[name] {
            entry = found
        } else if isClosed {
            entry = old[name] ?? CachedRecipient()
        } else {
            if young.count >= countMax / 2 {
                old = young
                young.removeAll(keepingCapacity: true)
            }
            entry = old.removeValue(forKey: name) ?? CachedRecipient()
            young[name] = entry
        }
        lastName = name
        lastEntry = entry
        return entry
    }

    /// Forgets everything, as after an abort: the rows have gone back.
    mutating func removeAll() {
        young.removeAll()
        old.removeAll()
        lastEntry = nil
    }
}
