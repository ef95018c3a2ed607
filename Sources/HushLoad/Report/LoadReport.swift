import HushBase
public import HushCore
import HushSimulator
import HushWorkers

/// A load test's report: what was asked, what came, and whether it holds.
public struct LoadReport: Sendable {
    public var title: String
    public var result: LoadResult
    public var thresholds: [Threshold]

    public init(title: String, result: LoadResult, thresholds: [Threshold]) {
        self.title = title
        self.result = result
        self.thresholds = thresholds
    }

    static let quantiles: [(name: String, quantile: Double)] = [
        ("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999),
    ]

    static func name(_ way: Figure.Way) -> String {
        switch way {
        case .accept: "intent to APNs' accept"
        case .clear: "read or retract to accept"
        case .plan: "intent to plan line"
        case .deliver: "plan line to outcome line"
        case .audience: "audience to accept, each device"
        }
    }

    /// For a terminal.
    public var text: String {
        var text = thresholdText
        let tracker = result.tracker
        text += "\(title)\n\n"
        text += "sent        \(tracker.sent) items (\(kinds)) in \(seconds(result.schedule.duration.inSeconds))"
        text += ", at worst \(seconds(result.sentLate.inSeconds)) late\n"
        text += "accepted    \(tracker.accepted) of \(tracker.creates) notifications, "
        text += "\(HistogramText.fixed(result.rate, 0)) a second; \(result.unanswered) never\n"
        if tracker.audienceDevices > 0 {
            text += "audiences   \(tracker.audienceAccepted) of \(tracker.audienceDevices) devices\n"
        }
        if result.undelivered > 0 { text += "kafka       did not take \(result.undelivered) records\n" }
        text += "lag         at most \(tracker.lagMax) items sent and not planned\n"
        text += "decisions   \(Self.list(result.decisions))\n"
        text += "outcomes    \(Self.list(result.outcomes))\n"
        if let answers = result.answers {
            let refused = answers.rejected.map { ("\($0.key)", $0.value) }
            text += "answers     \(answers.accepted) pushes accepted, \(answers.unanswered) unanswered"
            text += refused.isEmpty ? "\n" : ", \(Self.list(Dictionary(refused) { $0 + $1 }))\n"
        }
        for stage in Stage.allCases {
            if let micros = result.cpuMicros(stage), micros > 0 {
                text += "cpu         \(stage.rawValue): \(HistogramText.fixed(micros, 1)) µs an item\n"
            }
        }
        return text + "\n" + latencyTable
    }

    private var kinds: String {
        Self.list(Dictionary(result.tracker.kinds.map { ("\($0.key)", $0.value) }) { $0 + $1 })
    }

    private var thresholdText: String {
        let verdicts = result.verdicts(thresholds)
        if verdicts.isEmpty { return "" }
        var text = "THRESHOLDS\n"
        for (threshold, value, holds) in verdicts {
            let figure =
                value.map { threshold.figure.isTime ? seconds($0) : HistogramText.fixed($0, 0) } ?? "not measured"
            text += "  \(holds ? "✓" : "✗") \(threshold)  \(figure)\n"
        }
        return text + "\n"
    }

    private var latencyTable: String {
        var rows = [["latency"] + Self.quantiles.map(\.name) + ["max", "mean", "count"]]
        for way in Figure.Way.allCases {
            guard let histogram = result.tracker.histograms[way], histogram.count > 0 else { continue }
            let nanos =
                Self.quantiles.map { histogram.nanos(atQuantile: $0.quantile) }
                + [histogram.maxNanos, Int64(histogram.meanNanos)]
            rows.append([Self.name(way)] + nanos.map { seconds(Double($0) / 1e9) } + ["\(histogram.count)"])
        }
        return Self.table(rows) + "measured from when each was meant to be sent"
            + (result.measuresAnswers ? "\n" : "; acceptance by its line in the ledger\n")
    }

    static func table(_ rows: [[String]]) -> String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                let gap = String(repeating: " ", count: max(0, widths[column] - cell.count))
                return column == 0 ? cell + gap : gap + cell
            }
            return cells.joined(separator: "  ") + "\n"
        }.joined()
    }

    static func list(_ counts: [String: Int]) -> String {
        counts.isEmpty
            ? "none" : counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
}

/// A time for people: microseconds below a millisecond, seconds above one.
func seconds(_ value: Double) -> String {
    if value < 0.001 { return "\(HistogramText.fixed(value * 1e6, 0))µs" }
    if value < 1 { return "\(HistogramText.fixed(value * 1e3, value < 0.1 ? 1 : 0))ms" }
    return "\(HistogramText.fixed(value, 2))s"
}

extension LoadReport {
    /// One JSON object, for programs: times in seconds.
    public var json: Bytes {
        var json = JSONWriter(reserving: 8192)
        json.raw("{\"title\":")
        json.string(Bytes(title))
        json.raw(",\"holds\":")
        json.boolean(result.holds(thresholds))
        json.raw(",\"thresholds\":[")
        for (index, verdict) in result.verdicts(thresholds).enumerated() {
            json.raw(index == 0 ? "{\"threshold\":" : ",{\"threshold\":")
            json.string(Bytes("\(verdict.threshold)"))
            json.raw(",\"value\":")
            json.number(verdict.value)
            json.raw(",\"holds\":")
            json.boolean(verdict.holds)
            json.raw("}")
        }
        json.raw("],\"sent\":")
        json.integer(result.tracker.sent)
        for (name, number) in numbers {
            json.raw(",")
            json.string(Bytes(name))
            json.raw(":")
            json.number(number)
        }
        json.counts("kinds", Dictionary(result.tracker.kinds.map { ("\($0.key)", $0.value) }) { $0 + $1 })
        json.counts("decisions", result.decisions)
        json.counts("outcomes", result.outcomes)
        latencies(&json)
        series(&json)
        json.raw("}")
        return Bytes(json.bytes)
    }

    private var numbers: [(String, Double?)] {
        [
            ("duration", result.schedule.duration.inSeconds), ("notifications", Double(result.tracker.creates)),
            ("accepted", Double(result.tracker.accepted)), ("accepted_per_second", result.rate),
            ("audience_devices", Double(result.tracker.audienceDevices)),
            ("audience_accepted", Double(result.tracker.audienceAccepted)),
            ("unanswered", Double(result.unanswered)), ("undelivered", Double(result.undelivered)),
            ("lag_max", Double(result.tracker.lagMax)), ("sent_late", result.sentLate.inSeconds),
            ("workers", result.workers.map(Double.init)), ("cpu_micros_plan", result.cpuMicros(.plan)),
            ("cpu_micros_deliver", result.cpuMicros(.deliver)),
        ]
    }

    private func latencies(_ json: inout JSONWriter) {
        json.raw(",\"latency\":{")
        var isFirst = true
        for way in Figure.Way.allCases {
            guard let histogram = result.tracker.histograms[way], histogram.count > 0 else { continue }
            if !isFirst { json.raw(",") }
            isFirst = false
            json.string(Bytes(way.rawValue))
            json.raw(":{\"count\":")
            json.integer(histogram.count)
            for (name, quantile) in Self.quantiles {
                json.raw(",")
                json.string(Bytes(name))
                json.raw(":")
                json.number(Double(histogram.nanos(atQuantile: quantile)) / 1e9)
            }
            json.raw(",\"max\":")
            json.number(Double(histogram.maxNanos) / 1e9)
            json.raw(",\"mean\":")
            json.number(histogram.meanNanos / 1e9)
            json.raw("}")
        }
        json.raw("}")
    }

    private func series(_ json: inout JSONWriter) {
        json.raw(",\"seconds\":[")
        for (index, second) in result.tracker.seconds.enumerated() {
            json.raw(index == 0 ? "{\"sent\":" : ",{\"sent\":")
            json.integer(second.sent)
            json.raw(",\"planned\":")
            json.integer(second.planned)
            json.raw(",\"accepted\":")
            json.integer(second.accepted)
            json.raw(",\"lag\":")
            json.integer(second.lag)
            json.raw(",\"open\":")
            json.integer(second.open)
            json.raw(",\"p50\":")
            json.number(Double(second.p50) / 1e9)
            json.raw(",\"p99\":")
            json.number(Double(second.p99) / 1e9)
            json.raw("}")
        }
        json.raw("]")
    }
}

extension JSONWriter {
    /// Nanoseconds' precision is enough for all that is told here.
    mutating func number(_ value: Double?) {
        guard let value, value.isFinite else { return raw("null") }
        raw(Array(HistogramText.fixed(value, value == value.rounded() ? 0 : 9).utf8))
    }

    mutating func counts(_ name: String, _ counts: [String: Int]) {
        raw(",")
        string(Bytes(name))
        raw(":{")
        for (index, (key, count)) in counts.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { raw(",") }
            string(Bytes(key))
            raw(":")
            integer(count)
        }
        raw("}")
    }
}

extension LoadReport {
    /// The one line that a terminal shows while a test runs.
    public static func status(_ progress: LoadRun.Progress) -> String {
        let elapsed = Int(progress.elapsed.inSeconds.rounded())
        let second = progress.second
        return "\(elapsed) of \(Int(progress.duration.inSeconds.rounded())) s, \(second.sent)/s sent, "
            + "\(second.accepted)/s accepted, p99 \(seconds(Double(second.p99) / 1e9)), lag \(second.lag), "
            + "open \(second.open)"
    }
}
