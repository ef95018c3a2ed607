import Foundation
import HushBase
import Testing

@Suite struct MetricsTests {
    /// One of each kind.
    private func sample() -> Metrics {
        let metrics = Metrics()
        let inputs = "Records that were read and decided."
        metrics.counter("hush_inputs_total", inputs, [("stage", "plan")]).add(3)
        metrics.counter("hush_inputs_total", inputs, [("stage", "deliver")]).add()
        metrics.gauge("hush_state_bytes", "Bytes of state on disk.", [("dir", "a\\b\"c\n")]).set(1.5)
        let wait = metrics.histogram("hush_commit_seconds", "How long commits took.", bounds: [0.1, 0.25, 1])
        for millis in [100, 101, 2000] { wait.observe(.milliseconds(millis)) }
        return metrics
    }

    @Test("the text is Prometheus' format 0.0.4, bounds included and buckets cumulative")
    func rendering() {
        #expect(
            sample().render() == """
                # HELP hush_commit_seconds How long commits took.
                # TYPE hush_commit_seconds histogram
                hush_commit_seconds_bucket{le="0.1"} 1
                hush_commit_seconds_bucket{le="0.25"} 2
                hush_commit_seconds_bucket{le="1"} 2
                hush_commit_seconds_bucket{le="+Inf"} 3
                hush_commit_seconds_sum 2.201
                hush_commit_seconds_count 3
                # HELP hush_inputs_total Records that were read and decided.
                # TYPE hush_inputs_total counter
                hush_inputs_total{stage="deliver"} 1
                hush_inputs_total{stage="plan"} 3
                # HELP hush_state_bytes Bytes of state on disk.
                # TYPE hush_state_bytes gauge
                hush_state_bytes{dir="a\\\\b\\"c\\n"} 1.5

                """)
    }

    @Test("asked twice, the same handle counts on; a removed series is not rendered")
    func identity() {
        let metrics = Metrics()
        metrics.counter("hush_x_total", "X.", [("partition", "1")]).add()
        metrics.counter("hush_x_total", "X.", [("partition", "1")]).add()
        #expect(metrics.counter("hush_x_total", "X.", [("partition", "1")]).current == 2)
        metrics.remove("hush_x_total", [("partition", "1")])
        #expect(metrics.render().isEmpty)
    }

    @Test("adding from four threads loses nothing")
    func threads() throws {
        let metrics = Metrics()
        let counter = metrics.counter("hush_x_total", "X.")
        let histogram = metrics.histogram("hush_y_bytes", "Y.", bounds: [10])
        let threads = try (0..<4).map { _ in
            try NamedThread.start(name: "adder") {
                for _ in 0..<10_000 {
                    counter.add()
                    histogram.observe(2)
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(counter.current == 40_000)
        #expect(metrics.render().contains("hush_y_bytes_sum 80000\nhush_y_bytes_count 40000\n"))
    }

    @Test("promtool finds nothing to complain about", .enabled(if: promtool != nil, "needs promtool: scripts/setup"))
    func promtoolAgrees() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(promtool))
        process.arguments = ["check", "metrics"]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(sample().render().utf8))
        try input.fileHandleForWriting.close()
        let complaints = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(String(decoding: complaints, as: UTF8.self).isEmpty)
        #expect(process.terminationStatus == 0)
    }
}

private let promtool: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { "\($0)/promtool" }.first { FileManager.default.isExecutableFile(atPath: $0) }

@Suite struct LatencyHistogramTests {
    @Test(
        "a quantile is never below the exact one, and at most 1/64 above it",
        arguments: [0.0, 0.5, 0.9, 0.99, 0.999, 1.0])
    func quantiles(quantile: Double) {
        var generator = SeededGenerator(state: 7)
        let values = (0..<10_000).map { _ in Int64(exp(Double.random(in: 0...25, using: &generator))) }.sorted()
        var histogram = LatencyHistogram()
        for value in values { histogram.record(nanos: value) }
        let exact = values[max(0, Int((quantile * 10_000).rounded(.up)) - 1)]
        let read = histogram.nanos(atQuantile: quantile)
        #expect(read >= exact)
        #expect(Double(read) <= Double(exact) * (1 + 1.0 / 64))
    }

    @Test("small values, the largest and none are exact")
    func edges() {
        var histogram = LatencyHistogram()
        #expect(histogram.nanos(atQuantile: 0.5) == 0)
        for nanos: Int64 in 0..<128 { histogram.record(nanos: nanos) }
        #expect(histogram.nanos(atQuantile: 0.5) == 63)
        #expect(histogram.meanNanos == 63.5)
        histogram.record(nanos: .max)
        histogram.record(.seconds(-1))
        #expect(histogram.maxNanos == .max)
        #expect(histogram.nanos(atQuantile: 1) == .max)
        #expect(histogram.minNanos == 0)
    }

    @Test("counts up to a value, and the deviation, are those of the values")
    func countsAndDeviation() {
        var histogram = LatencyHistogram()
        #expect(histogram.count(through: 5) == 0 && histogram.deviationNanos == 0)
        for nanos: Int64 in [2, 4, 4, 4, 5, 5, 7, 9] { histogram.record(nanos: nanos) }
        #expect(histogram.count(through: 4) == 4)
        #expect(histogram.count(through: 9) == 8 && histogram.count(through: .max) == 8)
        #expect(histogram.deviationNanos == 2)
    }

    @Test("merging two is as recording all in one")
    func merging() {
        var (left, right, all) = (LatencyHistogram(), LatencyHistogram(), LatencyHistogram())
        for millis in 1...100 {
            all.record(.milliseconds(millis))
            if millis % 3 == 0 { left.record(.milliseconds(millis)) } else { right.record(.milliseconds(millis)) }
        }
        left.merge(right)
        left.merge(LatencyHistogram())
        #expect(left.count == 100)
        for quantile in [0.01, 0.5, 0.99] {
            #expect(left.nanos(atQuantile: quantile) == all.nanos(atQuantile: quantile))
        }
        #expect(left.minNanos == 1_000_000)
        #expect(left.maxNanos == 100_000_000)
    }
}

/// SplitMix64: the same numbers everywhere.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
