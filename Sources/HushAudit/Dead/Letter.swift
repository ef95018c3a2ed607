public import HushCore
public import HushStream
public import HushWorkers

/// A dead letter as it lies in `hush.dead`.
public struct Letter: Hashable, Sendable {
    /// What stands in the place of a value that was too large for `hush.dead`.
    public struct LostValue: Hashable, Sendable {
        public var bytes: Int
        /// SHA-256, in hex.
        public var digest: Bytes
    }

    /// Where it lies in `hush.dead`.
    public var partition: Int32
    public var offset: Int64
    /// When it died.
    public var at: Timestamp
    /// Where its record stood; nil: it is none of ours.
    public var origin: TopicPlace?
    /// When the record was appended there; the time of its death where the letter does not tell.
    public var originTime: Timestamp
    public var stage: String
    public var code: String
    public var message: String
    public var key: [UInt8]?
    public var value: [UInt8]?
    public var lost: LostValue?
    /// The record's own headers, without those of deaths and redrives.
    public var headers: [RecordHeader]
    /// Nil where it was never redriven before.
    public var history: RedriveHistory?

    public init(_ record: ReadRecord) {
        func text(_ name: String) -> String? {
            record.headers.last { $0.name == name }.map { String(decoding: $0.value, as: UTF8.self) }
        }
        partition = record.partition
        offset = record.offset
        at = Timestamp(millis: record.timeMillis)
        origin = TopicPlace(
            [DeadLetter.topicHeader, DeadLetter.partitionHeader, DeadLetter.offsetHeader]
                .map { text($0) ?? "" }.joined(separator: "/"))
        // A header is whatever its writer says; a time behind the death would make an old record a new one.
        let death = record.timeMillis
        let appended = text(DeadLetter.timeHeader).flatMap { Int64($0) }.map { min($0, death) }
        originTime = Timestamp(millis: appended ?? death)
        stage = text(DeadLetter.stageHeader) ?? ""
        code = text(DeadLetter.codeHeader) ?? ""
        message = text(DeadLetter.messageHeader) ?? ""
        key = record.key
        value = record.value
        if let bytes = text(DeadLetter.bytesHeader).flatMap({ Int($0) }), let digest = text(DeadLetter.digestHeader) {
            lost = LostValue(bytes: bytes, digest: Bytes(digest))
        }
        headers = record.headers.filter { !DeadLetter.isOurs($0.name) && !RedriveHistory.isOurs($0.name) }
        history = RedriveHistory(record.headers)
    }

    /// Whether hush wrote it: only then is there something to redrive.
    public var isOurs: Bool { origin != nil && !code.isEmpty }

    /// How often it was redriven before it died this time.
    public var attempts: Int { history?.attempts ?? 0 }

    /// As `3/17`: partition and offset in `hush.dead`.
    public var name: String { "\(partition)/\(offset)" }

    public var place: TopicPlace { TopicPlace(topic: .dead, partition: partition, offset: offset) }
}

/// What may happen to a letter next.
public enum LetterState: String, Hashable, Sendable, CaseIterable {
    /// May be redriven.
    case waiting
    /// Was sent again.
    case redriven
    /// Was redriven as often as may be, and died each time.
    case parked
    /// Was not written by hush.
    case foreign

    public init(_ letter: Letter, isRedriven: Bool, attemptsMax: Int) {
        self =
            if !letter.isOurs {
                .foreign
            } else if isRedriven {
                .redriven
            } else if letter.attempts >= attemptsMax {
                .parked
            } else {
                .waiting
            }
    }
}
