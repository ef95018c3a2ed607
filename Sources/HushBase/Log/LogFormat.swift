/// The form of log lines.
public enum LogFormat: Hashable, Sendable {
    /// One JSON object a line: `time`, `level`, `component`, `msg`, then the fields.
    case json
    /// For people: time of day, level, component, message, `name=value`.
    case text(colored: Bool)

    /// A line of this form, with its line feed.
    public func line(of entry: LogEntry) -> [UInt8] {
        switch self {
        case .json: Self.json(entry)
        case .text(let colored): Self.text(entry, colored: colored)
        }
    }

    private static func json(_ entry: LogEntry) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(160)
        line += "{\"time\":\"\(RFC3339.text(millis: entry.timeMillis))\",\"level\":\"\(entry.level.rawValue)\"".utf8
        line += ",\"component\":".utf8
        appendQuoted(entry.component, to: &line)
        line += ",\"msg\":".utf8
        appendQuoted(entry.message, to: &line)
        for field in entry.fields {
            line.append(UInt8(ascii: ","))
            appendQuoted(field.name, to: &line)
            line.append(UInt8(ascii: ":"))
            switch field.value {
            case .text(let text): appendQuoted(text, to: &line)
            case .integer(let integer): line += String(integer).utf8
            case .number(let number): line += (number.isFinite ? String(number) : "null").utf8
            case .flag(let flag): line += (flag ? "true" : "false").utf8
            }
        }
        line += "}\n".utf8
        return line
    }

    private static func appendQuoted(_ text: String, to line: inout [UInt8]) {
        line.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): line += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\n"): line += "\\n".utf8
            case 0..<0x20, 0x7f: line += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
            default: line.append(byte)
            }
        }
        line.append(UInt8(ascii: "\""))
    }

    private static func text(_ entry: LogEntry, colored: Bool) -> [UInt8] {
        let level = entry.level.rawValue.uppercased()
        let padded = level + String(repeating: " ", count: 5 - level.count)
        let time = RFC3339.text(millis: entry.timeMillis).dropFirst(11).dropLast()
        var line = "\(time) \(colored ? "\u{1b}[\(color(entry.level))m\(padded)\u{1b}[0m" : padded) "
        line += "\(visible(entry.component)): \(visible(entry.message))"
        for field in entry.fields {
            let value =
                switch field.value {
                case .text(let text): text
                case .integer(let integer): String(integer)
                case .number(let number): String(number)
                case .flag(let flag): String(flag)
                }
            line += " \(field.name)=\(visible(value))"
        }
        return Array(line.utf8) + [UInt8(ascii: "\n")]
    }

    private static func color(_ level: LogLevel) -> Int {
        switch level {
        case .debug: 90
        case .info: 32
        case .warn: 33
        case .error: 31
        }
    }

    /// Control characters, which could move a terminal's cursor or set its title, become visible.
    private static func visible(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            result += isControl(scalar) ? scalar.escaped(asASCII: true) : String(scalar)
        }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control
    }
}
