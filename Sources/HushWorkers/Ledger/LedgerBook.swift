import HushAPNs
public import HushCore

/// What a book must remember: part of its task's state, committed with the lines.
public struct LedgerState: Hashable, Sendable {
    /// The number of the next line.
    public var next: Int64
    /// The digest of the last order line: 32 bytes.
    public var previous: [UInt8]

    public init(next: Int64 = 0, previous: [UInt8] = Array(repeating: 0, count: 32)) {
        self.next = next
        self.previous = previous
    }
}

/// Writes one task's lines of the ledger, numbered without gaps and chained by digests.
///
/// Each transaction's part ends with an order line: how the inputs were interleaved, and a SHA-256 over all lines since
/// the order line before. A line that is removed, added or altered later shows. docs/reference/ledger.md defines both.
public final class LedgerBook {
    /// How many runs an order line holds; past that the task writes one at once, and the next begins.
    public static let runsMax = 4096
    /// What stands for slices of audiences where the order line names topics.
    public static let slicesRun = "slices"

    private struct Run {
        /// Nil: slices of audiences.
        var topic: Topic?
        var count: Int
    }

    public private(set) var state: LedgerState
    private let stage: StaticString
    private let config: Bytes
    private let build: Bytes
    private let digest = SHA256Digest()
    /// What every line begins with.
    private let head: [UInt8]
    /// The time and the stage as the lines of one millisecond have them.
    private var moment: (at: Timestamp, json: [UInt8])
    /// The buffer of the lines, lent out between `begin` and `end`.
    private var lent = JSONWriter(reserving: 4096)
    // What every record touches, of one thread and never used from within its own use: the checks at run time would cost
    // more than what they check.
    /// Nil where recipients and devices stand in clear.
    @exclusivity(unchecked) private var pseudonyms: Pseudonyms?
    @exclusivity(unchecked) private var runs: [Run] = []
    /// Topic by topic, the offset behind the last record taken.
    @exclusivity(unchecked) private var ends: [(topic: Topic, offset: Int64)] = []
    private var lineCount = 0

    /// `task` is such as `plan-3`, and the key of the order lines; `config` a digest of the settings that decisions
    /// depend on.
    public convenience init(
        task: Bytes, stage: Stage, config: Bytes, build: Bytes, pseudonymKey: PseudonymKey? = nil,
        state: LedgerState = LedgerState()
    ) {
        self.init(
            task: task, stage: stage == .plan ? "plan" : "deliver", config: config, build: build,
            pseudonymKey: pseudonymKey, state: state)
    }

    /// The book of a tool, under a stage's name of its own.
    public init(
        task: Bytes, stage: StaticString, config: Bytes, build: Bytes, pseudonymKey: PseudonymKey? = nil,
        state: LedgerState = LedgerState()
    ) {
        pseudonyms = pseudonymKey.map(Pseudonyms.init)
        self.stage = stage
        self.config = config
        self.build = build
        self.state = state
        var json = JSONWriter(reserving: 64)
        json.raw("{\"v\":1,\"task\":")
        json.string(task)
        json.raw(",\"n\":")
        head = json.bytes
        moment = (.distantPast, Self.json(of: .distantPast, stage))
    }

    /// Goes back to what was committed: after a restart, and after an abort.
    public func restore(_ state: LedgerState) {
        self.state = state
        _ = digest.finish()
        runs.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        lineCount = 0
    }

    /// From now on recipients and devices stand under this key, in clear without one.
    func write(under key: PseudonymKey?) {
        if pseudonyms?.mark != key?.mark { pseudonyms = key.map(Pseudonyms.init) }
    }

    /// A recipient as the lines have it; the key of a recipient's lines.
    public func shown(recipient: Bytes) -> Bytes { pseudonyms?.ofRecipient(recipient) ?? recipient }

    /// A device as the lines have it.
    func shown(device: Bytes) -> Bytes { pseudonyms?.ofDevice(device) ?? device }

    /// Notes that a record was taken; the order line tells it.
    public func took(_ topic: Topic, offset: Int64) {
        took(topic)
        if let index = ends.firstIndex(where: { $0.topic == topic }) {
            ends[index].offset = offset + 1
        } else {
            ends.append((topic, offset + 1))
        }
    }

    /// The same where records come from many partitions, and no offset tells where they end.
    public func took(_ topic: Topic) {
        if let last = runs.indices.last, runs[last].topic == topic {
            runs[last].count += 1
        } else {
            runs.append(Run(topic: topic, count: 1))
        }
    }

    /// Notes that a slice of an audience was taken; the order line tells it.
    public func tookSlice() {
        if let last = runs.indices.last, runs[last].topic == nil {
            runs[last].count += 1
        } else {
            runs.append(Run(topic: nil, count: 1))
        }
    }

    /// Whether the order line must come now, for it would grow beyond what a record holds.
    public var isOrderDue: Bool { runs.count >= Self.runsMax }

    /// Whether there is anything an order line must cover.
    public var isOpen: Bool { lineCount > 0 || !runs.isEmpty }

    /// Writes a plan line and shows its bytes; its key is the recipient as `shown`. `trace` is that of its cause.
    public func write(
        _ line: PlanLine, at now: Timestamp, trace: TraceID? = nil, _ send: (UnsafeRawBufferPointer) -> Void
    ) {
        var json = begin(at: now)
        json.member("decision", line.decision.name)
        json.member("id", line.id)
        if !line.recipient.isEmpty { json.member("recipient", shown(recipient: line.recipient)) }
        json.member("revision", line.revision)
        if !line.ops.isEmpty {
            json.member("ops")
            // By index: to iterate would copy each op.
            for index in line.ops.indices {
                json.raw(index == 0 ? "[[" : ",[")
                json.string(shown(device: line.ops[index].device))
                json.raw(",\"")
                json.kind(line.ops[index].kind)
                json.byte(UInt8(ascii: "\""))
                if let id = line.ops[index].id {
                    json.byte(UInt8(ascii: ","))
                    json.string(id)
                }
                json.byte(UInt8(ascii: "]"))
            }
            json.byte(UInt8(ascii: "]"))
        }
        json.member("cause", line.cause)
        json.member("trace", trace)
        end(&json, send)
    }

    /// Writes the order line that ends a part, and shows its bytes; its key is the task. The state is then what is to be
    /// committed.
    public func writeOrder(at now: Timestamp, _ send: (UnsafeRawBufferPointer) -> Void) {
        var json = begin(at: now)
        json.member("order")
        json.array(runs) { json, run in
            json.raw("[\"")
            json.raw(Array((run.topic?.rawValue ?? Self.slicesRun).utf8))
            json.raw("\",")
            json.integer(run.count)
            json.byte(UInt8(ascii: "]"))
        }
        json.raw(",\"ends\":{")
        for (index, end) in ends.enumerated() {
            json.raw(index == 0 ? "\"" : ",\"")
            json.raw(Array(end.topic.rawValue.utf8))
            json.raw("\":")
            json.integer(end.offset)
        }
        json.byte(UInt8(ascii: "}"))
        json.member("config", config)
        json.member("build", build)
        json.member("pseudonyms", pseudonyms?.mark)
        json.member("previous", Bytes(Hex.encode(state.previous)))
        json.withUnsafeBytes { digest.update($0) }
        state.previous = digest.finish()
        json.member("digest", Bytes(Hex.encode(state.previous)))
        json.byte(UInt8(ascii: "}"))
        state.next += 1
        lineCount = 0
        runs.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        json.withUnsafeBytes(send)
        swap(&json, &lent)
    }

    /// Begins a line with what all lines have.
    func begin(at now: Timestamp) -> JSONWriter {
        var json = JSONWriter(reserving: 0)
        swap(&json, &lent)
        json.removeAll()
        json.raw(head)
        json.integer(state.next)
        if moment.at != now { moment = (now, Self.json(of: now, stage)) }
        json.raw(moment.json)
        return json
    }

    /// Ends a line, and shows its bytes.
    func end(_ json: inout JSONWriter, _ send: (UnsafeRawBufferPointer) -> Void) {
        // What stands between two lines in the digest comes with the line.
        json.raw("}\n")
        state.next += 1
        lineCount += 1
        json.withUnsafeBytes { bytes in
            digest.update(bytes)
            send(UnsafeRawBufferPointer(rebasing: bytes.dropLast()))
        }
        swap(&json, &lent)
    }

    private static func json(of now: Timestamp, _ stage: StaticString) -> [UInt8] {
        var json = JSONWriter(reserving: 64)
        json.member("at", now)
        json.raw(",\"stage\":\"")
        json.raw(stage)
        json.byte(UInt8(ascii: "\""))
        return json.bytes
    }
}
