public import HushCore

/// A place in a topic of any name.
public struct TopicPlace: Hashable, Sendable, CustomStringConvertible {
    public var topic: Topic
    public var partition: Int32
    public var offset: Int64

    public init(topic: Topic, partition: Int32, offset: Int64) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
    }

    /// As `hush.intents/3/1201`.
    public var description: String { "\(topic.name)/\(partition)/\(offset)" }

    /// Reads the written form; nil where the text is not one.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let topic = Topic(rawValue: String(parts[0])),
            let partition = Int32(parts[1]), partition >= 0, let offset = Int64(parts[2]), offset >= 0
        else { return nil }
        self.init(topic: topic, partition: partition, offset: offset)
    }
}

/// One redrive line: a dead letter that was sent again.
public struct RedriveLine: Hashable, Sendable {
    public var recipient: Bytes
    /// The notification, where the record can be read now.
    public var id: Bytes?
    public var code: Bytes
    /// Which redrive of this record it is, from 1.
    public var attempt: Int
    /// SHA-256 of the value that was sent, in hex, where it is not the dead letter's own.
    public var mended: Bytes?
    /// The dead letter.
    public var letter: TopicPlace
    /// Where the record stood when it died.
    public var origin: TopicPlace
    /// Where it stands now.
    public var to: TopicPlace
    public var run: Bytes

    public init(
        recipient: Bytes, id: Bytes?, code: Bytes, attempt: Int, mended: Bytes?, letter: TopicPlace,
        origin: TopicPlace, to: TopicPlace, run: Bytes
    ) {
        self.recipient = recipient
        self.id = id
        self.code = code
        self.attempt = attempt
        self.mended = mended
        self.letter = letter
        self.origin = origin
        self.to = to
        self.run = run
    }
}

extension LedgerBook {
    /// The stage of redrive lines.
    public static let redriveStage: StaticString = "redrive"
    /// The one task that redrives: its lines stand in partition 0.
    public static let redriveTask: Bytes = "redrive-0"

    /// Writes a redrive line and shows its bytes; its key is the recipient as `shown`.
    public func write(_ line: RedriveLine, at now: Timestamp, _ send: (UnsafeRawBufferPointer) -> Void) {
        var json = begin(at: now)
        json.raw(",\"action\":\"redriven\"")
        if !line.recipient.isEmpty { json.member("recipient", shown(recipient: line.recipient)) }
        json.member("id", line.id)
        json.member("code", line.code)
        json.member("attempt", line.attempt)
        json.member("mended", line.mended)
        json.member("letter", line.letter)
        json.member("origin", line.origin)
        json.member("to", line.to)
        json.member("run", line.run)
        end(&json, send)
    }
}

extension JSONWriter {
    /// `{"topic":…,"partition":…,"offset":…}` under a name.
    package mutating func member(_ name: StaticString, _ place: TopicPlace) {
        member(name)
        raw("{\"topic\":")
        string(Bytes(place.topic.name))
        member("partition", place.partition)
        member("offset", place.offset)
        byte(UInt8(ascii: "}"))
    }
}
