public import HushCore

/// What a screen shows: by id, the title and the revision.
public struct ScreenEntry: Hashable, Sendable {
    public var title: Bytes
    /// Nil where the dialect knows no revisions.
    public var revision: Int64?

    public init(title: Bytes, revision: Int64?) {
        self.title = title
        self.revision = revision
    }
}

/// What each screen must show at the end, from what was put in alone.
///
/// It shares no rule with the pipeline: it looks at all that was ever sent about a notification at once, so there is no
/// state, no merging and no order in it. That is sound because reads carry revisions, and the first of two contents
/// under one revision is told apart by the order of its topic.
public struct Oracle: Sendable {
    private var showsByID: [Bytes: [Bytes: [(at: Duration, show: Workload.Show)]]] = [:]
    private var endsByID: [Bytes: [Bytes: [Int64]]] = [:]
    private var ownerOfPhone: [Bytes]
    private let dialects: [Dialect]

    /// Takes a workload whose events stand in the order in which they were published.
    public init(_ workload: Workload) {
        ownerOfPhone = workload.phones.map(\.owner)
        dialects = workload.phones.map(\.dialect)
        for timed in workload.events {
            switch timed.event {
            case .show(let show): showsByID[show.recipient, default: [:]][show.id, default: []].append((timed.at, show))
            case .retract(let recipient, let id, let revision):
                endsByID[recipient, default: [:]][id, default: []].append(revision ?? .max)
            case .read(let recipient, let id, let revision, _):
                endsByID[recipient, default: [:]][id, default: []].append(revision)
            case .moved(let phone, let owner): ownerOfPhone[phone] = owner
            default: break
            }
        }
    }

    /// Who is logged in on a phone at the end.
    public func owner(of phone: Int) -> Bytes {
        ownerOfPhone[phone]
    }

    /// What a phone must show at `end`.
    public func screen(of phone: Int, at end: Duration) -> [Bytes: ScreenEntry] {
        let knowsRevisions = dialects[phone] == .hush
        return live(owner(of: phone), at: end).mapValues { show in
            ScreenEntry(title: show.title, revision: knowsRevisions ? show.revision : nil)
        }
    }

    /// What a recipient has not dealt with, the newest revision of each.
    private func live(_ recipient: Bytes, at end: Duration) -> [Bytes: Workload.Show] {
        var found: [Bytes: Workload.Show] = [:]
        for (id, shows) in showsByID[recipient] ?? [:] {
            guard let newest = shows.map(\.show.revision).max() else { continue }
            let ends = endsByID[recipient]?[id] ?? []
            if ends.contains(where: { $0 >= newest }) { continue }
            guard let first = shows.first(where: { $0.show.revision == newest }) else { continue }
            if let life = first.show.life, first.at + life <= end { continue }
            found[id] = first.show
        }
        return found
    }
}
