public import HushBase
import Synchronization

/// `hush apns`: the simulated APNs on its own, until it is told to stop.
public enum APNsCommand {
    public struct Options: Sendable {
        public var apns: SimulatedAPNsOptions
        /// Called with each line of the log of pushes, newline included, on one thread.
        public var onLine: @Sendable ([UInt8]) -> Void

        public init(apns: SimulatedAPNsOptions, onLine: @escaping @Sendable ([UInt8]) -> Void) {
            self.apns = apns
            self.onLine = onLine
        }
    }

    /// Lines that wait for their writer; beyond it they are counted and dropped, for APNs does not wait for a disk.
    static let linesMax = 1 << 16

    /// Runs until `isStopped`; `started` hears where it listens.
    public static func run(
        _ options: Options, log: Log, started: (SimulatedAPNs) -> Void, isStopped: () -> Bool
    ) throws {
        let wakeUp = try WakeUp()
        let lines = Mailbox<[UInt8]>(capacity: linesMax, wakeUp: wakeUp)
        let dropped = Atomic(0)
        let offer = { @Sendable (line: [UInt8]) in
            if !lines.offer(line) { dropped.add(1, ordering: .relaxed) }
        }
        let apns = try SimulatedAPNs(
            options.apns, onAccept: { offer(PushLog.line($0)) }, onBreak: { offer(PushLog.line($0)) })
        started(apns)
        var batch: [[UInt8]] = []
        func write() {
            wakeUp.clear()
            lines.takeAll(into: &batch)
            for line in batch { options.onLine(line) }
        }
        while !isStopped() {
            _ = wakeUp.wait(atMost: .milliseconds(200))
            write()
        }
        apns.close()
        write()
        let counts = apns.counts
        log.info(
            "the simulated APNs stopped",
            [
                "accepted": .integer(Int64(counts.accepted)),
                "rejected": .integer(Int64(counts.rejected.values.reduce(0, +))),
                "unanswered": .integer(Int64(counts.unanswered)),
                "log_lines_dropped": .integer(Int64(dropped.load(ordering: .relaxed))),
            ])
    }
}
