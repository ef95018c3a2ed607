/// A table of a task's state, with the topic that keeps it.
public struct StateTable: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Values stay until they are deleted; the topic is compacted.
        case compacted
        /// Every value begins with its *drop time*: 8 bytes, big-endian, milliseconds of append time. From then on it
        /// reads as absent, and goes by itself; the topic is compacted and deletes.
        case expiring
    }

    public var name: String
    /// The changelog topic; it has as many partitions as the inputs.
    public var changelog: String
    public var kind: Kind
    /// The topic's `delete.retention.ms`: a local state older than half of it may have missed deletions and is rebuilt.
    public var deleteRetention: Duration

    public init(name: String, changelog: String, kind: Kind, deleteRetention: Duration = .seconds(7 * 86_400)) {
        self.name = name
        self.changelog = changelog
        self.kind = kind
        self.deleteRetention = deleteRetention
    }

    /// Whether a value of an expiring table is past its drop time; one too short to have one never is.
    static func isDropped(_ value: UnsafeRawBufferPointer, at nowMillis: Int64) -> Bool {
        guard value.count >= 8 else { return false }
        return Int64(bigEndian: value.loadUnaligned(as: Int64.self)) <= nowMillis
    }
}
