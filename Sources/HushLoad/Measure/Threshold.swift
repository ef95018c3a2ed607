import HushBase

/// What a run must hold, as `p99<1s` or `unanswered<=0`.
public struct Threshold: Hashable, Sendable, CustomStringConvertible {
    public enum Comparison: String, Hashable, Sendable, CaseIterable {
        case less = "<"
        case atMost = "<="
        case more = ">"
        case atLeast = ">="

        func holds(_ left: Double, _ right: Double) -> Bool {
            switch self {
            case .less: left < right
            case .atMost: left <= right
            case .more: left > right
            case .atLeast: left >= right
            }
        }
    }

    public var figure: Figure
    public var comparison: Comparison
    /// Seconds where the figure is a time.
    public var limit: Double
    /// As it was written.
    public var description: String

    /// Reads one.
    public init(_ text: String) throws(LoadFault) {
        let signs = text.drop { !"<>".contains($0) }
        let sign = signs.dropFirst().first == "=" ? String(signs.prefix(2)) : String(signs.prefix(1))
        guard let comparison = Comparison(rawValue: sign) else {
            throw LoadFault("threshold \(text): write a figure, < or >, and a limit, as p99<1s")
        }
        let name = text.prefix { !"<>".contains($0) }
        let value = String(signs.dropFirst(sign.count))
        figure = try Figure(String(name))
        if figure.isTime {
            guard let limit = try? SettingText.duration(value) else {
                throw LoadFault("threshold \(text): \(value) is no duration, as 500ms or 2s")
            }
            self.limit = limit.inSeconds
        } else {
            guard let limit = Double(value), limit.isFinite else {
                throw LoadFault("threshold \(text): \(value) is no number")
            }
            self.limit = limit
        }
        self.comparison = comparison
        description = text
    }

    /// Whether it holds, and the figure; nil where the run has no such figure, which does not hold.
    public func judge(_ value: Double?) -> Bool {
        value.map { comparison.holds($0, limit) } ?? false
    }
}

/// A figure of a run by its name: a statistic of one of the latencies, or a number.
public enum Figure: Hashable, Sendable {
    /// Which way's latency.
    public enum Way: String, Hashable, Sendable, CaseIterable {
        /// From when a notification was meant to be sent until APNs accepted it.
        case accept
        /// From when a read or retract was meant to be sent until APNs accepted the clear.
        case clear
        /// From when a notification was meant to be sent until its plan line stood in the ledger.
        case plan
        /// From the plan line to the outcome line.
        case deliver
        /// From when a notification for an audience was meant to be sent until APNs accepted it, for each of its devices.
        case audience
    }

    public enum Statistic: Hashable, Sendable {
        case quantile(Double)
        case mean
        case max
    }

    case latency(Way, Statistic)
    /// Notifications that were never accepted; of an audience each device counts.
    case unanswered
    /// The most items that were sent and not yet planned.
    case lag
    /// Accepted notifications a second.
    case rate

    var isTime: Bool {
        if case .latency = self { true } else { false }
    }

    /// As `p99`, `clear.p50`, `plan.max`, `lag`.
    public init(_ name: String) throws(LoadFault) {
        let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if let way = Way(rawValue: parts[0]), parts.count == 2, let statistic = Self.statistic(parts[1]) {
            self = .latency(way, statistic)
        } else if let statistic = Self.statistic(name) {
            self = .latency(.accept, statistic)
        } else {
            switch name {
            case "unanswered": self = .unanswered
            case "lag": self = .lag
            case "rate": self = .rate
            default:
                throw LoadFault(
                    "there is no figure \(name): take pNN, mean or max, of accept (the default), clear, plan, deliver or audience, "
                        + "as clear.p99; or unanswered, lag, rate")
            }
        }
    }

    private static func statistic(_ name: String) -> Statistic? {
        switch name {
        case "mean": return .mean
        case "max": return .max
        default:
            guard name.hasPrefix("p"), let percent = Double(name.dropFirst()), percent > 0, percent <= 100 else {
                return nil
            }
            return .quantile(percent / 100)
        }
    }
}
