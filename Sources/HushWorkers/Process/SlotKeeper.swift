import HushBase
import HushStream

/// Keeps one slot running: a fault that a new slot can mend is followed by one, after a pause that grows.
///
/// It has no thread and no clock: the process' own loop calls `look` again and again.
final class SlotKeeper {
    enum Verdict: Hashable {
        case fine
        /// Nothing that this process could do mends it, or it came back too often.
        case failed(String)
    }

    let name: String
    let stage: Stage
    private(set) var slot: any WorkerSlot
    private(set) var restarts = 0
    private let make: () throws -> any WorkerSlot
    private let log: Log
    private var restartAt: MonotonicTime?
    /// Whether the slot was started, and not joined since.
    private var isRunning = false
    /// When the slots of late ended.
    private var ends: [MonotonicTime] = []

    /// More faults than this within `faultWindow` end the process, whose supervisor sees it then.
    static let faultsMax = 6
    static let faultWindow = Duration.seconds(300)
    static let pauseFirst = Duration.milliseconds(500)
    static let pauseCap = Duration.seconds(15)

    init(name: String, stage: Stage, log: Log, make: @escaping () throws -> any WorkerSlot) throws {
        self.name = name
        self.stage = stage
        self.log = log
        self.make = make
        slot = try make()
    }

    func start() throws(StreamFault) {
        try slot.start()
        isRunning = true
    }

    func look(_ now: MonotonicTime) -> Verdict {
        if let restartAt {
            return restartAt <= now ? restart() : .fine
        }
        guard isRunning, slot.status.phase == .stopped else { return .fine }
        isRunning = false
        guard let fault = slot.join() else { return .failed("slot \(name) ended without being asked to") }
        guard fault.isMendedByRestart else { return .failed("slot \(name): \(fault)") }
        ends = ends.filter { now - $0 < Self.faultWindow } + [now]
        guard ends.count <= Self.faultsMax else {
            return .failed("slot \(name) ended \(ends.count) times within \(Self.faultWindow), last: \(fault)")
        }
        if case .fenced = fault {
            log.warn(
                "a slot was fenced: its transaction took too long, or another process runs under the same run.name",
                ["slot": .text(name)])
        }
        let pause = min(Self.pauseFirst * (1 << (ends.count - 1)), Self.pauseCap)
        log.warn(
            "a slot ended and will be started again",
            ["slot": .text(name), "fault": .text("\(fault)"), "pause_seconds": .init(pause)])
        restartAt = now + pause
        return .fine
    }

    private func restart() -> Verdict {
        restartAt = nil
        restarts += 1
        do {
            slot = try make()
            try start()
            return .fine
        } catch {
            return .failed("slot \(name) cannot be started again: \(error)")
        }
    }

    /// Asks for the end; `join` waits for it.
    func stop() {
        if isRunning { slot.stop() }
    }

    /// Why a slot that still ran ended; nil where it was asked to, or none ran.
    func join() -> StreamFault? {
        guard isRunning else { return nil }
        isRunning = false
        return slot.join()
    }
}
