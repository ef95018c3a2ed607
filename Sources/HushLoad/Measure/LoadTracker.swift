public import HushBase

/// Follows the items of a run, and measures each from the time at which it was *meant* to be sent: a sender or a server
/// that stalls cannot hide behind what it therefore did not ask for (no coordinated omission).
///
/// Times are arguments. Four bytes and three bits of memory for each item, some thirty bytes for each device that an
/// audience reaches.
public struct LoadTracker: Sendable {
    /// What happened in one second.
    public struct Second: Hashable, Sendable {
        public var sent = 0
        public var planned = 0
        public var accepted = 0
        /// Of the notifications accepted in it, in nanoseconds; 0 where there is none.
        public var p50: Int64 = 0
        public var p99: Int64 = 0
        public var max: Int64 = 0
        /// Items that were sent and not planned at its end.
        public var lag = 0
        /// Notifications that were sent and not accepted at its end.
        public var open = 0
    }

    /// The devices of one audience.
    private struct Audience {
        var size: Int
        var accepted: Set<UInt64> = []
    }

    private let schedule: ArrivalSchedule
    private let start: MonotonicTime
    /// Items before it are not measured.
    private let measuredFrom: Int
    public private(set) var histograms: [Figure.Way: LatencyHistogram] = [:]
    public private(set) var seconds: [Second] = []
    public private(set) var sent = 0
    public private(set) var planned = 0
    public private(set) var accepted = 0
    public private(set) var creates = 0
    public private(set) var lagMax = 0
    /// Items by kind.
    public private(set) var kinds: [LoadItem.Kind: Int] = [:]
    /// Devices that audiences were for, and those that got theirs.
    public private(set) var audienceDevices = 0
    public private(set) var audienceAccepted = 0
    private var audiences: [Int: Audience] = [:]
    private var isNew = BitSet()
    private var isAccepted = BitSet()
    private var isDealtWith = BitSet()
    /// By notification, the item that takes it off first.
    private var clears: [Int: Int] = [:]
    /// By item, when its plan line was seen, in milliseconds after the start; 0: not yet.
    private var plannedAt: [Int32] = []
    private var current = Second()
    private var currentLatency = LatencyHistogram()

    public init(_ schedule: ArrivalSchedule, warmUp: Duration, start: MonotonicTime) {
        self.schedule = schedule
        self.start = start
        measuredFrom = schedule.count(until: warmUp)
        for way in Figure.Way.allCases { histograms[way] = LatencyHistogram() }
    }

    private func intended(_ index: Int) -> MonotonicTime { start + schedule.time(of: index) }

    private mutating func record(_ way: Figure.Way, _ latency: Duration) {
        histograms[way, default: LatencyHistogram()].record(latency)
    }

    /// The next item left for Kafka, at its time or late; `devices` is how many an audience has.
    public mutating func sent(_ item: LoadItem, index: Int, devices: Int = 0) {
        sent += 1
        current.sent += 1
        kinds[item.kind, default: 0] += 1
        switch item.kind {
        case .create:
            creates += 1
            isNew.insert(index)
        case .read, .retract:
            isDealtWith.insert(item.subject)
            if clears[item.subject] == nil { clears[item.subject] = index }
        case .audience:
            audiences[index] = Audience(size: devices)
            audienceDevices += devices
        case .update, .duplicate, .bad: break
        }
    }

    /// A plan line was seen for an item; `subject` is the notification, `isNew` whether the line planned it.
    public mutating func planned(_ subject: Int?, isNew: Bool, at now: MonotonicTime) {
        planned += 1
        current.planned += 1
        guard let subject, isNew, subject < sent else { return }
        while plannedAt.count <= subject { plannedAt.append(0) }
        plannedAt[subject] = Int32(clamping: max(1, (now - start).wholeNanos / 1_000_000))
        if subject >= measuredFrom { record(.plan, now - intended(subject)) }
    }

    /// An outcome line was seen that ends a notification's way to a device.
    public mutating func delivered(_ subject: Int, at now: MonotonicTime) {
        guard subject >= measuredFrom, subject < plannedAt.count, plannedAt[subject] > 0 else { return }
        record(.deliver, now - (start + .milliseconds(Int64(plannedAt[subject]))))
        // An update has an outcome of its own, and no such plan line.
        plannedAt[subject] = 0
    }

    /// APNs answered 200 to a push that carried a create of this notification; only the first counts, of an audience
    /// the first of each device.
    public mutating func accepted(create subject: Int, device: UInt64 = 0, at now: MonotonicTime) {
        guard subject < sent else { return }
        if audiences[subject] != nil {
            guard audiences[subject]?.accepted.insert(device).inserted == true else { return }
            audienceAccepted += 1
            if subject >= measuredFrom { record(.audience, now - intended(subject)) }
            return
        }
        guard isAccepted.insert(subject) else { return }
        accepted += 1
        current.accepted += 1
        let latency = now - intended(subject)
        if subject >= measuredFrom { record(.accept, latency) }
        currentLatency.record(latency)
    }

    /// APNs answered 200 to a push that carried a delete of this notification.
    public mutating func accepted(clear subject: Int, at now: MonotonicTime) {
        guard let item = clears.removeValue(forKey: subject), item >= measuredFrom else { return }
        record(.clear, now - intended(item))
    }

    /// How many items are sent and have no plan line.
    public var lag: Int { max(0, sent - planned) }

    /// Ends a second of the series.
    public mutating func endSecond() {
        current.p50 = currentLatency.nanos(atQuantile: 0.5)
        current.p99 = currentLatency.nanos(atQuantile: 0.99)
        current.max = currentLatency.maxNanos
        current.lag = lag
        current.open = creates - accepted
        lagMax = max(lagMax, lag)
        seconds.append(current)
        current = Second()
        currentLatency = LatencyHistogram()
    }

    /// Whether all that can come has come.
    public var isSettled: Bool {
        sent == schedule.count && lag == 0 && audienceAccepted >= audienceDevices && open.isEmpty
    }

    /// Notifications that nobody dealt with and APNs never accepted. What was read or retracted while it waited need not
    /// leave.
    public var open: [Int] {
        // Walked once in a while, by those who wait for the end.
        (0..<sent).filter { isNew.contains($0) && !isAccepted.contains($0) && !isDealtWith.contains($0) }
    }

    /// The run is over: what was not accepted counts with the time it has waited by now.
    /// - Returns: how many these are; of an audience each device that got nothing.
    public mutating func finish(at now: MonotonicTime) -> Int {
        let left = open
        for index in left where index >= measuredFrom { record(.accept, now - intended(index)) }
        var missed = 0
        for (index, audience) in audiences {
            let lacking = max(0, audience.size - audience.accepted.count)
            missed += lacking
            if index >= measuredFrom { for _ in 0..<lacking { record(.audience, now - intended(index)) } }
        }
        return left.count + missed
    }
}

/// A set of small numbers.
struct BitSet: Hashable, Sendable {
    private var words: [UInt64] = []

    /// False where it was in.
    @discardableResult
    mutating func insert(_ number: Int) -> Bool {
        while words.count <= number >> 6 { words.append(0) }
        let bit: UInt64 = 1 << UInt64(number & 63)
        defer { words[number >> 6] |= bit }
        return words[number >> 6] & bit == 0
    }

    func contains(_ number: Int) -> Bool {
        number >> 6 < words.count && words[number >> 6] & (1 << UInt64(number & 63)) != 0
    }
}
