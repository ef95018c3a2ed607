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
}

/// A planner's state in memory.
public struct MemoryPlannerState: PlannerState, Hashable, Sendable {
    public private(set) var marks: [Bytes: [Bytes: Mark]] = [:]
    public private(set) var recipients: [Bytes: Recipient] = [:]

    public init() {}

    public func mark(_ id: Bytes, of recipient: Bytes) -> Mark? {
        marks[recipient]?[id]
    }

    public mutating func setMark(_ mark: Mark, _ id: Bytes, of recipient: Bytes) {
        marks[recipient, default: [:]][id] = mark
    }

    public func recipient(_ name: Bytes) -> Recipient {
        recipients[name] ?? Recipient()
    }

    public mutating func setRecipient(_ recipient: Recipient, _ name: Bytes) {
        recipients[name] = recipient == Recipient() ? nil : recipient
    }

    public func live(of recipient: Bytes, at now: Timestamp) -> [LiveEntry] {
        var entries: [LiveEntry] = []
        for (id, mark) in marks[recipient] ?? [:] {
            guard let live = mark.live, live.expires > now else { continue }
            entries.append(LiveEntry(id: id, expires: live.expires, planned: live.planned))
        }
        entries.sort { $0.planned < $1.planned }
        return entries
    }
}
