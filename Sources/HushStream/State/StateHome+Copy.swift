import Synchronization

/// Copies of states that slots are at work on.
extension StateHome {
    /// The stores below a folder that are open: those that hold whole commits and nothing else, and the others, which are
    /// being restored or between two slots.
    public struct Standing: Hashable, Sendable {
        /// Names, as `planner/3`, in order.
        public var settled: [String] = []
        public var unsettled: [String] = []
    }

    public func standing(below folder: String) -> Standing {
        let prefix = "\(directory)/"
        return registry.withLock { registry in
            var standing = Standing()
            for path in registry.open.sorted() where path.hasPrefix("\(prefix)\(folder)/") {
                let name = String(path.dropFirst(prefix.count))
                if registry.settled[path] == nil {
                    standing.unsettled.append(name)
                } else {
                    standing.settled.append(name)
                }
            }
            return standing
        }
    }

    /// Says that a store in use holds what its task committed, and all of it: from now on commits alone change it, each
    /// in one batch.
    func settled(_ store: StateStore) {
        let handover = Handover(store: store)
        registry.withLock { registry in
            guard let store = handover.store else { return }
            registry.settledCount += 1
            registry.settled[handover.path] = (store, registry.settledCount)
        }
    }

    /// Makes a copy of a settled store as of one of its commits, in a new directory on the same file system, while its
    /// slot works on. On any thread; it takes as long as a flush.
    /// - Throws: `StreamFault.state` where the partition is not settled, or left meanwhile, or the disk is full. What is
    /// in the directory then is no copy.
    public func copy(_ name: String, to path: String) throws(StreamFault) {
        let key = "\(directory)/\(name)"
        let (before, number) = registry.withLock { registry in
            (Handover(store: registry.settled[key]?.store), registry.settled[key]?.number)
        }
        guard let store = before.store else { throw .state("\(name) is not worked on here, or not whole yet") }
        try store.copy(to: path)
        guard registry.withLock({ $0.settled[key]?.number }) == number else {
            throw .state("\(name) left its slot meanwhile")
        }
    }
}
