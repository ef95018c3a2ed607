import HushAPNs
import HushBase
import HushStream

/// What the process tells of its slots: read from their status every so often, so that no hot path counts.
final class WorkerMetrics {
    private let partitions: Gauge
    private let restoring: Gauge
    private let lag: Gauge
    private let commitDuration: Gauge
    private let inFlight: Gauge
    private let stalled: Gauge
    private let restarts: Counter
    private let totals: [(counter: Counter, value: (SlotStatus) -> Int64)]
    /// What a slot had counted when it was last looked at.
    private var seen: [Int64]
    private var seenRestarts = 0

    init(_ metrics: Metrics, slot: String, stage: Stage) {
        let labels = [("slot", slot), ("stage", stage.rawValue)]
        partitions = metrics.gauge("hush_slot_partitions", "Partitions that the slot works on.", labels)
        restoring = metrics.gauge("hush_slot_restoring_partitions", "Partitions whose state is being restored.", labels)
        lag = metrics.gauge("hush_consumer_lag_records", "Records of the slot's partitions not read yet.", labels)
        commitDuration = metrics.gauge(
            "hush_last_commit_duration_seconds", "How long the last commit of a transaction took.", labels)
        inFlight = metrics.gauge("hush_pushes_in_flight", "Pushes handed to the APNs client and unanswered.", labels)
        stalled = metrics.gauge(
            "hush_slot_stalled_inputs", "Inputs of partitions of which nothing is taken, though there is something.",
            labels)
        restarts = metrics.counter("hush_slot_restarts_total", "Slots started again after a fault.", labels)
        totals = [
            (metrics.counter("hush_records_read_total", "Records read and committed.", labels), { $0.recordsIn }),
            (
                metrics.counter("hush_records_written_total", "Records written and committed.", labels),
                { $0.recordsOut }
            ),
            (metrics.counter("hush_transactions_total", "Transactions committed.", labels), { $0.transactions }),
            (metrics.counter("hush_transaction_aborts_total", "Transactions aborted.", labels), { $0.aborts }),
            (metrics.counter("hush_rebalances_total", "Assignments and revocations.", labels), { $0.rebalances }),
            (
                metrics.counter(
                    "hush_producers_replaced_total", "Producers replaced after doubtful commits or repeated aborts.",
                    labels),
                { $0.producersReplaced }
            ),
        ]
        seen = Array(repeating: 0, count: totals.count)
    }

    /// `stalls` is the number of inputs that stand.
    func update(_ keeper: SlotKeeper, stalls: Int) {
        let status = keeper.slot.status
        partitions.set(status.partitions.count)
        restoring.set(status.restoring)
        lag.set(status.lag)
        commitDuration.set(status.lastCommitDuration)
        inFlight.set(keeper.slot.inFlight)
        stalled.set(stalls)
        if keeper.restarts != seenRestarts {
            restarts.add(keeper.restarts - seenRestarts)
            seenRestarts = keeper.restarts
            seen = Array(repeating: 0, count: totals.count)
        }
        for (index, total) in totals.enumerated() {
            let value = total.value(status)
            if value > seen[index] { total.counter.add(Int(value - seen[index])) }
            seen[index] = value
        }
    }
}
