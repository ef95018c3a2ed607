/// Writes log lines for one component. Copy it freely; all copies share their sink.
///
/// Messages are fixed texts and what varies goes into fields, so that lines can be searched for, counted and held back.
/// Never log a token, a content or a key.
public struct Log: Sendable {
    private let sink: LogSink
    private let component: String

    public init(_ component: String, to sink: LogSink) {
        self.component = component
        self.sink = sink
    }

    /// The same sink under another component's name.
    public func named(_ component: String) -> Log {
        Log(component, to: sink)
    }

    /// A log that drops everything, for tests and for callers that want none.
    public static let silent = Log("", to: LogSink(level: .error, format: .json) { _ in })

    public func debug(_ message: StaticString, _ fields: KeyValuePairs<String, LogValue> = [:]) {
        write(.debug, message, fields)
    }

    public func info(_ message: StaticString, _ fields: KeyValuePairs<String, LogValue> = [:]) {
        write(.info, message, fields)
    }

    public func warn(_ message: StaticString, _ fields: KeyValuePairs<String, LogValue> = [:]) {
        write(.warn, message, fields)
    }

    public func error(_ message: StaticString, _ fields: KeyValuePairs<String, LogValue> = [:]) {
        write(.error, message, fields)
    }

    public func write(_ level: LogLevel, _ message: StaticString, _ fields: KeyValuePairs<String, LogValue> = [:]) {
        guard level >= sink.level else { return }
        sink.write(level, component: component, message: "\(message)", fields.map { ($0.key, $0.value) })
    }
}
