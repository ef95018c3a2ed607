import HushBase
import HushWorkers

/// The trials of `--find-max`, and what came of them.
public struct RateTrials: Sendable {
    /// The last that held.
    public private(set) var best: LoadResult?
    public private(set) var tried: [(rate: Double, holds: Bool)] = []
    /// The highest rate that held.
    public private(set) var highest: Double?

    /// Searches the highest rate from `start` up; `run` makes one trial. One that was stopped says nothing.
    public static func findMax(
        from start: Double, seconds: Double, _ thresholds: [Threshold], isStopped: () -> Bool,
        run: (ArrivalSchedule) throws -> LoadResult
    ) rethrows -> RateTrials {
        var trials = RateTrials()
        var search = RateSearch(from: start)
        while let rate = search.next, !isStopped() {
            let result = try run(ArrivalSchedule(rate: rate, seconds: seconds))
            if isStopped() { break }
            let holds = result.holds(thresholds)
            if holds { trials.best = result }
            trials.tried.append((rate, holds))
            search.tried(held: holds)
        }
        trials.highest = search.good
        return trials
    }

    public var text: String {
        "rates tried:\n"
            + tried.map { "  \($0.holds ? "✓" : "✗") \(Int($0.rate)) items a second\n" }.joined()
            + "the highest rate that held: \(highest.map { "\(Int($0))" } ?? "none")\n\n"
    }
}

/// The table of `--scale`: a row for each number of workers.
public struct LoadScale: Sendable {
    private var rows: [[String]] = []
    /// Whether every row held.
    public private(set) var holds = true

    public init() {}

    /// The numbers of workers, as `1,2,4`; nil where the text is none.
    public static func counts(_ list: String) -> [Int]? {
        let parts = list.split(separator: ",", omittingEmptySubsequences: false)
        let counts = parts.compactMap { Int($0) }
        return counts.count == parts.count && counts.allSatisfy { (1...workersMax).contains($0) } ? counts : nil
    }

    /// Takes what so many workers gave; nil where no rate held.
    public mutating func take(workers: Int, _ result: LoadResult?, _ thresholds: [Threshold]) {
        guard let result, result.holds(thresholds) else {
            holds = false
            rows.append(result.map { Self.row($0, workers: workers) } ?? ["\(workers)", "none held"])
            return
        }
        rows.append(Self.row(result, workers: workers))
    }

    public var text: String {
        let head = [
            "workers", "items/s", "accepted/s", "p50", "p99", "plan µs/item", "deliver µs/item", "lag",
            "never accepted",
        ]
        return LoadReport.table([head] + rows)
    }

    private static func row(_ result: LoadResult, workers: Int) -> [String] {
        func time(_ figure: Figure) -> String { result.value(figure).map(seconds) ?? "-" }
        func micros(_ stage: Stage) -> String {
            result.cpuMicros(stage).map { HistogramText.fixed($0, 1) } ?? "-"
        }
        let rate = Double(result.schedule.count) / max(1e-9, result.schedule.duration.inSeconds)
        return [
            "\(workers)", HistogramText.fixed(rate, 0), HistogramText.fixed(result.rate, 0),
            time(.latency(.accept, .quantile(0.5))), time(.latency(.accept, .quantile(0.99))),
            micros(.plan), micros(.deliver), "\(result.tracker.lagMax)", "\(result.unanswered)",
        ]
    }

    /// Workers of each stage that a load test starts at most.
    public static let workersMax = 64
}
