public import HushBase
import Synchronization

/// Knows how far behind a group is in a topic: a thread of its own asks, as long as somebody wants to know.
public final class GroupLagWatch: Sendable {
    /// An answer.
    public struct Reading: Hashable, Sendable {
        /// Records that the group has not taken.
        public var count: Int64
        /// Of this answer; the next one has a higher number.
        public var number: Int

        public init(count: Int64, number: Int) {
            self.count = count
            self.number = number
        }
    }

    /// How often it asks.
    public static let interval = Duration.milliseconds(250)
    /// For how long it asks on after somebody wanted to know.
    static let wantedMax = Duration.seconds(2)
    /// An answer that is older is none.
    static let ageMax = Duration.seconds(5)

    private struct State {
        var reading: Reading?
        var answers = 0
        var readAt = MonotonicTime(nanos: 0)
        var wantedAt: MonotonicTime?
    }

    private let state = Mutex(State())
    private let thread: AskingThread
    private let topic: String
    private let partitionCount: Int32
    private let group: String
    private let kafka: KafkaConfiguration
    private let log: StreamLog

    public init(
        topic: String, partitionCount: Int32, group: String, kafka: KafkaConfiguration, log: StreamLog
    ) throws(SystemFault) {
        self.topic = topic
        self.partitionCount = partitionCount
        self.group = group
        self.kafka = kafka
        self.log = log
        thread = try AskingThread()
    }

    /// Starts the thread; once.
    public func start() throws(SystemFault) {
        try thread.start("lag-\(group)") { [self] in run() }
    }

    /// Ends the thread; one that hangs in a question is left to the end of the process.
    public func stop() {
        thread.stop()
    }

    /// The last answer, where it is of late; asks for further ones. Of any thread, and cheap.
    public func latest() -> Reading? {
        let now = MonotonicTime.now()
        let wasIdle = state.withLock { state in
            defer { state.wantedAt = now }
            return state.wantedAt.map { now - $0 > Self.wantedMax } ?? true
        }
        if wasIdle { thread.wake() }
        return last
    }

    /// The last answer, where it is of late, without asking for another.
    public var last: Reading? {
        let now = MonotonicTime.now()
        return state.withLock { now - $0.readAt <= Self.ageMax ? $0.reading : nil }
    }

    private func run() {
        var failure: StreamFault?
        do throws(StreamFault) {
            let lag = try GroupLag(
                topic: topic, partitionCount: partitionCount, group: group, kafka: kafka, name: "lag-\(group)", log: log
            )
            while !thread.isStopping {
                let isWanted = isWanted()
                if isWanted { failure = ask(lag, failure) }
                thread.rest(atMost: isWanted ? Self.interval : .seconds(60))
            }
        } catch {
            log.warning("what waits for group \(group) in \(topic) is not known: \(error)")
        }
    }

    /// Whether somebody wants to know.
    private func isWanted() -> Bool {
        let now = MonotonicTime.now()
        return state.withLock { $0.wantedAt.map { now - $0 <= Self.wantedMax } ?? false }
    }

    /// Asks once; returns why there was no answer. The same reason is told once.
    private func ask(_ lag: GroupLag, _ before: StreamFault?) -> StreamFault? {
        do throws(StreamFault) {
            let count = try lag.read(timeoutMillis: AskingThread.callLimit.wholeMilliseconds)
            state.withLock { state in
                state.answers += 1
                state.reading = count.map { Reading(count: $0, number: state.answers) }
                state.readAt = .now()
            }
            return nil
        } catch {
            if error != before { log.warning("what waits for group \(group) in \(topic) is not known: \(error)") }
            return error
        }
    }
}
