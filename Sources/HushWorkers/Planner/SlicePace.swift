import HushCore
import HushStream

/// When the tasks of a slot take slices of audiences: one a turn of the slot's loop at most, so that records are read
/// between any two, and no more pushes a second than what is set.
final class SlicePace {
    /// Pushes a second of all partitions together.
    private let rate: Int
    private let now: @Sendable () -> Timestamp
    private var isFree = true
    /// By partition, until when its last slice lasts at the rate.
    private var restUntil: [Int32: Timestamp] = [:]
    /// Partitions that found the turn taken, which come next: the loop asks its tasks in one order always.
    private var waiting: [Int32] = []

    /// Between two slices of a task, whatever they planned: a walk that finds few must not fill the thread.
    static let restMinMillis: Int64 = 20

    init(rate: Int, now: @escaping @Sendable () -> Timestamp) {
        self.rate = max(rate, 1)
        self.now = now
    }

    /// A new turn of the loop has begun.
    func turn() {
        // Nobody took the last one: who waits has no work left, or has gone.
        if isFree { waiting.removeAll() }
        isFree = true
    }

    /// Whether a partition may take a slice in this turn; then no other may.
    func take(_ partition: Int32) -> Bool {
        guard isFree, (waiting.first ?? partition) == partition else {
            if !waiting.contains(partition) { waiting.append(partition) }
            return false
        }
        if !waiting.isEmpty { waiting.removeFirst() }
        isFree = false
        return true
    }

    /// Asks for a slice as soon as there is a turn for it, and the one before is within the rate.
    func begin(_ partition: Int32, _ context: TaskContext) {
        context.wake(atMillis: max(now(), restUntil[partition] ?? .distantPast).millis)
    }

    /// A slice of so many pushes was taken: the next one comes once they are within the rate. Each partition has an
    /// equal share of it.
    func rest(_ partition: Int32, _ count: Int, _ context: TaskContext) {
        let share = Int64(context.partitionCount(PlannerConfiguration.Output.fanout.rawValue))
        let millis = Int64(count) * 1000 * share / Int64(rate)
        restUntil[partition] = now().adding(millis: max(millis, Self.restMinMillis))
    }
}
