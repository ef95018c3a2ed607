public import HushCore
public import HushKit

/// Counts the lines of `hush.ledger`, and finds inputs that were decided twice.
public struct LedgerTally: Sendable {
    private struct Cause: Hashable {
        var topic: Bytes
        var partition: Int64
        var offset: Int64
        var id: Bytes?
    }

    /// Plan lines by decision.
    public private(set) var decisions: [Bytes: Int] = [:]
    /// Deliver lines by outcome.
    public private(set) var outcomes: [Bytes: Int] = [:]
    /// Plan lines of one input and id beyond the first.
    public private(set) var decidedTwice = 0
    /// Lines that are none of ours to read.
    public private(set) var malformed = 0
    private var decided: Set<Cause> = []
    private var decidedByTopic: [Bytes: Int] = [:]

    public init() {}

    /// Takes one line; order lines end a task's part of a transaction and count for nothing here.
    public mutating func take(_ line: PayloadValue) {
        if line["order"] != nil { return }
        if let outcome = line["outcome"]?.string {
            outcomes[outcome, default: 0] += 1
            return
        }
        guard let decision = line["decision"]?.string, let cause = line["cause"], let topic = cause["topic"]?.string,
            let partition = cause["partition"]?.integer, let offset = cause["offset"]?.integer
        else {
            malformed += 1
            return
        }
        decisions[decision, default: 0] += 1
        // An eviction is told under the cause of the intent that needed the room.
        if decision == "evicted" { return }
        let key = Cause(topic: topic, partition: partition, offset: offset, id: line["id"]?.id)
        if decided.insert(key).inserted {
            decidedByTopic[topic, default: 0] += 1
        } else {
            decidedTwice += 1
        }
    }

    /// How many inputs of a topic have their decision.
    public func decided(of topic: Bytes) -> Int {
        decidedByTopic[topic] ?? 0
    }
}
