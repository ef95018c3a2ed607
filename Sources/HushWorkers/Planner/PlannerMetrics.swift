import HushBase
import HushCore

/// The planner's counters; slots of one process share them.
struct PlannerMetrics {
    /// By `PlanDecision.rawValue`.
    private let decisions: [Counter]
    private let pushes: Counter
    private let metrics: Metrics

    init(_ metrics: Metrics) {
        self.metrics = metrics
        decisions = PlanDecision.allCases.map { decision in
            metrics.counter(
                "hush_plan_decisions_total", "Plan lines by their decisions.", [("decision", decision.name.text)])
        }
        pushes = metrics.counter("hush_planned_pushes_total", "Records written to hush.pushes.")
    }

    /// How many audiences a partition works off; of the task that has the partition.
    func jobs(of partition: Int32) -> Gauge {
        metrics.gauge(
            "hush_audience_jobs", "Audiences that a partition works off.", [("partition", "\(partition)")])
    }

    func count(_ tally: PlannerTally) {
        for (counter, count) in zip(decisions, tally.decisions) where count > 0 { counter.add(count) }
        if tally.pushes > 0 { pushes.add(tally.pushes) }
    }
}

/// What a task did in one transaction; it counts once that has committed.
struct PlannerTally {
    private(set) var decisions = [Int](repeating: 0, count: PlanDecision.allCases.count)
    var pushes = 0

    mutating func count(_ decision: PlanDecision) {
        decisions[Int(decision.rawValue)] += 1
    }

    mutating func removeAll() {
        for index in decisions.indices { decisions[index] = 0 }
        pushes = 0
    }
}
