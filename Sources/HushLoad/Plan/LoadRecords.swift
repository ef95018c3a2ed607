public import HushCore
import HushWorkers

/// A record of a load test.
public struct LoadRecord: Hashable, Sendable {
    public var topic: InputTopic
    public var key: [UInt8]
    public var value: [UInt8]
}

/// Writes the records of items, and finds the items again in what comes back. Of one thread at a time.
public final class LoadRecords {
    /// The app that all devices of a load test have.
    public static let app: Bytes = "com.example.hush"

    private let mix: LoadMix
    private let prefix: [UInt8]
    private let body: [UInt8]
    private var json = JSONWriter(reserving: 1024)

    public init(_ mix: LoadMix) {
        self.mix = mix
        prefix = Array(mix.trialPrefix.utf8)
        body = (0..<mix.bodyBytes).map { UInt8(ascii: "a") + UInt8($0 % 26) }
    }

    public func recipient(_ number: Int) -> Bytes { Bytes("\(mix.run)r\(number)") }

    public func device(_ number: Int) -> Bytes { Bytes("\(mix.run)r\(number)-phone") }

    /// 32 bytes that no other recipient has, in hex.
    public func token(_ number: Int) -> Bytes {
        Bytes(Hex.encode(SHA256.digest(recipient(number).raw)))
    }

    public func id(_ index: Int) -> Bytes { Bytes("\(mix.trialPrefix)\(index)") }

    /// What the devices of a group have, and no device of another run.
    public func tag(_ group: Int) -> Bytes { Bytes("\(mix.run)g\(group)") }

    /// The item that an id belongs to; nil for what is none of this run's.
    public func index(of id: UnsafeRawBufferPointer) -> Int? {
        guard id.count > prefix.count, id.starts(with: prefix) else { return nil }
        var number = 0
        for byte in id[prefix.count...] {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9"), number < Int.max / 16 else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return number
    }

    public func register(_ number: Int) -> LoadRecord {
        json.removeAll()
        json.raw("{\"recipient\":")
        json.string(recipient(number))
        json.member("device", device(number))
        json.member("token", token(number))
        json.member("app", Self.app)
        json.raw(",\"environment\":\"production\",\"dialect\":\"hush\",\"acks\":false")
        if mix.audiences > 0 {
            json.raw(",\"tags\":[")
            json.string(tag(mix.group(of: number)))
            json.byte(UInt8(ascii: "]"))
        }
        json.byte(UInt8(ascii: "}"))
        return LoadRecord(topic: .devices, key: recipient(number).raw, value: json.bytes)
    }

    /// `created` is the time at which the sender makes it.
    public func record(_ item: LoadItem) -> LoadRecord {
        if item.kind == .audience { return audience(item) }
        let recipient = recipient(item.recipient)
        json.removeAll()
        json.raw("{\"recipient\":")
        json.string(recipient)
        json.member("id", id(item.subject))
        var topic = InputTopic.intents
        switch item.kind {
        case .create, .duplicate: show(revision: 1)
        case .update: show(revision: 2)
        case .retract: json.raw(",\"retract\":true")
        case .read:
            topic = .reads
            json.raw(",\"revision\":2")
        case .bad, .audience: break
        }
        json.byte(UInt8(ascii: "}"))
        return LoadRecord(topic: topic, key: recipient.raw, value: json.bytes)
    }

    private func audience(_ item: LoadItem) -> LoadRecord {
        let id = id(item.subject)
        json.removeAll()
        json.raw("{\"id\":")
        json.string(id)
        json.raw(",\"audience\":{\"all\":[")
        json.string(tag(item.recipient))
        json.raw("]}")
        show(revision: 1)
        json.byte(UInt8(ascii: "}"))
        return LoadRecord(topic: .intents, key: id.raw, value: json.bytes)
    }

    private func show(revision: Int) {
        json.member("revision", revision)
        json.member("title", "A parcel" as Bytes)
        json.member("body")
        body.withUnsafeBytes { json.string($0) }
        if mix.urgent { json.raw(",\"urgent\":true") }
    }
}
