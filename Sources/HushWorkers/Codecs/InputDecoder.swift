public import HushCore

/// A record of a planner input as it lies in the fetch buffer.
public struct InputMessage {
    public var topic: InputTopic
    public var key: UnsafeRawBufferPointer?
    public var value: UnsafeRawBufferPointer?
    /// The header `content-type`.
    public var contentType: UnsafeRawBufferPointer?
    /// The header `ce_time` of a CloudEvent in binary mode.
    public var eventTime: UnsafeRawBufferPointer?

    public init(
        topic: InputTopic, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
        contentType: UnsafeRawBufferPointer? = nil, eventTime: UnsafeRawBufferPointer? = nil
    ) {
        self.topic = topic
        self.key = key
        self.value = value
        self.contentType = contentType
        self.eventTime = eventTime
    }
}

/// What a record says.
public struct DecodedInput: Hashable, Sendable {
    public var event: PlannerEvent
    /// Whether the record's key is the recipient; where not, the record may stand in a foreign partition.
    public var isKeyedByRecipient: Bool

    public init(event: PlannerEvent, isKeyedByRecipient: Bool) {
        self.event = event
        self.isKeyedByRecipient = isKeyedByRecipient
    }
}

/// Reads the records of the planner's inputs; docs/reference/records.md is their definition.
///
/// Of one thread at a time: it keeps the parser's memory and its buffers. A value is bare JSON, a CloudEvent in binary or
/// structured mode, or either behind the five bytes of Confluent's wire format.
public final class InputDecoder {
    private let document = JSONDocument()
    private var content = ContentWriter()
    private let intentFields = FieldTable<IntentField>()
    private let readFields = FieldTable<ReadField>()
    private let deviceFields = FieldTable<DeviceField>()
    private let signalFields = FieldTable<SignalField>()

    public init() {}

    /// Decodes one record: an event, or the reason for its dead letter.
    ///
    /// - Complexity: linear in the value; no `String` is made where the record is good.
    public func decode(_ message: InputMessage) throws(DeadReason) -> DecodedInput {
        let envelope = try open(message)
        let event: PlannerEvent
        switch message.topic {
        case .intents:
            event = try IntentReader.read(envelope, intentFields, &content)
        case .reads:
            event = .read(try ReadReader.read(envelope, readFields))
        case .devices:
            event = try DeviceReader.read(envelope, deviceFields)
        case .signals:
            event = .signal(try SignalReader.read(envelope, signalFields))
        case .fanout:
            event = try IntentReader.read(envelope, intentFields, &content)
            guard case .audience = event else { throw missing("audience") }
        }
        let isKeyed = message.key.map(event.recipient.isEqual) ?? false
        return DecodedInput(event: event, isKeyedByRecipient: isKeyed)
    }

    /// Finds the data of a record: the value itself, or the `data` of a structured CloudEvent.
    private func open(_ message: InputMessage) throws(DeadReason) -> Envelope {
        guard var value = message.value, value.count > 0 else { throw DeadReason(.noValue, "the record has no value") }
        if value.count > Self.schemaPrefixBytes, value[0] == 0 {
            value = UnsafeRawBufferPointer(rebasing: value[Self.schemaPrefixBytes...])
        }
        let root = try parse(value)
        guard Self.isStructured(message, root) else {
            return Envelope(data: root, key: message.key, time: message.eventTime)
        }
        guard let version = root["specversion"], version.text.elementsEqual("1.0".utf8) else {
            throw DeadReason(.badEnvelope, "the structured CloudEvent is not of specversion 1.0")
        }
        guard let data = root["data"], case .object = data.kind else {
            throw DeadReason(.badEnvelope, "the structured CloudEvent carries no JSON object in \"data\"")
        }
        return Envelope(data: data, key: message.key, time: root["time"]?.text)
    }

    private func parse(_ value: UnsafeRawBufferPointer) throws(DeadReason) -> JSONValue {
        do {
            return try document.parse(value)
        } catch {
            throw DeadReason(error)
        }
    }

    /// A zero byte, and the schema's number in four.
    private static let schemaPrefixBytes = 5

    /// A structured event has a content type of the CloudEvents family, whatever its letters' case and parameters. Some
    /// SDKs write the data's content type or none; then the envelope shows by its own fields.
    private static func isStructured(_ message: InputMessage, _ root: JSONValue) -> Bool {
        let family = "application/cloudevents".utf8
        if let type = message.contentType, type.count >= family.count,
            zip(type, family).allSatisfy({ $0 | 0x20 == $1 | 0x20 })
        {
            return true
        }
        guard message.eventTime == nil, let version = root["specversion"], case .string = version.kind,
            let data = root["data"], case .object = data.kind
        else { return false }
        return true
    }
}

extension DeadReason {
    /// The dead letter of a value that does not parse.
    init(_ fault: JSONFault) {
        switch fault {
        case .empty: self.init(.noValue, "the value is empty")
        case .tooLong: self.init(.tooLarge, "the value exceeds \(JSONDocument.bytesMax) bytes")
        case .tooDeep: self.init(.tooDeep, "the value nests deeper than \(JSONDocument.depthMax) levels")
        case .notUTF8: self.init(.notUTF8, "the value is not valid UTF-8")
        case .notObject: self.init(.notObject, "the value is JSON but no object")
        case .number: self.init(.notJSON, "the value holds a number that is malformed or beyond 64 bits")
        case .syntax: self.init(.notJSON, "the value is not JSON")
        case .noMemory: self.init(.tooLarge, "the value does not fit the memory at hand")
        }
    }
}

/// The data of a record, and what its surroundings add.
struct Envelope {
    var data: JSONValue
    var key: UnsafeRawBufferPointer?
    var time: UnsafeRawBufferPointer?

    /// The recipient of the data, else the record's key.
    func recipient(_ given: Bytes?) throws(DeadReason) -> Bytes {
        if let given { return given }
        guard let key, key.count > 0 else { throw missing("recipient") }
        guard key.count <= InputLimits.idBytesMax else {
            throw DeadReason(
                .badField, "the key, which stands for the recipient, exceeds \(InputLimits.idBytesMax) bytes")
        }
        let recipient = Bytes(copying: key)
        guard UTF8Check.isValid(recipient) else {
            throw DeadReason(.notUTF8, "the key, which stands for the recipient, is not valid UTF-8")
        }
        return recipient
    }
}

extension PlannerEvent {
    /// Whom the event is about: what its record is keyed by; for an audience its id.
    public var recipient: Bytes {
        switch self {
        case .intent(let intent): intent.recipient
        case .read(let read): read.recipient
        case .register(let registration): registration.recipient
        case .unregister(let unregistration): unregistration.recipient
        case .signal(let signal): signal.recipient
        case .audience(let addressed): addressed.intent.id
        }
    }
}

enum UTF8Check {
    /// Whether bytes that no parser has seen are UTF-8.
    static func isValid(_ bytes: Bytes) -> Bool {
        String(validating: bytes.raw, as: UTF8.self) != nil
    }
}
