import Synchronization

/// A bounded queue from many threads to one, moved in batches: one lock a batch, and one wake-up where it was empty.
///
/// A sender is told when it is full, and keeps what did not fit: that is how a slow reader slows its writers.
public final class Mailbox<Element: Sendable>: Sendable {
    public let capacity: Int
    private let wakeUp: WakeUp
    private let queue = Mutex<[Element]>([])

    /// The wake-up is the reader's, and several mailboxes may share it.
    public init(capacity: Int, wakeUp: WakeUp) {
        self.capacity = capacity
        self.wakeUp = wakeUp
        queue.withLock { $0.reserveCapacity(min(capacity, 1024)) }
    }

    public var count: Int { queue.withLock { $0.count } }

    /// Puts one element in; false where it is full.
    public func offer(_ element: Element) -> Bool {
        let (taken, wasEmpty) = queue.withLock { queue in
            guard queue.count < capacity else { return (false, false) }
            queue.append(element)
            return (true, queue.count == 1)
        }
        if wasEmpty { wakeUp.signal() }
        return taken
    }

    /// Moves the first elements of `batch` in, as many as fit, in order; returns how many. The rest stay in `batch`.
    @discardableResult
    public func offer(from batch: inout [Element]) -> Int {
        if batch.isEmpty { return 0 }
        let (moved, wasEmpty) = queue.withLock { queue in
            let moved = min(batch.count, capacity - queue.count)
            let wasEmpty = queue.isEmpty
            queue.append(contentsOf: batch.prefix(moved))
            return (moved, wasEmpty && moved > 0)
        }
        if wasEmpty { wakeUp.signal() }
        if moved == batch.count {
            batch.removeAll(keepingCapacity: true)
        } else {
            batch.removeFirst(moved)
        }
        return moved
    }

    /// Takes everything, in order, into `batch`, whose own elements are dropped and whose room is used again.
    ///
    /// Clear the `WakeUp` before, not after.
    public func takeAll(into batch: inout [Element]) {
        batch.removeAll(keepingCapacity: true)
        queue.withLock { swap(&$0, &batch) }
    }
}
