import HushBase
public import HushCore

/// A fleet's outcome in words and as JSON.
public struct FleetReport: Sendable {
    private let outcomes: [FleetOutcome]

    /// One outcome, or those of several ways to compare.
    public init(_ outcomes: [FleetOutcome]) {
        self.outcomes = outcomes
    }

    /// What went wrong and how often, then what came of it.
    public var text: String {
        var text = ""
        if let first = outcomes.first { text += faults(of: first) }
        text += table
        for outcome in outcomes where outcome.options.way == .hush { text += verdict(outcome) }
        return text
    }

    private func faults(of outcome: FleetOutcome) -> String {
        let width = FleetFault.allCases.map(\.name.count).max() ?? 0
        return "what went wrong (\(outcome.options.way.rawValue)):\n"
            + FleetFault.allCases.map { fault in
                let count = outcome.counts[fault]
                return "  " + Self.padded(fault.name, width) + Self.padded("\(count)", 12, isRight: true)
                    + share(count, of: outcome.counts.whole(of: fault), fault) + "\n"
            }.joined()
    }

    private func share(_ count: Int, of whole: Int, _ fault: FleetFault) -> String {
        if fault.whole == .fleets { return "  \(Self.decimal(Double(count) / Double(max(whole, 1)), 1)) a fleet" }
        return "  \(Self.decimal(Double(count) * 100 / Double(max(whole, 1)), 3)) % of \(fault.whole.rawValue)"
    }

    private var table: String {
        let rows = outcomes.first.map { figures($0).map(\.words) } ?? []
        let columns = outcomes.map { outcome in figures(outcome).map(\.value) }
        let width = rows.map(\.count).max() ?? 0
        var text = "\n" + Self.padded("", width)
        for outcome in outcomes { text += Self.padded(outcome.options.way.rawValue, 14, isRight: true) }
        text += "\n"
        for (index, words) in rows.enumerated() {
            text += Self.padded(words, width)
            for column in columns { text += Self.padded(column[index], 14, isRight: true) }
            text += "\n"
        }
        return text
    }

    private func verdict(_ outcome: FleetOutcome) -> String {
        let screens = "\(outcome.counts.screensRight) of \(outcome.counts.phones) screens"
        let never = FleetFault.allCases.filter { outcome.counts[$0] == 0 }.map(\.name)
        let missed = never.isEmpty ? "" : "never happened here: " + never.joined(separator: ", ") + "\n"
        if outcome.isGood {
            return missed + "right: \(screens) show exactly what they must, and nothing happened that must not\n"
        }
        return missed + "wrong: \(outcome.violationCount) violations, \(screens) right\n"
    }

    private func figures(_ outcome: FleetOutcome) -> [(name: Bytes, words: String, value: String)] {
        let counts = outcome.counts
        let hours = Double(counts.phones * outcome.options.hours)
        func minutes(_ millis: Int64) -> String { Self.decimal(Double(millis) / 60_000, 1) }
        func seconds(_ histogram: LatencyHistogram, _ quantile: Double) -> String {
            Self.decimal(Double(histogram.nanos(atQuantile: quantile)) / 1_000_000_000, 1)
        }
        return [
            ("phones", "phones", "\(counts.phones)"),
            ("intents", "intents", "\(counts.intents)"),
            (
                "intents_per_phone_day", "intents a phone and day",
                Self.decimal(Double(counts.intents) * 24 / max(hours, 1), 1)
            ),
            ("reads", "reads", "\(counts.reads)"),
            ("screens_right", "screens right at the end", "\(counts.screensRight)"),
            ("pushes", "pushes that APNs took", "\(counts.pushes)"),
            ("alerts", "of them alerts", "\(counts.alerts)"),
            ("wakeups", "wake-ups", "\(counts.wakeUps)"),
            (
                "wakeups_per_device_hour", "wake-ups a device and hour",
                Self.decimal(Double(counts.wakeUps) / max(hours, 1), 3)
            ),
            ("due", "notifications due at the end", "\(counts.due)"),
            ("creates_lost", "creates lost", "\(counts.createsLost)"),
            ("missing_minutes", "missing notification-minutes", minutes(counts.missingMillis)),
            ("wrong_minutes", "wrong-screen minutes", minutes(counts.wrongMillis)),
            ("reachable_minutes", "minutes in which phones could be reached", minutes(counts.reachableMillis)),
            ("create_p50_s", "create delay p50, s", seconds(counts.createDelays, 0.5)),
            ("create_p99_s", "create delay p99, s", seconds(counts.createDelays, 0.99)),
            ("read_to_clear_p50_s", "read to clear p50, s", seconds(counts.deleteDelays, 0.5)),
            ("read_to_clear_p99_s", "read to clear p99, s", seconds(counts.deleteDelays, 0.99)),
        ]
    }

    /// One JSON object, without a newline.
    public var json: Bytes {
        var json = JSONWriter()
        json.raw("{\"ways\":[")
        for (index, outcome) in outcomes.enumerated() {
            if index > 0 { json.byte(UInt8(ascii: ",")) }
            write(outcome, into: &json)
        }
        json.raw("]}")
        return Bytes(json.bytes)
    }

    private func write(_ outcome: FleetOutcome, into json: inout JSONWriter) {
        json.raw("{\"way\":")
        json.string(Bytes(outcome.options.way.rawValue))
        json.raw(",\"seeds\":[")
        json.integer(Int64(clamping: outcome.seeds.lowerBound))
        json.byte(UInt8(ascii: ","))
        json.integer(Int64(clamping: outcome.seeds.upperBound))
        json.byte(UInt8(ascii: "]"))
        for figure in figures(outcome) {
            json.byte(UInt8(ascii: ","))
            json.string(figure.name)
            json.byte(UInt8(ascii: ":"))
            json.raw(Array(figure.value.utf8))
        }
        json.raw(",\"violations\":")
        json.integer(Int64(outcome.violationCount))
        json.raw(",\"faults\":{")
        for (index, fault) in FleetFault.allCases.enumerated() {
            if index > 0 { json.byte(UInt8(ascii: ",")) }
            json.string(Bytes(fault.name))
            json.byte(UInt8(ascii: ":"))
            json.byte(UInt8(ascii: "["))
            json.integer(Int64(outcome.counts[fault]))
            json.byte(UInt8(ascii: ","))
            json.integer(Int64(outcome.counts.whole(of: fault)))
            json.raw(",\"")
            json.raw(Array(fault.whole.rawValue.utf8))
            json.raw("\"]")
        }
        json.raw("}}")
    }

    private static func padded(_ text: String, _ width: Int, isRight: Bool = false) -> String {
        let space = String(repeating: " ", count: max(0, width - text.count))
        return isRight ? space + text : text + space
    }

    /// A number of zero or more with so many digits behind its point.
    static func decimal(_ number: Double, _ places: Int) -> String {
        var scale: Int64 = 1
        for _ in 0..<places { scale *= 10 }
        let scaled = Int64((number * Double(scale)).rounded())
        let fraction = "\(scaled % scale)"
        return "\(scaled / scale)." + String(repeating: "0", count: max(0, places - fraction.count)) + fraction
    }
}
