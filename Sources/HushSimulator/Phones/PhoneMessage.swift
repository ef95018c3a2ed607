public import HushCore
import HushKit

/// What a phone's app sends, as the record that ingest would publish for it.
public struct PhoneMessage: Hashable, Sendable {
    public var topic: InputTopic
    /// The recipient.
    public var key: Bytes
    /// JSON as docs/reference has it.
    public var value: Bytes
    /// Whether it is a signal with a hello, which the planner answers by a line in the ledger.
    public var saysHello = false

    /// `app`, environment and dialect are the phone's own; only HushKit's apps acknowledge.
    static func register(_ registration: HushRegistration, app: Bytes, dialect: Dialect) -> PhoneMessage {
        var json = JSONWriter()
        json.raw("{\"recipient\":")
        json.string(registration.recipient)
        json.raw(",\"device\":")
        json.string(registration.device)
        json.raw(",\"token\":")
        json.string(registration.token)
        json.raw(",\"app\":")
        json.string(app)
        json.raw(",\"environment\":\"production\",\"dialect\":")
        json.string(dialect.name)
        json.raw(",\"acks\":")
        json.boolean(dialect == .hush)
        if dialect == .hush {
            json.raw(",\"install\":")
            json.string(registration.install)
            json.raw(",\"fresh\":")
            json.boolean(registration.fresh)
        }
        json.byte(UInt8(ascii: "}"))
        return PhoneMessage(topic: .devices, key: registration.recipient, value: Bytes(json.bytes))
    }

    static func unregister(_ unregistration: HushUnregistration) -> PhoneMessage {
        var json = JSONWriter()
        json.raw("{\"recipient\":")
        json.string(unregistration.recipient)
        json.raw(",\"device\":")
        json.string(unregistration.device)
        json.raw(",\"unregister\":true,\"reason\":\"logout\"}")
        return PhoneMessage(topic: .devices, key: unregistration.recipient, value: Bytes(json.bytes))
    }

    static func report(_ report: HushReport, recipient: Bytes) -> PhoneMessage {
        var json = JSONWriter()
        json.raw("{\"recipient\":")
        json.string(recipient)
        json.raw(",\"id\":")
        json.string(report.id)
        if let revision = report.revision {
            json.raw(",\"revision\":")
            json.integer(revision)
        }
        json.raw(",\"device\":")
        json.string(report.device)
        json.raw(",\"install\":")
        json.string(report.install)
        json.raw(report.kind == .read ? ",\"kind\":\"read\"}" : ",\"kind\":\"dismissed\"}")
        return PhoneMessage(topic: .reads, key: recipient, value: Bytes(json.bytes))
    }

    /// A signal with what is given: acknowledgements, a hello, a reading.
    static func signal(
        recipient: Bytes, device: Bytes, at: Timestamp, acks: [Bytes] = [], hello: HushHello? = nil,
        reading: DeviceReading? = nil
    ) -> PhoneMessage {
        var json = JSONWriter()
        json.raw("{\"recipient\":")
        json.string(recipient)
        json.raw(",\"device\":")
        json.string(device)
        json.raw(",\"at\":")
        json.integer(at.seconds)
        if !acks.isEmpty {
            json.raw(",\"acks\":[")
            for (index, ack) in acks.enumerated() {
                if index > 0 { json.byte(UInt8(ascii: ",")) }
                json.string(ack)
            }
            json.byte(UInt8(ascii: "]"))
        }
        if let hello {
            json.raw(",\"hello\":{\"shown\":")
            write(hello.shown, into: &json)
            json.raw(",\"gone\":")
            write(hello.gone, into: &json)
            json.byte(UInt8(ascii: "}"))
        }
        if let reading { write(reading, into: &json) }
        json.byte(UInt8(ascii: "}"))
        return PhoneMessage(
            topic: .signals, key: recipient, value: Bytes(json.bytes), saysHello: hello != nil)
    }

    private static func write(_ entries: [HushHello.Entry], into json: inout JSONWriter) {
        json.byte(UInt8(ascii: "["))
        for (index, entry) in entries.enumerated() {
            json.raw(index > 0 ? ",[" : "[")
            json.string(entry.id)
            json.byte(UInt8(ascii: ","))
            json.integer(entry.revision)
            json.byte(UInt8(ascii: "]"))
        }
        json.byte(UInt8(ascii: "]"))
    }

    private static func write(_ reading: DeviceReading, into json: inout JSONWriter) {
        if let battery = reading.battery {
            json.raw(",\"battery\":")
            json.raw(Array("\(battery)".utf8))
        }
        if let charging = reading.charging {
            json.raw(",\"charging\":")
            json.boolean(charging)
        }
        if let notBefore = reading.notBefore {
            json.raw(",\"not_before\":")
            json.integer(notBefore.seconds)
        }
    }
}
