import HushCore
import HushStream

/// When the tasks of a slot take slices of audiences: one a turn of the slot's loop at most, so that records are read
/// between any two; no more pushes a second than what is set; and none while too many pushes wait for deliverers.
final class SlicePace {
    /// What all slots together may do.
    struct Limits {
        /// Pushes a second.
        var rate: Int
        /// Pushes that may wait for deliverers.
        var waitingMax: Int
    }

    private let limits: Limits
    private let backlog: @Sendable () -> GroupLagWatch.Reading?
    private let now: @Sendable () -> Timestamp
    private var isFree = true
    /// By partition, until when its last slice lasts at the rate.
    private var restUntil: [Int32: Timestamp] = [:]
    /// Partitions that found the turn taken, or no room, which come next: the loop asks its tasks in one order always.
    private var waiting: [Int32] = []
    /// Pushes that may be planned until the backlog is known anew; nil while it is not known.
    private var room: Int?
    /// The number of the backlog that `room` comes of.
    private var seen: Int?
    /// The partitions of this slot, of how many.
    private var share = (mine: 1, all: 1)

    /// Between two slices of a task, whatever they planned: a walk that finds few must not fill the thread.
    static let restMinMillis: Int64 = 20
    /// When a task that found no room asks again.
    static let crowdedRestMillis: Int64 = 50

    init(
        _ limits: Limits, backlog: @escaping @Sendable () -> GroupLagWatch.Reading? = { nil },
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.limits = limits
        self.backlog = backlog
        self.now = now
    }

    private var isCrowded: Bool { room.map { $0 <= 0 } ?? false }

    /// A new turn of the loop has begun, of a slot with so many of all partitions.
    func turn(mine: Int = 1, of all: Int = 1) {
        share = (mine, all)
        // Nobody took the last one: who waits has no work left, or has gone.
        if isFree, !isCrowded { waiting.removeAll() }
        isFree = true
    }

    /// Whether a partition may take a slice in this turn; then no other may.
    func take(_ partition: Int32) -> Bool {
        lookForRoom()
        guard isFree, !isCrowded, (waiting.first ?? partition) == partition else {
            if !waiting.contains(partition) { waiting.append(partition) }
            return false
        }
        if !waiting.isEmpty { waiting.removeFirst() }
        isFree = false
        return true
    }

    /// Asks for a slice as soon as there is a turn and room for it, and the one before is within the rate.
    func begin(_ partition: Int32, _ context: TaskContext) {
        let soon = isCrowded ? now().adding(millis: Self.crowdedRestMillis) : now()
        context.wake(atMillis: max(soon, restUntil[partition] ?? .distantPast).millis)
    }

    /// A slice was taken that planned so many pushes and cost as much as `cost` of them: the next one comes once that is
    /// within the rate. Each partition has an equal share of it.
    func rest(_ partition: Int32, cost: Int, pushes: Int, _ context: TaskContext) {
        if let room { self.room = room - pushes }
        let share = Int64(context.partitionCount(PlannerConfiguration.Output.fanout.rawValue))
        let millis = Int64(cost) * 1000 * share / Int64(max(limits.rate, 1))
        restUntil[partition] = now().adding(millis: max(millis, Self.restMinMillis))
    }

    /// What may be planned until the next answer is this slot's share of what may still wait.
    private func lookForRoom() {
        let known = backlog()
        if let known, known.number == seen { return }
        seen = known?.number
        room = known.map { known in
            let free = max(0, Int64(limits.waitingMax) - known.count)
            return (Int(free) * share.mine + share.all - 1) / share.all
        }
    }
}
