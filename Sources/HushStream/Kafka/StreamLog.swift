/// Where this module's messages go: a function of the process' log, callable on any thread.
public struct StreamLog: Sendable {
    public enum Level: Int, Sendable, Comparable {
        case debug
        case info
        case warning
        case error

        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    let write: @Sendable (Level, String) -> Void

    public init(_ write: @escaping @Sendable (Level, String) -> Void) {
        self.write = write
    }

    /// A log that keeps nothing.
    public static let silent = StreamLog { _, _ in }

    func debug(_ message: String) { write(.debug, message) }
    func info(_ message: String) { write(.info, message) }
    func warning(_ message: String) { write(.warning, message) }
    func error(_ message: String) { write(.error, message) }
}
