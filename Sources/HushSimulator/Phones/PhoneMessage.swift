public import HushCore
import HushKit

/// What a sender or a phone's app sends: the record that ingest would publish for it, and the event that this decodes to.
public struct PhoneMessage: Hashable, Sendable {
    enum Body: Hashable, Sendable {
        case show(Workload.Show)
        case retract(recipient: Bytes, id: Bytes, revision: Int64?)
        /// Read elsewhere than on a phone.
        case read(recipient: Bytes, id: Bytes, revision: Int64)
        case register(HushRegistration, app: Bytes, dialect: Dialect)
        case unregister(HushUnregistration)
        case report(HushReport, recipient: Bytes)
        case signal(PhoneSignal)
    }

    let body: Body

    public var topic: InputTopic {
        switch body {
        case .show, .retract: .intents
        case .read, .report: .reads
        case .register, .unregister: .devices
        case .signal: .signals
        }
    }

    /// The recipient.
    public var key: Bytes {
        switch body {
        case .show(let show): show.recipient
        case .retract(let recipient, _, _), .read(let recipient, _, _), .report(_, let recipient): recipient
        case .register(let registration, _, _): registration.recipient
        case .unregister(let unregistration): unregistration.recipient
        case .signal(let signal): signal.recipient
        }
    }

    /// JSON as docs/reference has it.
    public var value: Bytes {
        switch body {
        case .show(let show): Self.json(show)
        case .retract(let recipient, let id, let revision): Self.json(retracting: id, recipient, revision)
        case .read(let recipient, let id, let revision): Self.json(reading: id, recipient, revision)
        case .register(let registration, let app, let dialect): Self.json(registration, app: app, dialect: dialect)
        case .unregister(let unregistration): Self.json(unregistration)
        case .report(let report, let recipient): Self.json(report, recipient: recipient)
        case .signal(let signal): Self.json(signal)
        }
    }

    /// The token that a registration gives an owner.
    public var registeredToken: Bytes? {
        if case .register(let registration, _, _) = body { registration.token } else { nil }
    }

    /// Whether it tells that nobody, or somebody else, is logged in by now.
    var isLogout: Bool {
        if case .unregister = body { true } else { false }
    }

    /// Whether it is a signal with a hello, which the planner answers by a line in the ledger.
    public var saysHello: Bool {
        if case .signal(let signal) = body { signal.hello != nil } else { false }
    }
}

/// A signal with what is given: acknowledgements, a hello, a reading.
struct PhoneSignal: Hashable, Sendable {
    var recipient: Bytes
    var device: Bytes
    var at: Timestamp
    var acks: [Bytes] = []
    var hello: HushHello?
    var reading: DeviceReading?
}

extension PhoneMessage {
    /// `app`, environment and dialect are the phone's own; only HushKit's apps acknowledge.
    private static func json(_ registration: HushRegistration, app: Bytes, dialect: Dialect) -> Bytes {
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
        return Bytes(json.bytes)
    }

    private static func json(_ unregistration: HushUnregistration) -> Bytes {
        var json = JSONWriter()
        json.raw("{\"recipient\":")
        json.string(unregistration.recipient)
        json.raw(",\"device\":")
        json.string(unregistration.device)
        json.raw(",\"unregister\":true,\"reason\":\"logout\"}")
        return Bytes(json.bytes)
    }

    private static func json(_ report: HushReport, recipient: Bytes) -> Bytes {
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
        return Bytes(json.bytes)
    }

    private static func json(_ signal: PhoneSignal) -> Bytes {
        var json = JSONWriter()
        json.raw("{\"recipient\":")
        json.string(signal.recipient)
        json.raw(",\"device\":")
        json.string(signal.device)
        json.raw(",\"at\":")
        json.integer(signal.at.seconds)
        if !signal.acks.isEmpty {
            json.raw(",\"acks\":[")
            for (index, ack) in signal.acks.enumerated() {
                if index > 0 { json.byte(UInt8(ascii: ",")) }
                json.string(ack)
            }
            json.byte(UInt8(ascii: "]"))
        }
        if let hello = signal.hello {
            json.raw(",\"hello\":{\"shown\":")
            write(hello.shown, into: &json)
            json.raw(",\"gone\":")
            write(hello.gone, into: &json)
            json.byte(UInt8(ascii: "}"))
        }
        if let reading = signal.reading { write(reading, into: &json) }
        json.byte(UInt8(ascii: "}"))
        return Bytes(json.bytes)
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
