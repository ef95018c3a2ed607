public import HushCore
public import HushStream

/// A record as `hush publish` sends it.
public struct PreparedRecord: Hashable, Sendable {
    /// The recipient; of an intent for an audience its id.
    public var key: [UInt8]
    public var value: [UInt8]
    public var headers: [RecordHeader]
    /// What a registration registers; nil for all else.
    public var token: Bytes?
}

/// Turns a line of JSON into a record: checked by the planner's own decoder, keyed by its recipient, and a CloudEvent in
/// binary mode.
///
/// Of one thread at a time.
public final class RecordPreparation {
    private let topic: InputTopic
    private let source: String
    private let decoder = InputDecoder()
    private let document = JSONDocument()
    private var json = JSONWriter(reserving: 1024)

    /// `source` becomes `ce_source`: who publishes.
    public init(topic: InputTopic, source: String = "hush/publish") {
        self.topic = topic
        self.source = source
    }

    /// Prepares one line. An intent without `created` gets the time at hand, so that a topic replayed weeks later
    /// notifies nobody again; `eventID` becomes `ce_id` and must be new for each record.
    ///
    /// - Throws: the reason for which the planner would give the record up.
    public func prepare(
        _ line: UnsafeRawBufferPointer, eventID: String, now: Timestamp
    ) throws(DeadReason) -> PreparedRecord {
        let event = try decoder.decode(InputMessage(topic: topic, key: nil, value: line)).event
        let root: JSONValue
        do throws(JSONFault) {
            root = try document.parse(line)
        } catch {
            throw DeadReason(error)
        }
        write(root, now)
        return PreparedRecord(
            key: event.recipient.raw, value: json.bytes, headers: headers(event, eventID: eventID, now: now),
            token: event.token)
    }

    /// The line minified, with `created` for an intent that has none.
    private func write(_ root: JSONValue, _ now: Timestamp) {
        json.removeAll()
        json.byte(UInt8(ascii: "{"))
        let addsCreated = topic == .intents && root["created"]?.isNull ?? true
        for member in root.children where !(addsCreated && member.isNamed("created")) {
            if json.count > 1 { json.byte(UInt8(ascii: ",")) }
            json.string(member.key)
            json.byte(UInt8(ascii: ":"))
            json.value(member)
        }
        if addsCreated { json.member("created", now) }
        json.byte(UInt8(ascii: "}"))
    }

    private func headers(_ event: PlannerEvent, eventID: String, now: Timestamp) -> [RecordHeader] {
        func header(_ name: String, _ value: Bytes) -> RecordHeader { RecordHeader(name: name, value: value.raw) }
        var time = JSONWriter(reserving: 32)
        time.time(now)
        var headers = [
            header("content-type", "application/json"), header("ce_specversion", "1.0"),
            header("ce_id", Bytes(eventID)),
            header("ce_source", Bytes(source)), header("ce_type", event.cloudEventType),
            header("ce_time", Bytes(Array(time.bytes.dropFirst().dropLast()))),
        ]
        if let subject = event.subject { headers.append(header("ce_subject", subject)) }
        return headers
    }
}

extension PlannerEvent {
    /// `ce_type` of what we write.
    var cloudEventType: Bytes {
        switch self {
        case .intent, .audience: "hush.intent"
        case .read: "hush.read"
        case .register: "hush.device.register"
        case .unregister: "hush.device.unregister"
        case .signal: "hush.signal"
        }
    }

    /// The token that the event gives an owner.
    fileprivate var token: Bytes? {
        if case .register(let registration) = self { registration.token } else { nil }
    }

    /// What the event is about, apart from its recipient; nil for a read of several ids.
    var subject: Bytes? {
        switch self {
        case .intent(let intent): intent.id
        case .read(let read): read.ids.count == 1 ? read.ids[0] : nil
        case .register(let registration): registration.device
        case .unregister(let unregistration): unregistration.device
        case .signal(let signal): signal.device
        case .audience(let addressed): addressed.intent.id
        }
    }
}
