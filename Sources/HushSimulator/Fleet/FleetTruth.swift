import HushBase
import HushCore
import HushKit

/// What a person should see at each moment, from what was sent so far alone, and what a phone's screen lacks of it.
/// It shares no rule with the pipeline.
struct FleetTruth {
    struct Wanted {
        var revision: Int64
        var expires: Timestamp
    }

    private struct Known {
        var newest: Int64 = 0
        var expires = Timestamp.distantFuture
        var dealtWith: Int64 = 0
    }

    private var known: [Bytes: Known] = [:]
    private(set) var wanted: [Bytes: Wanted] = [:]

    /// True where it is news: no repeat, and not dealt with before.
    mutating func sent(_ show: Workload.Show, at: Timestamp) -> Bool {
        var fact = known[show.id] ?? Known()
        defer { known[show.id] = fact }
        guard show.revision > fact.newest else { return false }
        fact.newest = show.revision
        fact.expires = show.life.map { at + $0 } ?? .distantFuture
        guard fact.dealtWith < show.revision else { return false }
        wanted[show.id] = Wanted(revision: show.revision, expires: fact.expires)
        return true
    }

    /// True where it was to be seen until now.
    mutating func dealtWith(_ id: Bytes, through revision: Int64) -> Bool {
        var fact = known[id] ?? Known()
        fact.dealtWith = max(fact.dealtWith, revision)
        known[id] = fact
        guard fact.dealtWith >= fact.newest else { return false }
        return wanted.removeValue(forKey: id) != nil
    }

    mutating func expire(_ now: Timestamp) {
        for (id, want) in wanted where want.expires <= now { wanted[id] = nil }
    }
}

/// How long a phone's screen was not what it should be, and how long it took.
struct FleetMeter {
    private struct Owed {
        var since: Timestamp
        var revision: Int64
    }

    private var at: Timestamp
    private let end: Timestamp
    private var missing = 0
    private var isWrong = false
    private var creates: [Bytes: Owed] = [:]
    private var deletes: [Bytes: Timestamp] = [:]

    init(from start: Timestamp, to end: Timestamp) {
        at = start
        self.end = end
    }

    /// Adds up the time since the last look, before anything changes.
    mutating func advance(_ now: Timestamp, isReachable: Bool, _ counts: inout FleetCounts) {
        let until = min(now, end)
        guard until > at else { return }
        let millis = (until - at).wholeMillis
        at = until
        guard isReachable else { return }
        counts.reachableMillis += millis
        counts.missingMillis += millis * Int64(missing)
        if isWrong { counts.wrongMillis += millis }
    }

    /// Something came to be seen, at a phone that could be reached.
    mutating func owes(create id: Bytes, revision: Int64, at now: Timestamp) {
        deletes[id] = nil
        if now < end { creates[id] = Owed(since: now, revision: revision) }
    }

    mutating func owes(delete id: Bytes, isShown: Bool, at now: Timestamp) {
        creates[id] = nil
        if isShown, now < end { deletes[id] = now }
    }

    /// Nobody's debts count any more: the phone was away, or is another's.
    mutating func forgive() {
        creates.removeAll()
        deletes.removeAll()
    }

    /// Looks at the screen as it is now.
    mutating func look(_ app: SimulatedPhone, _ truth: FleetTruth, at now: Timestamp, _ counts: inout FleetCounts) {
        let shown = app.screen.shown
        let knowsRevisions = app.dialect == .hush
        var found = 0
        missing = 0
        for (id, want) in truth.wanted {
            if let there = shown[id], !knowsRevisions || there.revision == want.revision {
                found += 1
            } else {
                missing += 1
            }
        }
        isWrong = missing > 0 || found != shown.count
        if !creates.isEmpty {
            for (id, owed) in creates {
                guard let there = shown[id], !knowsRevisions || there.revision >= owed.revision else { continue }
                creates[id] = nil
                counts.createDelays.record(now - owed.since)
            }
        }
        if !deletes.isEmpty {
            for (id, since) in deletes where shown[id] == nil {
                deletes[id] = nil
                counts.deleteDelays.record(now - since)
            }
        }
    }
}
