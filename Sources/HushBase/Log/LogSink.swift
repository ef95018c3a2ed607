private import Glibc
import Synchronization

/// Where log lines go. Equal lines beyond a few a minute are counted, not written, so that a dead broker fills no disk.
public final class LogSink: Sendable {
    /// Lines of one (level, component, message) that a window lets through.
    public static let linesPerWindowMax = 20
    /// How long a window is; what it held back is told by the first line after it, in the field `held_back`.
    public static let window: Duration = .seconds(60)
    /// Messages whose lines are counted apart; more share one count.
    static let messagesMax = 1024

    public let level: LogLevel
    private let format: LogFormat
    private let now: @Sendable () -> Int64
    private let output: @Sendable ([UInt8]) -> Void
    private let windows = Mutex<[Message: Window]>([:])

    private struct Message: Hashable {
        var level: LogLevel
        var component: String
        var text: String
    }

    private struct Window {
        var startMillis: Int64
        var written = 0
        var heldBack = 0
    }

    /// A sink that hands each line to `output`, from any thread. `now` is in milliseconds since 1970.
    public init(
        level: LogLevel, format: LogFormat, now: @escaping @Sendable () -> Int64 = WallClock.nowMillis,
        output: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.level = level
        self.format = format
        self.now = now
        self.output = output
    }

    /// Standard error, one `write` a line, in JSON; text where it is a terminal, colored unless `NO_COLOR` is set.
    public static func standardError(level: LogLevel, format: LogFormat? = nil) -> LogSink {
        LogSink(level: level, format: format ?? formatOfStandardError()) { line in
            line.withUnsafeBytes { bytes in
                // Whoever closed our standard error does not want to be told.
                _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
            }
        }
    }

    /// The form that suits what standard error is.
    public static func formatOfStandardError() -> LogFormat {
        isatty(STDERR_FILENO) == 1 ? .text(colored: Terminal.wantsColor) : .json
    }

    func write(_ level: LogLevel, component: String, message: String, _ fields: [(String, LogValue)]) {
        let time = now()
        guard let heldBack = admit(Message(level: level, component: component, text: message), at: time) else { return }
        var entry = LogEntry(timeMillis: time, level: level, component: component, message: message, fields: fields)
        if heldBack > 0 { entry.fields.append(("held_back", .integer(Int64(heldBack)))) }
        output(format.line(of: entry))
    }

    /// How many equal lines were held back before this one, or nil where it is to be held back itself.
    private func admit(_ message: Message, at time: Int64) -> Int? {
        windows.withLock { windows in
            var key = message
            if windows[key] == nil, windows.count >= Self.messagesMax {
                windows = windows.filter { time - $0.value.startMillis < Self.window.wholeMillis }
                if windows.count >= Self.messagesMax { key = Message(level: .error, component: "", text: "") }
            }
            var window = windows[key] ?? Window(startMillis: time)
            var heldBack = 0
            if time - window.startMillis >= Self.window.wholeMillis {
                heldBack = window.heldBack
                window = Window(startMillis: time)
            }
            defer { windows[key] = window }
            guard window.written < Self.linesPerWindowMax else {
                window.heldBack += 1
                return nil
            }
            window.written += 1
            return heldBack
        }
    }
}

extension Duration {
    /// Whole milliseconds; for the short durations of this module.
    var wholeMillis: Int64 { wholeNanos / 1_000_000 }
}
