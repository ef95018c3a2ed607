import HushCore

/// What an audit found.
public struct AuditReport: Hashable, Sendable {
    /// In the order of exit codes' weight.
    public enum Verdict: String, Hashable, Sendable {
        /// All was read, and all adds up.
        case proved
        /// Something is wrong.
        case violated
        /// Nothing is wrong with what could be read, and not all could.
        case unproved
    }

    public var counts: AuditCounts
    public var tasks: Int
    public var hours: [HourCounts]
    /// The first thousand, with their places.
    public var violations: [Violation]
    public var violationCounts: [ViolationCode: Int]
    public var doubts: [Doubt]
    /// Builds and digests of settings that the order lines name.
    public var builds: [String]
    /// What was read, in words.
    public var scope: [String] = []

    public var verdict: Verdict {
        if !violationCounts.isEmpty { return .violated }
        return doubts.isEmpty ? .proved : .unproved
    }

    public var total: HourCounts {
        var total = HourCounts(hour: nil, row: Array(repeating: 0, count: HourBook.columns))
        for hour in hours { total.add(hour) }
        return total
    }

    /// `2026-12-01 10:00` (UTC).
    public static func hourText(_ hour: Int64?) -> String {
        guard let hour else { return "all" }
        return String(Timestamp(millis: hour * 3_600_000).rfc3339.prefix(16)).replacing("T", with: " ")
    }
}
