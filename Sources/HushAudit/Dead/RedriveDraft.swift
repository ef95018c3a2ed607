public import HushCore
public import HushStream
public import HushWorkers

/// A letter as it is sent again. A function of the letter, and of a value that replaces its own where one is given.
public struct RedriveDraft: Hashable, Sendable {
    public var letter: Letter
    public var origin: TopicPlace
    /// Nil: by its key.
    public var partition: Int32?
    public var key: [UInt8]?
    public var value: [UInt8]?
    public var headers: [RecordHeader]
    public var isMended: Bool
    public var recipient: Bytes
    public var id: Bytes?
    /// The intent, where it is one that can be read now.
    public var intent: Intent?
    /// When the record was first appended, which an intent counts from where it does not say when it was created.
    public var firstAppended: Timestamp
    /// Why it would die again if this very version read it; nil where it would not, or nobody can tell.
    public var again: DeadReason?

    /// How many bytes its record takes.
    public var size: Int {
        headers.reduce((key?.count ?? 0) + (value?.count ?? 0)) { $0 + $1.name.utf8.count + $1.value.count }
    }
}

/// Makes drafts. Of one thread at a time: it keeps a decoder.
public final class RedriveDrafter {
    private let decoder = InputDecoder()
    /// By topic, for the partitions that recipients live in.
    private let partitionCounts: [Topic: Int32]
    private let run: String

    public init(partitionCounts: [Topic: Int32], run: String) {
        self.partitionCounts = partitionCounts
        self.run = run
    }

    /// The draft of a letter that hush wrote. `value` is what is sent: the letter's own, the one read where it died,
    /// or a mended one.
    public func draft(_ letter: Letter, origin: TopicPlace, value: [UInt8]?, isMended: Bool) -> RedriveDraft {
        var headers = letter.headers
        let input = InputTopic.allCases.first { $0.topic == origin.topic }
        if input != nil { headers += Self.originHeaders(letter, origin) }
        headers += RedriveHistory(of: letter, from: origin, run: run).headers
        let key = letter.key.map { Bytes($0) } ?? Bytes([])
        let isText = String(validating: key.raw, as: UTF8.self) != nil
        var draft = RedriveDraft(
            letter: letter, origin: origin, key: letter.key, value: value, headers: headers, isMended: isMended,
            recipient: isText ? key : Bytes([]), firstAppended: Self.firstAppended(letter))
        draft.partition = letter.key == nil || origin.topic == .fanout ? origin.partition : nil
        guard let input else { return draft }
        switch decode(input, letter.key, value, headers) {
        case .failure(let reason): draft.again = reason
        case .success(let event):
            draft.recipient = event.recipient
            switch event {
            case .intent(let intent):
                draft.id = intent.id
                draft.intent = intent
            case .audience(let addressed): draft.intent = addressed.intent
            default: break
            }
            if origin.topic != .fanout, let count = partitionCounts[origin.topic] {
                draft.partition = Murmur2.partition(of: event.recipient.raw, count: count)
            }
        }
        return draft
    }

    /// A register counts from when it was first appended, not from when it was redriven: an old one must not take the
    /// place of a newer one. A record that was moved says so already.
    private static func originHeaders(_ letter: Letter, _ origin: TopicPlace) -> [RecordHeader] {
        func header(_ name: StaticString, _ number: some BinaryInteger) -> RecordHeader {
            RecordHeader(name: "\(name)", value: Array("\(number)".utf8))
        }
        let known = letter.headers.contains { $0.name == "\(RecordOrigin.timeHeader)" }
        if known { return [] }
        return [
            header(RecordOrigin.partitionHeader, origin.partition), header(RecordOrigin.offsetHeader, origin.offset),
            header(RecordOrigin.timeHeader, letter.originTime.millis),
        ]
    }

    /// As the planner takes it from these headers: never later than the letter's own record.
    private static func firstAppended(_ letter: Letter) -> Timestamp {
        let told = letter.headers.last { $0.name == "\(RecordOrigin.timeHeader)" }
            .flatMap { Int64(String(decoding: $0.value, as: UTF8.self)) }
        return min(told.map { Timestamp(millis: $0) } ?? letter.originTime, letter.originTime)
    }

    private func decode(
        _ input: InputTopic, _ key: [UInt8]?, _ value: [UInt8]?, _ headers: [RecordHeader]
    ) -> Result<PlannerEvent, DeadReason> {
        func memory(_ bytes: [UInt8]?, _ body: (UnsafeRawBufferPointer?) -> Result<PlannerEvent, DeadReason>)
            -> Result<PlannerEvent, DeadReason>
        {
            guard let bytes else { return body(nil) }
            return bytes.withUnsafeBytes { body($0) }
        }
        func header(_ name: String) -> [UInt8]? { headers.last { $0.name == name }?.value }
        return memory(key) { key in
            memory(value) { value in
                memory(header("content-type")) { type in
                    memory(header("ce_time")) { time in
                        do throws(DeadReason) {
                            let message = InputMessage(
                                topic: input, key: key, value: value, contentType: type, eventTime: time)
                            return .success(try decoder.decode(message).event)
                        } catch {
                            return .failure(error)
                        }
                    }
                }
            }
        }
    }
}
