import Foundation
import HushBase
import HushCore
import HushWorkers
import Testing

@testable import HushLoad

@Suite("What a load test measures")
struct MeasureTests {
    private static let start = MonotonicTime(nanos: 1_000_000_000)

    private func creates() -> LoadMix { LoadMix.createsOnly(LoadMix()) }

    /// A server that works one item at a time, a millisecond each, and stands still from second 4 to second 6.
    private func finish(_ begin: Duration) -> Duration {
        let stall = (Duration.seconds(4), Duration.seconds(6))
        let free = begin > stall.0 && begin < stall.1 ? stall.1 : begin
        return free + .milliseconds(1)
    }

    @Test("a stall of 2 s shows in p99, for latencies count from when items were meant to be sent")
    func coordinatedOmission() throws {
        let schedule = ArrivalSchedule(rate: 100, seconds: 10)
        var tracker = LoadTracker(schedule, warmUp: .zero, start: Self.start)
        // What a tool measures that waits for each answer before it sends the next, and counts from the sending.
        var closed = LatencyHistogram()
        var free = Duration.zero
        for index in 0..<schedule.count {
            tracker.sent(creates().item(index), index: index)
            let sent = max(schedule.time(of: index), free)
            free = finish(sent)
            closed.record(free - sent)
            tracker.accepted(create: index, at: Self.start + free)
        }
        #expect(tracker.finish(at: Self.start + .seconds(20)) == 0)
        let open = try #require(tracker.histograms[.accept])
        #expect(open.count == 1000)
        #expect(open.nanos(atQuantile: 0.99) > 1_700_000_000)
        #expect(open.nanos(atQuantile: 0.9) > 500_000_000)
        #expect(closed.nanos(atQuantile: 0.99) < 2_000_000)
    }

    @Test("the first accept of a notification counts, and what is never accepted counts as long as it waited")
    func accepts() throws {
        let schedule = ArrivalSchedule(rate: 1, seconds: 4)
        var tracker = LoadTracker(schedule, warmUp: .seconds(1), start: Self.start)
        for index in 0..<4 { tracker.sent(creates().item(index), index: index) }
        // Item 0 belongs to the warm-up.
        for (index, after) in [(0, 9), (1, 2), (1, 5), (2, 1)] {
            tracker.accepted(create: index, at: Self.start + schedule.time(of: index) + .seconds(after))
        }
        tracker.accepted(create: 77, at: Self.start)
        #expect(tracker.accepted == 3)
        #expect(tracker.finish(at: Self.start + .seconds(10)) == 1)
        let histogram = try #require(tracker.histograms[.accept])
        #expect(histogram.count == 3)
        #expect(histogram.minNanos == 1_000_000_000 && histogram.maxNanos == 7_000_000_000)
    }

    @Test("what was read before it was accepted is not missed, and its clear counts from the read")
    func clears() throws {
        let schedule = ArrivalSchedule(rate: 1, seconds: 3)
        var tracker = LoadTracker(schedule, warmUp: .zero, start: Self.start)
        tracker.sent(LoadItem(kind: .create, subject: 0, recipient: 0), index: 0)
        tracker.sent(LoadItem(kind: .create, subject: 1, recipient: 0), index: 1)
        tracker.sent(LoadItem(kind: .read, subject: 0, recipient: 0), index: 2)
        tracker.accepted(create: 1, at: Self.start + .seconds(2))
        tracker.accepted(clear: 0, at: Self.start + .milliseconds(2500))
        tracker.accepted(clear: 0, at: Self.start + .seconds(9))
        #expect(tracker.open == [])
        #expect(tracker.histograms[.clear]?.count == 1)
        #expect(tracker.histograms[.clear]?.maxNanos == 500_000_000)
    }

    @Test("each device of an audience is measured once, and those that got nothing are missed")
    func audiences() throws {
        let schedule = ArrivalSchedule(rate: 1, seconds: 2)
        var tracker = LoadTracker(schedule, warmUp: .zero, start: Self.start)
        tracker.sent(LoadItem(kind: .audience, subject: 0, recipient: 0), index: 0, devices: 3)
        tracker.sent(LoadItem(kind: .create, subject: 1, recipient: 0), index: 1)
        for number in 0..<2 { tracker.planned(number, isNew: number == 1, at: Self.start + .seconds(1)) }
        tracker.accepted(create: 1, device: 5, at: Self.start + .seconds(2))
        tracker.accepted(create: 0, device: 5, at: Self.start + .seconds(1))
        tracker.accepted(create: 0, device: 5, at: Self.start + .seconds(2))
        tracker.accepted(create: 0, device: 6, at: Self.start + .seconds(3))
        #expect(tracker.accepted == 1 && tracker.creates == 1)
        #expect(tracker.audienceDevices == 3 && tracker.audienceAccepted == 2)
        #expect(!tracker.isSettled)
        var whole = tracker
        whole.accepted(create: 0, device: 7, at: Self.start + .seconds(4))
        #expect(whole.isSettled && whole.finish(at: Self.start + .seconds(9)) == 0)
        #expect(tracker.finish(at: Self.start + .seconds(9)) == 1)
        let histogram = try #require(tracker.histograms[.audience])
        #expect(histogram.count == 3 && histogram.minNanos == 1_000_000_000)
        #expect(histogram.maxNanos == 9_000_000_000)
        #expect(try Threshold("audience.p99<5s").figure == .latency(.audience, .quantile(0.99)))
    }

    @Test("plan and delivery are measured by their lines, and lag is what has none")
    func lines() {
        let schedule = ArrivalSchedule(rate: 1, seconds: 3)
        var tracker = LoadTracker(schedule, warmUp: .zero, start: Self.start)
        for index in 0..<3 { tracker.sent(creates().item(index), index: index) }
        tracker.planned(1, isNew: true, at: Self.start + .milliseconds(1100))
        tracker.planned(nil, isNew: false, at: Self.start + .seconds(2))
        tracker.endSecond()
        #expect(tracker.lag == 1 && tracker.lagMax == 1)
        tracker.delivered(1, at: Self.start + .milliseconds(1400))
        tracker.delivered(2, at: Self.start + .milliseconds(1400))
        #expect(tracker.histograms[.plan]?.maxNanos == 100_000_000)
        #expect(tracker.histograms[.deliver]?.count == 1)
        #expect(tracker.histograms[.deliver]?.maxNanos == 300_000_000)
        #expect(tracker.seconds == [LoadTracker.Second(sent: 3, planned: 2, lag: 1, open: 3)])
    }

    @Test(
        "thresholds are read as they are written",
        arguments: [
            ("p99<1s", Figure.latency(.accept, .quantile(0.99)), Threshold.Comparison.less, 1.0),
            ("p99.9<=500ms", .latency(.accept, .quantile(99.9 / 100)), .atMost, 0.5),
            ("clear.max<2s", .latency(.clear, .max), .less, 2), ("plan.mean>1ms", .latency(.plan, .mean), .more, 0.001),
            ("unanswered<=0", .unanswered, .atMost, 0), ("rate>=2000", .rate, .atLeast, 2000),
            ("lag<1e4", .lag, .less, 10_000),
        ])
    func thresholds(text: String, figure: Figure, comparison: Threshold.Comparison, limit: Double) throws {
        let threshold = try Threshold(text)
        #expect(threshold.figure == figure)
        #expect(threshold.comparison == comparison && threshold.limit == limit)
        #expect(threshold.judge(limit) == (comparison == .atMost || comparison == .atLeast))
        #expect(!threshold.judge(nil))
    }

    @Test(
        "thresholds that cannot be are refused, with what to write",
        arguments: [
            "p99", "p99=1s", "p0<1s", "p101<1s", "q99<1s", "p99<x", "p99<", "lag<1s", "<1s", "plan<1s", "x.p99<1s",
        ])
    func badThresholds(text: String) {
        #expect(throws: LoadFault.self) { try Threshold(text) }
    }
}

/// A result whose figures are known.
enum LoadSamples {
    static func histogram() -> LatencyHistogram {
        var histogram = LatencyHistogram()
        var random = SplitMix64(seed: 5)
        for _ in 0..<50_000 {
            let draw = Double.random(in: 0.0001..<1, using: &random)
            histogram.record(nanos: Int64(2_000_000 / draw))
        }
        return histogram
    }

    static func result() -> LoadResult {
        let schedule = ArrivalSchedule(rate: 10, seconds: 3)
        let start = MonotonicTime(nanos: 0)
        let mix = LoadMix.createsOnly(LoadMix())
        var tracker = LoadTracker(schedule, warmUp: .zero, start: start)
        for index in 0..<30 {
            tracker.sent(mix.item(index), index: index)
            tracker.planned(index, isNew: true, at: start + schedule.time(of: index) + .milliseconds(20))
            tracker.accepted(
                create: index, at: start + schedule.time(of: index) + .milliseconds(index == 29 ? 900 : 50))
            tracker.delivered(index, at: start + schedule.time(of: index) + .milliseconds(80))
            if index % 10 == 9 { tracker.endSecond() }
        }
        var usage = WorkerProcesses.Usage()
        usage.seconds = [.plan: 0.003, .deliver: 0.006]
        return LoadResult(
            schedule: schedule, tracker: tracker, unanswered: 0, undelivered: 0, cpu: usage, workers: 1,
            sentLate: .milliseconds(2), decisions: ["planned": 30], outcomes: ["accepted": 30], answers: nil,
            measuresAnswers: true, isComplete: true)
    }
}
