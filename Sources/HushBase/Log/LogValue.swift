/// How much a log line matters; lines below a log's level are not written.
public enum LogLevel: String, CaseIterable, Comparable, Sendable {
    case debug
    case info
    case warn
    case error

    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warn: 2
        case .error: 3
        }
    }
}

/// The value of a log line's field, as JSON has them.
public enum LogValue: Hashable, Sendable {
    case text(String)
    case integer(Int64)
    case number(Double)
    case flag(Bool)

    public init(_ text: String) { self = .text(text) }
    public init(_ integer: some BinaryInteger) { self = .integer(Int64(clamping: integer)) }
    /// In seconds, so its field's name ends in `_seconds`.
    public init(_ duration: Duration) { self = .number(duration.inSeconds) }
    /// An error's description.
    public init(_ error: any Error) { self = .text("\(error)") }
}

extension LogValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) { self = .text(text) }
}

extension LogValue: ExpressibleByIntegerLiteral {
    public init(integerLiteral integer: Int64) { self = .integer(integer) }
}

extension LogValue: ExpressibleByBooleanLiteral {
    public init(booleanLiteral flag: Bool) { self = .flag(flag) }
}

/// One line, before it has a form.
public struct LogEntry: Sendable {
    public var timeMillis: Int64
    public var level: LogLevel
    public var component: String
    public var message: String
    public var fields: [(name: String, value: LogValue)]
}
