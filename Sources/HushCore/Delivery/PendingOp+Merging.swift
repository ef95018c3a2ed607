extension PendingOp {
    /// What the op does to a notification, in the terms of the join.
    var standing: Standing {
        kind == .create ? Standing(created: revision) : Standing(deleted: revision)
    }

    /// Takes in a newer op of the same notification and returns the one that is covered.
    ///
    /// What stays is the newest create, or the delete that covers it: a delete is never cancelled out, for nobody can
    /// be sure after a crash that a create has not left.
    mutating func merge(_ newer: PendingOp) -> PendingOp {
        var joined = standing
        joined.merge(newer.standing)
        let survives = joined.isShown ? OpKind.create : .delete
        let revision = joined.isShown ? joined.created : joined.deleted
        // Nothing of this id is on the screen, as far as this address can know.
        let isUntouched = first && (kind == .delete || !mayHaveLeft)
        if newer.kind == survives, newer.revision == revision {
            var merged = newer
            merged.first = isUntouched
            if survives == .delete {
                let bothQuiet = newer.quiet && (kind == .create || quiet)
                merged.quiet = isUntouched || bothQuiet
                if kind == .delete, quiet, merged.quiet { merged.queuedAt = queuedAt }
            }
            // What an alert told of this very revision was told here, whatever the planner supposes.
            if kind == .create, survives == .create, self.revision == revision { merged.wasAlerted = wasAlerted }
            let covered = self
            self = merged
            return covered
        }
        return newer
    }

    /// An expired create goes on as a delete of its revision, for an older one may be on the screen.
    mutating func expire() {
        first = first && !mayHaveLeft
        quiet = first
        kind = .delete
        content = nil
        expires = nil
        notBefore = nil
        mode = .silent
        urgent = false
        isLeaving = false
        acceptedAt = nil
        repeats = 0
        isClosed = true
        isCleared = false
    }
}
