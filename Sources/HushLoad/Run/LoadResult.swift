import HushBase
public import HushSimulator
public import HushWorkers

/// What a trial measured.
public struct LoadResult: Sendable {
    public var schedule: ArrivalSchedule
    public var tracker: LoadTracker
    /// Notifications that APNs never accepted, and nobody dealt with.
    public var unanswered: Int
    /// Records that Kafka did not take.
    public var undelivered: Int
    /// Of the workers that the test started.
    public var cpu: WorkerProcesses.Usage?
    public var workers: Int?
    /// By how much the sender itself was late at worst; it is part of every latency.
    public var sentLate: Duration
    public var decisions: [String: Int]
    public var outcomes: [String: Int]
    /// All answers of the APNs that is simulated here, since it runs.
    public var answers: APNsService.Counts?
    /// Whether acceptance was seen at APNs itself, not by its line in the ledger.
    public var measuresAnswers: Bool
    /// Whether all items were sent; not where the run was stopped.
    public var isComplete: Bool

    /// Accepted notifications a second of the schedule.
    public var rate: Double { Double(tracker.accepted) / max(1e-9, schedule.duration.inSeconds) }

    /// A figure; nil where the run has none.
    public func value(_ figure: Figure) -> Double? {
        switch figure {
        case .latency(let way, let statistic):
            guard let histogram = tracker.histograms[way], histogram.count > 0 else { return nil }
            switch statistic {
            case .quantile(let quantile): return Double(histogram.nanos(atQuantile: quantile)) / 1e9
            case .mean: return histogram.meanNanos / 1e9
            case .max: return Double(histogram.maxNanos) / 1e9
            }
        case .unanswered: return Double(unanswered)
        case .lag: return Double(tracker.lagMax)
        case .rate: return rate
        }
    }

    /// The thresholds with the figures they were judged by.
    public func verdicts(_ thresholds: [Threshold]) -> [(threshold: Threshold, value: Double?, holds: Bool)] {
        thresholds.map { ($0, value($0.figure), $0.judge(value($0.figure))) }
    }

    /// Whether the pipeline kept up and every threshold holds.
    public func holds(_ thresholds: [Threshold]) -> Bool {
        isComplete && unanswered == 0 && undelivered == 0 && verdicts(thresholds).allSatisfy(\.holds)
    }

    /// Microseconds of CPU for each item, by stage.
    public func cpuMicros(_ stage: Stage) -> Double? {
        guard let seconds = cpu?.seconds[stage], tracker.sent > 0 else { return nil }
        return seconds * 1e6 / Double(tracker.sent)
    }
}
