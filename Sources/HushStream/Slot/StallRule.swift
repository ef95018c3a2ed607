import HushBase

/// Tells an input that nobody takes anything of, though there is something to take, from one that rests.
///
/// What is observed of every input comes in again and again, with the time; the rule knows no clock and asks nobody.
struct StallRule {
    struct Place: Hashable {
        var slot: String
        var topic: String
        var partition: Int32
    }

    /// An input of a slot that may take records just now; one that waits for a reason is left out.
    struct Sample: Hashable {
        var place: Place
        /// The offset of the next record.
        var position: Int64
        /// Rises with all that explains why a position stood, or came back to where it was: waits, aborts, rebalances.
        var interruptions: Int64
        /// Up to where there is something to take; nil where the brokers were not asked, or did not say.
        var end: Int64?
    }

    private struct Seen {
        var position: Int64
        var interruptions: Int64
        /// Since when it has stood with something to take.
        var since: MonotonicTime?
    }

    let limit: Duration
    /// Observations further apart than this tell nothing of what lies between.
    let gapMax: Duration
    private var seen: [Place: Seen] = [:]
    private var observedAt: MonotonicTime?

    init(limit: Duration) {
        self.limit = limit
        gapMax = limit / 2
    }

    /// Whether an input stands where it stood, so that it is worth to ask for its end.
    func stands(_ sample: Sample) -> Bool {
        guard let before = seen[sample.place] else { return false }
        return before.position == sample.position && before.interruptions == sample.interruptions
    }

    /// Takes in an observation of all inputs; those that have stood for the limit, in the order given.
    ///
    /// Brokers that do not say where an input ends begin its time anew: without them nothing can be taken, and to start
    /// a worker again mends no broker.
    mutating func observe(_ samples: [Sample], at now: MonotonicTime) -> [Stall] {
        if let observedAt, now - observedAt > gapMax { seen = [:] }
        observedAt = now
        var next: [Place: Seen] = [:]
        var stalls: [Stall] = []
        for sample in samples {
            let before = stands(sample) ? seen[sample.place]?.since : nil
            let lag = sample.end.map { $0 - sample.position } ?? 0
            let since = lag > 0 ? before ?? now : nil
            next[sample.place] = Seen(
                position: sample.position, interruptions: sample.interruptions, since: since)
            if let since, now - since >= limit {
                stalls.append(
                    Stall(
                        slot: sample.place.slot, topic: sample.place.topic, partition: sample.place.partition,
                        lasting: now - since, lag: lag))
            }
        }
        seen = next
        return stalls
    }
}

/// An input of a slot's partition of which nothing is taken, though there is something.
public struct Stall: Hashable, Sendable, CustomStringConvertible {
    public var slot: String
    public var topic: String
    public var partition: Int32
    /// For how long it has been watched standing.
    public var lasting: Duration
    /// Offsets between the position and the end, as readers of committed records see it.
    public var lag: Int64

    public init(slot: String, topic: String, partition: Int32, lasting: Duration, lag: Int64) {
        self.slot = slot
        self.topic = topic
        self.partition = partition
        self.lasting = lasting
        self.lag = lag
    }

    public var description: String {
        "nothing was taken of \(topic)-\(partition) for \(lasting.components.seconds) s, and it is \(lag) behind"
    }
}
