public import HushBase
import Synchronization

/// A worker slot: one thread that owns a consumer, a transactional producer and the tasks of its partitions.
///
/// It runs until it is stopped or a fault ends it; what follows a fault is its owner's decision, by
/// `StreamFault.isMendedByRestart`: a new slot under the same name takes over where this one stood.
public final class StreamSlot<Application: StreamApplication>: Sendable {
    public let configuration: StreamConfiguration
    /// Ends the loop's wait from any thread.
    public let wakeUp: WakeUp
    private let kafka: KafkaConfiguration
    private let home: StateHome
    private let log: StreamLog
    private let makeApplication: @Sendable () -> Application
    private let control: SlotControl
    private let thread = Mutex<NamedThread?>(nil)

    /// The application is made on the slot's thread.
    /// - Throws: `StreamFault.refused` where the configuration contradicts itself.
    public init(
        _ configuration: StreamConfiguration, kafka: KafkaConfiguration, home: StateHome, log: StreamLog,
        makeApplication: @escaping @Sendable () -> Application
    ) throws(StreamFault) {
        try configuration.check()
        self.configuration = configuration
        self.kafka = kafka
        self.home = home
        self.log = log
        self.makeApplication = makeApplication
        do throws(SystemFault) {
            wakeUp = try WakeUp()
        } catch {
            throw .state("\(error)")
        }
        control = SlotControl()
    }

    /// Starts the thread; once.
    public func start() throws(StreamFault) {
        do throws(SystemFault) {
            let started = try NamedThread.start(name: configuration.slotName) { [self] in run() }
            thread.withLock { $0 = started }
        } catch {
            throw .state("\(error)")
        }
    }

    /// Asks the slot to drain, commit, leave the group and end.
    public func stop() {
        control.isStopping.store(true, ordering: .releasing)
        wakeUp.signal()
    }

    /// Waits for the end; the fault that caused it, nil where `stop` did.
    public func join() -> StreamFault? {
        let started = thread.withLock { $0 }
        started?.join()
        return status.fault
    }

    public var status: SlotStatus {
        var status = control.status.withLock { $0 }
        let turn = control.lastTurnNanos.load(ordering: .relaxed)
        if turn > 0 { status.lastTurn = MonotonicTime(nanos: turn) }
        return status
    }

    private func run() {
        let fault = SlotRunner<Application>.run(
            configuration, kafka: kafka, home: home, log: log, control: control, wakeUp: wakeUp,
            makeApplication: makeApplication)
        control.status.withLock { status in
            status.phase = .stopped
            status.partitions = []
            status.restoring = 0
            status.positions = []
            status.fault = fault
        }
    }
}

/// What a slot's thread and others share.
final class SlotControl: Sendable {
    let isStopping = Atomic<Bool>(false)
    /// 0 before the first turn.
    let lastTurnNanos = Atomic<Int64>(0)
    let status = Mutex(SlotStatus())
}
