import HushBase
public import HushCore
public import HushStream
public import HushWorkers

/// What a record carries that was redriven: where and why it died first and last, and how often it was sent again.
///
/// It travels in headers, so a record that dies again brings its story along.
public struct RedriveHistory: Hashable, Sendable {
    /// Where the record stood when it died first.
    public var origin: TopicPlace
    public var attempts: Int
    public var firstAt: Timestamp
    public var firstCode: String
    /// The death before the last redrive.
    public var lastAt: Timestamp
    public var lastCode: String
    /// Which run sent it.
    public var run: String

    static let prefix = "hush.redrive."
    static let originHeader = "\(originName)"
    static let attemptsHeader = "hush.redrive.attempts"
    static let firstTimeHeader = "hush.redrive.first.time"
    static let firstCodeHeader = "hush.redrive.first.code"
    static let lastTimeHeader = "hush.redrive.last.time"
    static let lastCodeHeader = "hush.redrive.last.code"
    static let runHeader = "hush.redrive.run"

    static func isOurs(_ name: String) -> Bool { name.hasPrefix(prefix) }

    private static let originName: StaticString = "hush.redrive.origin"

    /// Whether a record was redriven: it stands a second time where its first form may still be. Costs nothing but a
    /// look where it has no headers.
    static func isCarried(by headers: InputHeaders) -> Bool {
        !headers.isEmpty && headers.withValue(of: originName) { $0 != nil }
    }

    /// The history of a letter that is now sent again.
    public init(of letter: Letter, from origin: TopicPlace, run: String) {
        self.origin = letter.history?.origin ?? origin
        attempts = letter.attempts + 1
        firstAt = letter.history?.firstAt ?? letter.at
        firstCode = letter.history?.firstCode ?? letter.code
        lastAt = letter.at
        lastCode = letter.code
        self.run = run
    }

    /// Reads it from headers; nil where they do not tell all of it.
    public init?(_ headers: [RecordHeader]) {
        func text(_ name: String) -> String? {
            headers.last { $0.name == name }.map { String(decoding: $0.value, as: UTF8.self) }
        }
        func time(_ name: String) -> Timestamp? { text(name).flatMap { Timestamp(rfc3339: Bytes($0)) } }
        guard let origin = text(Self.originHeader).flatMap({ TopicPlace($0) }),
            let attempts = text(Self.attemptsHeader).flatMap({ Int($0) }), attempts > 0,
            let firstAt = time(Self.firstTimeHeader), let firstCode = text(Self.firstCodeHeader),
            let lastAt = time(Self.lastTimeHeader), let lastCode = text(Self.lastCodeHeader)
        else { return nil }
        self.origin = origin
        self.attempts = attempts
        self.firstAt = firstAt
        self.firstCode = firstCode
        self.lastAt = lastAt
        self.lastCode = lastCode
        run = text(Self.runHeader) ?? ""
    }

    public var headers: [RecordHeader] {
        func header(_ name: String, _ text: String) -> RecordHeader {
            RecordHeader(name: name, value: Array(text.utf8))
        }
        return [
            header(Self.originHeader, "\(origin)"), header(Self.attemptsHeader, "\(attempts)"),
            header(Self.firstTimeHeader, firstAt.rfc3339), header(Self.firstCodeHeader, firstCode),
            header(Self.lastTimeHeader, lastAt.rfc3339), header(Self.lastCodeHeader, lastCode),
            header(Self.runHeader, run),
        ]
    }
}

extension Timestamp {
    /// RFC 3339 with milliseconds, UTC.
    var rfc3339: String { RFC3339.text(millis: millis) }
}
