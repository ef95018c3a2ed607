import HushBase
import HushWorkers
import Testing

@testable import HushLoad

@Suite("Trials of a load test")
struct TrialsTests {
    private struct Broken: Error {}

    /// A trial at a rate, by a pipeline that keeps up with `capacity` items a second.
    private func trial(_ schedule: ArrivalSchedule, capacity: Double, seconds: Double) -> LoadResult {
        var result = LoadSamples.result()
        result.schedule = schedule
        result.unanswered = Double(schedule.count) / seconds > capacity ? 7 : 0
        return result
    }

    @Test("the highest rate is searched by trials of the length that was asked for; the report is the best one's")
    func findMax() throws {
        var rates: [Double] = []
        let found = RateTrials.findMax(from: 100, seconds: 20, [try Threshold("p99<1s")], isStopped: { false }) {
            #expect($0.duration == .seconds(20))
            rates.append(Double($0.count) / 20)
            return trial($0, capacity: 330, seconds: 20)
        }
        #expect(rates == [100, 200, 400, 300, 350, 325])
        #expect(found.highest == 325)
        #expect(found.best?.schedule.count == 6500)
        #expect(
            found.text == """
                rates tried:
                  ✓ 100 items a second
                  ✓ 200 items a second
                  ✗ 400 items a second
                  ✓ 300 items a second
                  ✗ 350 items a second
                  ✓ 325 items a second
                the highest rate that held: 325


                """)
    }

    @Test("a threshold that fails counts as a rate that does not hold; where none holds there is no report")
    func noneHolds() throws {
        let found = RateTrials.findMax(from: 4, seconds: 1, [try Threshold("p99<1ms")], isStopped: { false }) {
            trial($0, capacity: 1e9, seconds: 1)
        }
        #expect(found.best == nil && found.highest == nil)
        #expect(found.tried.map(\.rate) == [4, 2, 1])
        #expect(found.text.hasSuffix("the highest rate that held: none\n\n"))
    }

    @Test("a trial that was stopped says nothing of its rate, and one that fails ends the search")
    func stopped() throws {
        var trials = 0
        let found = RateTrials.findMax(from: 100, seconds: 1, [], isStopped: { trials == 2 }) {
            trials += 1
            var result = trial($0, capacity: 1e9, seconds: 1)
            result.isComplete = trials < 2
            return result
        }
        #expect(trials == 2 && found.tried.count == 1 && found.highest == 100)
        #expect(throws: Broken.self) {
            try RateTrials.findMax(from: 100, seconds: 1, [], isStopped: { false }) { _ in throw Broken() }
        }
    }

    @Test(
        "numbers of workers are read as they are written",
        arguments: [
            ("1,2,4", [1, 2, 4]), ("3", [3]), ("64", [64]), ("", nil), ("1,,2", nil), ("1,2,", nil), ("0", nil),
            ("65", nil), ("1,x", nil), ("-1", nil),
        ] as [(String, [Int]?)])
    func counts(text: String, counts: [Int]?) {
        #expect(LoadScale.counts(text) == counts)
    }

    @Test("a row for each number of workers: what was asked, what came, and what it cost; it holds if all do")
    func scale() throws {
        let thresholds = [try Threshold("p99<1s")]
        var table = LoadScale()
        #expect(table.holds)
        table.take(workers: 1, LoadSamples.result(), thresholds)
        #expect(table.holds)
        var slow = LoadSamples.result()
        slow.unanswered = 3
        table.take(workers: 2, slow, thresholds)
        #expect(!table.holds)
        table.take(workers: 16, nil, thresholds)
        let lines = table.text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(lines.count == 4)
        #expect(lines[1] == ["1", "10", "10", "50.3ms", "900ms", "100.0", "200.0", "0", "0"], "\(table.text)")
        #expect(lines[2].last == "3" && lines[2].first == "2")
        #expect(lines[3] == ["16", "none", "held"])
    }
}
