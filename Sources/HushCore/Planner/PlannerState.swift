/// Where the planner's rules keep what they know; the store of a partition, or memory in tests and simulations.
public protocol PlannerState {
    /// What a read or a write may fail with; `Never` in memory.
    associatedtype Failure: Error

    /// The mark of one notification; nil where there is none.
    mutating func mark(_ id: Bytes, of recipient: Bytes) throws(Failure) -> Mark?

    mutating func setMark(_ mark: Mark, _ id: Bytes, of recipient: Bytes) throws(Failure)

    /// A recipient's devices; an empty one where nothing is known.
    mutating func recipient(_ name: Bytes) throws(Failure) -> Recipient

    /// An empty recipient may be forgotten.
    mutating func setRecipient(_ recipient: Recipient, _ name: Bytes) throws(Failure)

    /// The recipient's marks with `live` content that expires after `now`, in the order they were planned.
    mutating func live(of recipient: Bytes, at now: Timestamp) throws(Failure) -> [LiveEntry]

    // MARK: audiences

    /// What this partition knows of an audience's notification; nil where nothing.
    mutating func audience(_ id: Bytes) throws(Failure) -> AudienceMark?

    mutating func setAudience(_ audience: AudienceMark, _ id: Bytes) throws(Failure)

    /// The unfinished job of an audience; nil where there is none.
    mutating func job(of id: Bytes) throws(Failure) -> AudienceJob?

    /// Nil: it is done.
    mutating func setJob(_ job: AudienceJob?, of id: Bytes, at now: Timestamp) throws(Failure)

    /// All unfinished jobs, in the order of their turns.
    mutating func turns() throws(Failure) -> [AudienceTurn]

    /// Whether `addHolder` noted this.
    mutating func isHolder(_ recipient: Bytes, of id: Bytes) throws(Failure) -> Bool

    /// Notes that a recipient holds the mark of an audience's notification, for as long as that mark is remembered.
    mutating func addHolder(_ recipient: Bytes, of id: Bytes, at now: Timestamp) throws(Failure)

    /// The next recipients with devices behind `after`, in the order of their names' bytes; fewer than `countMax` at the
    /// end.
    mutating func recipients(after: Bytes?, countMax: Int) throws(Failure) -> [NamedRecipient]

    /// The next holders of an audience's notification, as `recipients`.
    mutating func holders(of id: Bytes, after: Bytes?, countMax: Int) throws(Failure) -> [Bytes]
}

/// A recipient with its name, as a walk over all shows it.
public struct NamedRecipient: Hashable, Sendable {
    public var name: Bytes
    public var recipient: Recipient

    public init(name: Bytes, recipient: Recipient) {
        self.name = name
        self.recipient = recipient
    }
}

/// A planner's state in memory.
public struct MemoryPlannerState: PlannerState, Hashable, Sendable {
    public private(set) var marks: [Bytes: [Bytes: Mark]] = [:]
    public private(set) var recipients: [Bytes: Recipient] = [:]
    private var audiences: [Bytes: AudienceMark] = [:]
    private var jobs: [Bytes: AudienceJob] = [:]
    private var holders: [Bytes: Set<Bytes>] = [:]
    /// The marks with content, in the order they were planned.
    private var lives: [Bytes: [LiveEntry]] = [:]

    public init() {}

    public func mark(_ id: Bytes, of recipient: Bytes) -> Mark? {
        marks[recipient]?[id]
    }

    public mutating func setMark(_ mark: Mark, _ id: Bytes, of recipient: Bytes) {
        marks[recipient, default: [:]][id] = mark
        lives[recipient, default: []].removeAll { $0.id == id }
        guard let live = mark.live else { return }
        let entry = LiveEntry(id: id, expires: live.expires, planned: live.planned)
        // Nearly always the last one.
        let place = lives[recipient]?.lastIndex { $0.planned <= entry.planned }.map { $0 + 1 } ?? 0
        lives[recipient]?.insert(entry, at: place)
    }

    public func recipient(_ name: Bytes) -> Recipient {
        recipients[name] ?? Recipient()
    }

    public mutating func setRecipient(_ recipient: Recipient, _ name: Bytes) {
        recipients[name] = recipient == Recipient() ? nil : recipient
    }

    public func live(of recipient: Bytes, at now: Timestamp) -> [LiveEntry] {
        (lives[recipient] ?? []).filter { $0.expires > now }
    }

    public func audience(_ id: Bytes) -> AudienceMark? { audiences[id] }

    public mutating func setAudience(_ audience: AudienceMark, _ id: Bytes) { audiences[id] = audience }

    public func job(of id: Bytes) -> AudienceJob? { jobs[id] }

    public mutating func setJob(_ job: AudienceJob?, of id: Bytes, at now: Timestamp) { jobs[id] = job }

    public func turns() -> [AudienceTurn] {
        jobs.map { AudienceTurn(turn: $0.value.turn, id: $0.key, isAsking: $0.value.evaluation != nil) }.sorted()
    }

    public func isHolder(_ recipient: Bytes, of id: Bytes) -> Bool { holders[id]?.contains(recipient) ?? false }

    public mutating func addHolder(_ recipient: Bytes, of id: Bytes, at now: Timestamp) {
        holders[id, default: []].insert(recipient)
    }

    public func recipients(after: Bytes?, countMax: Int) -> [NamedRecipient] {
        let names = recipients.keys.filter { name in after.map { $0 < name } ?? true }.sorted().prefix(countMax)
        return names.map { NamedRecipient(name: $0, recipient: recipient($0)) }
    }

    public func holders(of id: Bytes, after: Bytes?, countMax: Int) -> [Bytes] {
        Array((holders[id] ?? []).filter { name in after.map { $0 < name } ?? true }.sorted().prefix(countMax))
    }
}
