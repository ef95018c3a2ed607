import HushCore

extension Workload.Event {
    /// The record of a sender's event as its topic takes it; nil for what a phone does.
    func message() -> PhoneMessage? {
        switch self {
        case .show(let show): Self.message(show)
        case .retract(let recipient, let id, let revision): Self.retract(recipient, id, revision)
        case .read(let recipient, let id, let revision, nil): Self.read(recipient, id, revision)
        default: nil
        }
    }

    private static func message(_ show: Workload.Show) -> PhoneMessage {
        var json = begin(show.recipient, show.id)
        json.raw(",\"revision\":")
        json.integer(show.revision)
        json.raw(",\"title\":")
        json.string(show.title)
        json.raw(",\"body\":")
        json.string(show.body)
        if let life = show.life {
            json.raw(",\"ttl\":")
            json.integer(life.components.seconds)
        }
        if show.mode != .silent {
            json.raw(",\"mode\":")
            json.string(show.mode.name)
        }
        if show.urgent { json.raw(",\"urgent\":true") }
        return end(json, .intents, show.recipient)
    }

    private static func retract(_ recipient: Bytes, _ id: Bytes, _ revision: Int64?) -> PhoneMessage {
        var json = begin(recipient, id)
        json.raw(",\"retract\":true")
        if let revision {
            json.raw(",\"revision\":")
            json.integer(revision)
        }
        return end(json, .intents, recipient)
    }

    private static func read(_ recipient: Bytes, _ id: Bytes, _ revision: Int64) -> PhoneMessage {
        var json = begin(recipient, id)
        json.raw(",\"revision\":")
        json.integer(revision)
        return end(json, .reads, recipient)
    }

    /// Ids that are numbers leave as numbers, as many senders write them.
    private static func begin(_ recipient: Bytes, _ id: Bytes) -> JSONWriter {
        var json = JSONWriter()
        json.raw("{\"recipient\":")
        json.string(recipient)
        json.raw(",\"id\":")
        if let number = Int64(id.text), Bytes(String(number)) == id { json.integer(number) } else { json.string(id) }
        return json
    }

    private static func end(_ json: consuming JSONWriter, _ topic: InputTopic, _ recipient: Bytes) -> PhoneMessage {
        var json = json
        json.byte(UInt8(ascii: "}"))
        return PhoneMessage(topic: topic, key: recipient, value: Bytes(json.bytes))
    }
}
