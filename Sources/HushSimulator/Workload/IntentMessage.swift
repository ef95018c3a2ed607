import HushCore

extension Workload.Event {
    /// What a sender publishes; nil for what a phone does.
    func message() -> PhoneMessage? {
        switch self {
        case .show(let show): PhoneMessage(body: .show(show))
        case .retract(let recipient, let id, let revision):
            PhoneMessage(body: .retract(recipient: recipient, id: id, revision: revision))
        case .read(let recipient, let id, let revision, nil):
            PhoneMessage(body: .read(recipient: recipient, id: id, revision: revision))
        default: nil
        }
    }
}

extension PhoneMessage {
    static func json(_ show: Workload.Show) -> Bytes {
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
        return end(json)
    }

    static func json(retracting id: Bytes, _ recipient: Bytes, _ revision: Int64?) -> Bytes {
        var json = begin(recipient, id)
        json.raw(",\"retract\":true")
        if let revision {
            json.raw(",\"revision\":")
            json.integer(revision)
        }
        return end(json)
    }

    static func json(reading id: Bytes, _ recipient: Bytes, _ revision: Int64) -> Bytes {
        var json = begin(recipient, id)
        json.raw(",\"revision\":")
        json.integer(revision)
        return end(json)
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

    private static func end(_ json: consuming JSONWriter) -> Bytes {
        var json = json
        json.byte(UInt8(ascii: "}"))
        return Bytes(json.bytes)
    }
}
