/// The one rule of merging: the highest revision created and the highest revision deleted of one notification.
///
/// Creates and deletes only ever raise one of the two numbers, so merging is a join: it commutes, associates and is
/// idempotent, and reordering, repeats and lost state need no further logic. The planner's state, the deliverer's
/// squashing, the simulated phone and HushKit all decide by this type.
public struct Standing: Hashable, Sendable {
    /// The highest revision created; 0 before any create.
    public var created: Int64
    /// The highest revision deleted; 0 before any delete, `Standing.everyRevision` where all are.
    public var deleted: Int64

    /// What a delete without a revision deletes through.
    public static let everyRevision = Int64.max

    @inlinable
    public init(created: Int64 = 0, deleted: Int64 = 0) {
        self.created = created
        self.deleted = deleted
    }

    /// Whether the notification stands on a screen.
    @inlinable public var isShown: Bool { created > deleted }

    /// Takes in a create; true where it is new: higher than every revision created or deleted before, so that it is to
    /// be shown and to be heard.
    @inlinable
    @discardableResult
    public mutating func create(_ revision: Int64) -> Bool {
        let isNew = revision > created && revision > deleted
        created = max(created, revision)
        return isNew
    }

    /// Takes in a delete through `revision`; true where it takes something off the screen.
    @inlinable
    @discardableResult
    public mutating func delete(through revision: Int64) -> Bool {
        let wasShown = isShown
        deleted = max(deleted, revision)
        return wasShown && !isShown
    }

    /// Joins what two places know of one notification.
    @inlinable
    public mutating func merge(_ other: Standing) {
        created = max(created, other.created)
        deleted = max(deleted, other.deleted)
    }
}
