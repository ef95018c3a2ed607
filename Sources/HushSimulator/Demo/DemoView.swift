import HushBase
import HushCore

/// The words of a demo under way and of its end.
public struct DemoView: Sendable {
    private let isLive: Bool
    private let isColored: Bool
    private var linesShown = 0
    private var lastPlain: Duration = .seconds(-10)

    /// `isLive` redraws in place, for a terminal; else a plain line appears every two seconds.
    public init(isLive: Bool, isColored: Bool) {
        self.isLive = isLive
        self.isColored = isColored
    }

    /// What comes first.
    public static func opening(_ options: DemoOptions, phones: Int) -> String {
        let broker =
            options.bootstrap.map { "Kafka at \($0)" }
            ?? "embedded broker (librdkafka's mock cluster: no exactly-once; --bootstrap HOST:PORT takes a real Kafka)"
        return """
            hush demo, seed \(options.workload.seed): \(options.workload.intents) intents to \
            \(options.workload.recipients) recipients with \(phones) phones
            \(broker); APNs and phones are simulated

            """
    }

    /// What to write for this state; empty where nothing is due.
    public mutating func frame(_ progress: Demo.Progress) -> String {
        isLive ? liveFrame(progress) : plainLine(progress)
    }

    private mutating func liveFrame(_ progress: Demo.Progress) -> String {
        let lines = Self.lines(progress).map { name, text in "  \(bold(Self.padded(name, 10)))\(text)" }
        let back = linesShown == 0 ? "" : "\u{1b}[\(linesShown)A"
        linesShown = lines.count
        return back + lines.map { "\u{1b}[2K\($0)\n" }.joined()
    }

    private mutating func plainLine(_ progress: Demo.Progress) -> String {
        guard progress.elapsed - lastPlain >= .seconds(2) else { return "" }
        lastPlain = progress.elapsed
        let published = progress.published
        return """
            \(Self.seconds(progress.elapsed)) s: \(published.intents) intents, \(published.reads) reads, \
            \(progress.apns.accepted) pushes, \(progress.screensRight) of \(progress.screens) screens right

            """
    }

    private static func lines(_ progress: Demo.Progress) -> [(String, String)] {
        let published = progress.published
        func decided(_ name: Bytes) -> Int { progress.tally.decisions[name] ?? 0 }
        func outcome(_ name: Bytes) -> Int { progress.tally.outcomes[name] ?? 0 }
        let refused = progress.apns.rejected.values.reduce(0, +)
        return [
            (
                "in",
                "\(published.intents) intents, \(published.reads) reads, \(published.devices) registers, \(published.signals) signals"
            ),
            (
                "planned",
                "\(decided("planned")) new, \(decided("updated")) updates, \(decided("retracted")) retracts, "
                    + "\(decided("duplicate")) duplicates dropped, \(decided("suppressed")) read before they came"
            ),
            (
                "delivered",
                "\(progress.apns.accepted) pushes accepted, \(refused) refused, \(progress.apns.unanswered) unanswered, "
                    + "\(outcome("held")) held, \(outcome("coalesced")) coalesced"
            ),
            (
                "screens",
                "\(progress.screensRight) of \(progress.screens) as they must be at the end; \(seconds(progress.elapsed)) s"
            ),
        ]
    }

    /// The last words.
    public func verdict(_ report: DemoReport) -> String {
        var text = "\n\(report.intents) intents and \(report.duplicates) repeats, \(report.reads) reads; "
        text += "\(report.duplicatesDropped) duplicates dropped, \(report.readsBeforeCreate) read before they came, "
        text += "\(report.held) held, \(report.retried) retried, \(report.pushes) pushes in "
        text += "\(Self.seconds(report.elapsed)) s\n"
        for violation in report.violations { text += "violation: \(violation.name), \(violation.count)\n" }
        let screens = "\(report.screensRight) of \(report.screens) screens show exactly what they must"
        return text + (report.isGood ? green("right: \(screens)") : red("wrong: \(screens)")) + "\n"
    }

    private func bold(_ text: String) -> String { isColored ? "\u{1b}[1m\(text)\u{1b}[0m" : text }
    private func green(_ text: String) -> String { isColored ? "\u{1b}[32m\(text)\u{1b}[0m" : text }
    private func red(_ text: String) -> String { isColored ? "\u{1b}[31m\(text)\u{1b}[0m" : text }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func seconds(_ duration: Duration) -> String {
        let tenths = duration.wholeMillis / 100
        return "\(tenths / 10).\(tenths % 10)"
    }
}
