public import HushBase
import Synchronization

/// What the process tells a supervisor: whether its loops turn and take what there is, and whether its parts can work.
///
/// An outage of Kafka or APNs never makes the process dead, or it would become a storm of restarts: a loop turns without
/// them, and an input counts as standing only where Kafka says that there is something to take (`StallWatch`).
public final class Health: Sendable {
    /// One loop's pulse; kept by the loop, which calls `turned` in every turn.
    public final class Pulse: Sendable {
        private let last: Atomic<Int64>

        fileprivate init(now: MonotonicTime) {
            last = Atomic(now.nanos)
        }

        public func turned(_ now: MonotonicTime) {
            last.store(now.nanos, ordering: .relaxed)
        }

        fileprivate func silence(_ now: MonotonicTime) -> Duration {
            now - MonotonicTime(nanos: last.load(ordering: .relaxed))
        }
    }

    /// What a probe is answered: a line a loop or part.
    public struct Report: Hashable, Sendable {
        public var isGood: Bool
        public var lines: [String]
    }

    /// A loop that is silent for longer is stuck.
    public let stallMax: Duration
    private let loops = Mutex<[String: Pulse]>([:])
    /// By loop, what it does not take though it is there, in words.
    private let stalls = Mutex<[String: [String]]>([:])
    /// By part, what keeps it from working; nil where nothing does.
    private let parts = Mutex<[String: String?]>([:])

    public init(stallMax: Duration) {
        self.stallMax = stallMax
    }

    /// Begins to watch a loop, which is taken to have turned just now.
    public func watch(_ loop: String, now: MonotonicTime) -> Pulse {
        let pulse = Pulse(now: now)
        loops.withLock { $0[loop] = pulse }
        return pulse
    }

    /// Says what a loop does not take though it is there, input by input; none where it takes all.
    public func set(_ loop: String, stalls lines: [String]) {
        stalls.withLock { $0[loop] = lines }
    }

    /// Says that a part waits for something, as "restoring 3 partitions"; nil where it works.
    public func set(_ part: String, waitsFor reason: String?) {
        parts.withLock { $0[part] = .some(reason) }
    }

    /// Whether every loop turned lately, and none leaves something where it is.
    public func liveness(_ now: MonotonicTime) -> Report {
        let loops = loops.withLock { $0 }.sorted { $0.key < $1.key }
        let stalls = stalls.withLock { $0 }
        var report = Report(isGood: true, lines: [])
        for (name, pulse) in loops {
            let silence = pulse.silence(now)
            let stuck = silence > stallMax
            if stuck { report.isGood = false }
            report.lines.append("\(name): \(stuck ? "stuck" : "turns"), \(silence.wholeNanos / 1_000_000) ms ago")
            for line in stalls[name] ?? [] {
                report.isGood = false
                report.lines.append("\(name): \(line)")
            }
        }
        return report
    }

    /// Whether there is a part and every part works.
    public func readiness() -> Report {
        let parts = parts.withLock { $0 }.sorted { $0.key < $1.key }
        let lines = parts.map { "\($0.key): \($0.value.map { "waits: \($0)" } ?? "ready")" }
        return Report(isGood: !parts.isEmpty && parts.allSatisfy { $0.value == nil }, lines: lines)
    }
}
