import HushBase
import HushCore
import HushStream
import HushWorkers
import Testing

@testable import HushAudit

/// One partition's books as production writes them: a planner task on state in memory, and a deliverer's book over the
/// pushes that it made. Each test then does to the ledger what it is about.
final class AuditRig {
    struct Input {
        var topic: InputTopic
        var key: [UInt8]
        var value: [UInt8]
    }

    static let start: Int64 = 1_764_583_200_000
    private static let topics: [InputTopic] = [.intents, .reads, .devices, .signals, .fanout]

    /// By input topic, in the order of their offsets.
    private(set) var inputs: [[Input]] = AuditRig.topics.map { _ in [] }
    var ledger: [[UInt8]] = []
    private(set) var pushes: [(key: [UInt8], value: [UInt8])] = []
    /// From which offset of `hush.pushes` on records are there.
    var pushesFirst: Int64 = 0
    private let stream = PlannerConfiguration.stream(slotName: "t", partitionCount: 1, pushesPartitionCount: 1)
    private let memory: InMemoryTask
    private let task: PlannerTask
    private let book = LedgerBook(task: "deliver-0", stage: .deliver, config: "c", build: "test")
    private let reader = PushRecordReader()
    private var delivered = 0
    private var devices: [Bytes: Bytes] = [:]
    private var millis = AuditRig.start

    init() throws {
        memory = InMemoryTask(stream)
        task = PlannerApplication(PlannerConfiguration(build: "test")).makeTask(partition: 0)
        try task.restored(memory.context)
    }

    /// Gives a record to the planner.
    func publish(_ topic: InputTopic, _ value: String, key: String = "ada") throws {
        millis += 1000
        let input = Input(topic: topic, key: Array(key.utf8), value: Array(value.utf8))
        try memory.process(
            task, input: Int(topic.rawValue), offset: Int64(inputs[Int(topic.rawValue)].count), appendMillis: millis,
            key: input.key, value: input.value)
        inputs[Int(topic.rawValue)].append(input)
    }

    /// Adds a record that the planner has not come to.
    func leave(_ topic: InputTopic, _ value: String, key: String = "ada") {
        inputs[Int(topic.rawValue)].append(Input(topic: topic, key: Array(key.utf8), value: Array(value.utf8)))
    }

    func commit() throws {
        for sent in try memory.commit(task) {
            switch stream.outputs[sent.output].topic {
            case Topic.ledger.name: ledger.append(sent.value ?? [])
            case Topic.pushes.name: pushes.append((sent.key ?? [], sent.value ?? []))
            default: break
            }
        }
    }

    /// Ends ops of pushes that came since, all alike, but for the first `pending`.
    func deliver(_ outcome: DeliveryOutcome = .accepted, pending: Int = 0, isNameless: Bool = false) throws {
        var skipped = 0
        let now = Timestamp(millis: millis + 500)
        for (offset, push) in pushes.enumerated().dropFirst(delivered) {
            let address = Bytes(push.key)
            var (owner, parts): (Bytes, [DeliveryLine.Part]) = ("", [])
            switch try push.value.withUnsafeBytes({ try reader.read($0) }) {
            case .bind(let binding, _, let cause):
                devices[address] = binding.device
                owner = binding.owner
                parts = [
                    .init(op: OpID(partition: 0, offset: Int64(offset), index: 0), kind: .bind, id: nil, cause: cause)
                ]
            case .ops(let name, let ops, let cause):
                owner = name
                parts = ops.enumerated().map { index, op in
                    .init(
                        op: OpID(partition: 0, offset: Int64(offset), index: Int32(index)), kind: op.kind, id: op.id,
                        cause: cause)
                }
            case .unbind, .signal: continue
            }
            if skipped < pending {
                skipped += 1
                continue
            }
            book.took(.pushes, offset: Int64(offset))
            book.write(
                DeliveryLine(
                    outcome, recipient: owner, device: isNameless ? nil : devices[address], ops: parts), at: now
            ) { ledger.append(Array($0)) }
        }
        delivered = pushes.count
        if book.isOpen { book.writeOrder(at: now) { ledger.append(Array($0)) } }
    }

    /// What a plain day holds: two devices, intents, an update, a read, a retract, a repeat, a hello, what cannot be
    /// read.
    func playDay() throws {
        for (device, token) in [("phone", "aa01"), ("pad", "aa02")] {
            try publish(
                .devices, #"{"recipient":"ada","device":"\#(device)","token":"\#(token)","app":"com.example.hush"}"#)
        }
        try publish(.intents, #"{"id":"one","recipient":"ada","title":"a"}"#)
        try publish(.intents, #"{"id":"two","recipient":"ada","title":"b"}"#)
        try commit()
        try deliver()
        try publish(.intents, #"{"id":"one","recipient":"ada","revision":2,"title":"c"}"#)
        try publish(.intents, #"{"id":"two","recipient":"ada","title":"b"}"#)
        try publish(.reads, #"{"recipient":"ada","ids":["one",42,"one"]}"#)
        try publish(.intents, #"{"id":"two","recipient":"ada","retract":true}"#)
        try publish(.intents, "no json")
        try publish(.signals, #"{"recipient":"ada","device":"phone","battery":0.5}"#)
        try publish(.signals, #"{"recipient":"ada","device":"phone","hello":{"shown":[["old",1]],"gone":[]}}"#)
        try commit()
        try deliver()
    }

    /// Audits what is there; `edit` changes the surroundings.
    func audit(
        spans: [AuditBooks.Span]? = nil, rows: AuditDatabase? = nil,
        _ edit: (inout AuditBooks.Surroundings) -> Void = { _ in }
    ) throws -> AuditReport {
        let all = Self.topics.map { AuditBooks.Span($0, 0, start: 0, end: Int64(inputs[Int($0.rawValue)].count)) }
        var surroundings = AuditBooks.Surroundings(ledgerPartitions: 1)
        surroundings.pushesFirst = [pushesFirst]
        edit(&surroundings)
        var random = SplitMix64(seed: 7)
        let books = try AuditBooks(spans: spans ?? all, surroundings, random: &random)
        books.rows = rows
        for topic in Self.topics {
            for (offset, input) in inputs[Int(topic.rawValue)].enumerated() {
                Self.show(offset, input.key, input.value) { books.takeInput(topic, $0) }
            }
        }
        for (offset, line) in ledger.enumerated() { Self.show(offset, [], line) { books.takeLine($0) } }
        for (offset, push) in pushes.enumerated() where offset >= pushesFirst {
            Self.show(offset, push.key, push.value) { books.takePush($0) }
        }
        return books.close(pushesRead: [Int64(pushes.count)])
    }

    static func show(
        _ offset: Int, _ key: [UInt8], _ value: [UInt8]?, partition: Int32 = 0, headers: [RecordHeader] = [],
        _ body: (InputRecord) -> Void
    ) {
        key.withUnsafeBytes { key in
            (value ?? []).withUnsafeBytes { bytes in
                body(
                    InputRecord(
                        input: 0, partition: partition, offset: Int64(offset),
                        appendTimeMillis: start + Int64(offset) * 1000,
                        key: key, value: value == nil ? nil : bytes, headers: InputHeaders(headers)))
            }
        }
    }

    /// The index of the first ledger line that holds these words.
    func line(_ words: String) throws -> Int {
        try #require(ledger.firstIndex { String(decoding: $0, as: UTF8.self).contains(words) }, "no line has \(words)")
    }

    func replace(_ words: String, _ other: String, at index: Int) {
        ledger[index] = Array(String(decoding: ledger[index], as: UTF8.self).replacing(words, with: other).utf8)
    }
}

extension AuditReport {
    /// Code and place of each violation.
    var told: [String] { violations.map { "\($0.code.rawValue) \($0.place)" } }
}
