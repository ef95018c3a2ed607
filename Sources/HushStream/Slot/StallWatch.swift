public import HushBase
import Synchronization

/// Watches that slots take what there is to take: a thread of its own compares their positions with the ends of their
/// inputs.
///
/// The brokers are asked for the ends of those inputs alone that stand where they stood a while ago, by a client that
/// shares nothing with the slots: what a consumer that fetches nothing knows of an end is as old as its last fetch. The
/// answer also tells that the brokers are there. Where they do not answer nothing is told of the inputs, for to start a
/// worker again does not mend a broker; and as the end is the last stable offset, an open transaction of somebody else
/// is no fault of the slot either.
public final class StallWatch: Sendable {
    /// A loop that has not turned for longer is stuck, or busy with one record: another limit's matter.
    static let turnMax = Duration.seconds(5)
    private static let intervalMax = Duration.seconds(30)

    private struct State {
        var statuses: [String: SlotStatus] = [:]
        var stalls: [Stall] = []
        var judgedAt = MonotonicTime(nanos: 0)
        var judgements = 0
    }

    private let state = Mutex(State())
    private let limit: Duration
    private let interval: Duration
    private let group: String
    private let kafka: KafkaConfiguration
    private let log: StreamLog
    private let thread: AskingThread

    /// `limit` is how long an input may stand; `group` one whose offsets the process may ask for.
    public init(limit: Duration, group: String, kafka: KafkaConfiguration, log: StreamLog) throws(SystemFault) {
        self.limit = limit
        interval = min(limit / 10, Self.intervalMax)
        self.group = group
        self.kafka = kafka
        self.log = log
        thread = try AskingThread()
    }

    /// Starts the thread; once.
    public func start() throws(SystemFault) {
        try thread.start("watch-stalls") { [self] in run() }
    }

    /// Ends the thread; one that hangs in a question is left to the end of the process.
    public func stop() {
        thread.stop()
    }

    /// Tells how a slot stands; of any thread.
    public func saw(_ slot: String, _ status: SlotStatus) {
        state.withLock { $0.statuses[slot] = status }
    }

    /// The inputs that stand, as of late: what was found long ago, before the brokers went silent, is none.
    public var stalls: [Stall] {
        let now = MonotonicTime.now()
        return state.withLock { now - $0.judgedAt <= limit / 2 ? $0.stalls : [] }
    }

    /// How often all inputs were looked at.
    var judgements: Int { state.withLock { $0.judgements } }

    private func run() {
        var rule = StallRule(limit: limit)
        do throws(StreamFault) {
            let ends = try StableEnds(group: group, kafka: kafka, name: "watch-stalls", log: log)
            while !thread.isStopping {
                judge(state.withLock { $0.statuses }, &rule, ends)
                thread.rest(atMost: interval)
            }
        } catch {
            log.warning("whether slots take what there is cannot be watched: \(error)")
        }
    }

    private func judge(_ statuses: [String: SlotStatus], _ rule: inout StallRule, _ ends: StableEnds) {
        let now = MonotonicTime.now()
        var samples = statuses.sorted { $0.key < $1.key }.flatMap { Self.samples($0.key, $0.value, now) }
        let standing = samples.indices.filter { rule.stands(samples[$0]) }
        if !standing.isEmpty {
            let places = standing.map { (samples[$0].place.topic, samples[$0].place.partition) }
            do throws(StreamFault) {
                let found = try ends.read(places, timeoutMillis: AskingThread.callLimit.wholeMilliseconds)
                for (index, end) in zip(standing, found) { samples[index].end = end }
            } catch {
                log.debug("where inputs end is not known: \(error)")
            }
        }
        let stalls = rule.observe(samples, at: now)
        let before = state.withLock { state in
            defer {
                state.stalls = stalls
                state.judgedAt = now
                state.judgements += 1
            }
            return state.stalls
        }
        tell(before, stalls)
    }

    /// The inputs of a slot that may take records.
    private static func samples(_ slot: String, _ status: SlotStatus, _ now: MonotonicTime) -> [StallRule.Sample] {
        guard !status.isWaiting, let turn = status.lastTurn, now - turn <= turnMax else { return [] }
        let interruptions = status.waits + status.aborts + status.rebalances
        return status.positions.map { position in
            StallRule.Sample(
                place: StallRule.Place(slot: slot, topic: position.topic, partition: position.partition),
                position: position.offset, interruptions: interruptions)
        }
    }

    /// Logs what is new, once.
    private func tell(_ before: [Stall], _ now: [Stall]) {
        func isSame(_ one: Stall) -> (Stall) -> Bool {
            { ($0.slot, $0.topic, $0.partition) == (one.slot, one.topic, one.partition) }
        }
        for stall in now where !before.contains(where: isSame(stall)) {
            log.error("slot \(stall.slot): \(stall), though the brokers answer: the process is not alive")
        }
        for stall in before where !now.contains(where: isSame(stall)) {
            log.info("slot \(stall.slot): \(stall.topic)-\(stall.partition) stands still no more")
        }
    }
}
