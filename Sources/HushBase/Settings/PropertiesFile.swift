/// Java's `.properties`, as Kafka's people write them: `key=value`, `key: value`, `#` and `!` comments, `\` at a line's end to
/// go on, and the escapes `\t \n \r \uXXXX`. UTF-8, and a key that is there twice is an error.
public enum PropertiesFile {
    public struct Entry: Hashable, Sendable {
        public var line: Int
        public var key: String
        public var value: String
    }

    /// What is wrong, and in which line.
    public struct Fault: Error, Hashable, Sendable {
        public var line: Int
        public var reason: String
    }

    public static func parse(_ text: String) throws(Fault) -> [Entry] {
        var entries: [Entry] = []
        var firstLine: [String: Int] = [:]
        var logical = ""
        var start = 0
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }
        for (index, raw) in lines.enumerated() {
            let trimmed = raw.drop { $0 == " " || $0 == "\t" || $0 == "\u{c}" }
            if start == 0 {
                if trimmed.isEmpty || trimmed.first == "#" || trimmed.first == "!" { continue }
                start = index + 1
            }
            let goesOn = trimmed.reversed().prefix { $0 == "\\" }.count % 2 == 1
            logical += goesOn ? trimmed.dropLast() : trimmed
            if goesOn && index < lines.count - 1 { continue }
            let entry = try entry(logical, line: start)
            if let first = firstLine[entry.key] {
                throw Fault(line: start, reason: "\(entry.key) is there already, in line \(first)")
            }
            firstLine[entry.key] = start
            entries.append(entry)
            (logical, start) = ("", 0)
        }
        return entries
    }

    private static func entry(_ text: String, line: Int) throws(Fault) -> Entry {
        var key = ""
        var rest = text[...]
        while let character = rest.first, !" \t=:".contains(character) {
            key += try character == "\\" ? escape(&rest, line: line) : String(rest.removeFirst())
        }
        rest = rest.drop { $0 == " " || $0 == "\t" }
        guard rest.first == "=" || rest.first == ":" else {
            throw Fault(line: line, reason: "\"\(text)\" is not key=value")
        }
        rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
        var value = ""
        while let character = rest.first {
            value += try character == "\\" ? escape(&rest, line: line) : String(rest.removeFirst())
        }
        while value.last == " " || value.last == "\t" { value.removeLast() }
        return Entry(line: line, key: key, value: value)
    }

    private static func escape(_ rest: inout Substring, line: Int) throws(Fault) -> String {
        rest.removeFirst()
        switch rest.popFirst() {
        case "t": return "\t"
        case "n": return "\n"
        case "r": return "\r"
        case "u":
            let digits = rest.prefix(4)
            guard digits.count == 4, let code = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(code) else {
                throw Fault(line: line, reason: "\\u\(digits) is no character")
            }
            rest = rest.dropFirst(4)
            return String(Character(scalar))
        case let other?: return String(other)
        case nil: return ""
        }
    }
}
