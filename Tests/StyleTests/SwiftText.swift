import Foundation

/// Swift source with its comments and strings blanked out, line for line, so that a rule finds code alone.
struct SwiftText: Sendable {
    /// The source as it is.
    let source: String
    /// The same text, where what is no code is spaces. Code inside of an interpolation is blanked too.
    let code: String
    let lines: [Substring]
    let codeLines: [Substring]

    init(_ source: String) {
        var blanker = Blanker(bytes: Array(source.utf8))
        blanker.run()
        self.source = source
        code = String(decoding: blanker.bytes, as: UTF8.self)
        lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        codeLines = code.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// The lines (from 1) of the code in which a pattern matches, with what its first group took.
    func matches(_ pattern: String) throws -> [(line: Int, group: String)] {
        try Pattern.matches(pattern, in: code)
    }

    /// Functions, initializers and the like with a body: where they begin (from 1) and how many lines they have.
    func functions() throws -> [(line: Int, length: Int)] {
        try matches(#"\b(func\s|init[?]?[(<]|deinit\b|subscript[(<])"#).compactMap { match in
            length(from: match.line - 1).map { (match.line, $0) }
        }
    }

    /// From a declaration to the brace that closes its body; nil where it has none, as in a protocol or a call.
    private func length(from start: Int) -> Int? {
        var (braces, brackets, opened) = (0, 0, false)
        for index in start..<codeLines.count {
            for byte in codeLines[index].utf8 {
                switch byte {
                case UInt8(ascii: "("), UInt8(ascii: "["): brackets += 1
                case UInt8(ascii: ")"), UInt8(ascii: "]"): brackets -= 1
                case UInt8(ascii: "{") where brackets <= 0 || opened:
                    braces += 1
                    opened = true
                case UInt8(ascii: "}") where brackets <= 0 || opened: braces -= 1
                default: break
                }
                if opened && braces == 0 { return index - start + 1 }
                if braces < 0 { return nil }
            }
            // Without a body the declaration is over where the next line begins something else.
            if !opened && brackets <= 0 {
                let next = index + 1 < codeLines.count ? codeLines[index + 1].drop { $0 == " " } : ""
                if !["{", ")", "where", "->", "throws"].contains(where: { next.hasPrefix($0) }) { return nil }
            }
        }
        return nil
    }
}

/// Regular expressions over whole files, by lines.
enum Pattern {
    static func replacing(_ pattern: String, with words: String, in text: String) throws -> String {
        let expression = try NSRegularExpression(pattern: pattern)
        let whole = NSRange(location: 0, length: (text as NSString).length)
        return expression.stringByReplacingMatches(in: text, range: whole, withTemplate: words)
    }

    static func matches(_ pattern: String, in text: String) throws -> [(line: Int, group: String)] {
        let expression = try NSRegularExpression(pattern: pattern, options: .anchorsMatchLines)
        let all = text as NSString
        var (line, counted) = (1, 0)
        return expression.matches(in: text, range: NSRange(location: 0, length: all.length)).map { match in
            // A match may begin with the line feed before what it means.
            let group = match.range(at: match.numberOfRanges - 1)
            let place = group.location == NSNotFound ? match.range.location : group.location
            let between = all.substring(with: NSRange(location: counted, length: place - counted))
            line += between.utf8.count { $0 == UInt8(ascii: "\n") }
            counted = place
            return (line, group.location == NSNotFound ? "" : all.substring(with: group))
        }
    }
}

/// Overwrites comments and strings with spaces, in place.
private struct Blanker {
    var bytes: [UInt8]
    private var place = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func run() {
        while place < bytes.count {
            if isNext("//") {
                while place < bytes.count && bytes[place] != UInt8(ascii: "\n") { blank(1) }
            } else if isNext("/*") {
                while place < bytes.count && !isNext("*/") { blank(1) }
                blank(2)
            } else if beginsString {
                string()
            } else {
                place += 1
            }
        }
    }

    private var hashCount: Int {
        var end = place
        while end < bytes.count && bytes[end] == UInt8(ascii: "#") { end += 1 }
        return end - place
    }

    private var beginsString: Bool {
        let quote = place + hashCount
        return quote < bytes.count && bytes[quote] == UInt8(ascii: "\"")
    }

    private mutating func string() {
        let hashes = String(repeating: "#", count: hashCount)
        let quotes = isNext(hashes + "\"\"\"") ? "\"\"\"" : "\""
        blank(hashes.utf8.count + quotes.utf8.count)
        let closing = quotes + hashes
        let escape = "\\" + hashes
        while place < bytes.count {
            if isNext(closing) {
                blank(closing.utf8.count)
                return
            }
            if isNext(escape + "(") {
                blank(escape.utf8.count)
                interpolation()
            } else {
                blank(isNext(escape) ? escape.utf8.count + 1 : 1)
            }
        }
    }

    /// From an opening parenthesis to the one that closes it.
    private mutating func interpolation() {
        var depth = 0
        while place < bytes.count {
            if beginsString {
                string()
                continue
            }
            if bytes[place] == UInt8(ascii: "(") { depth += 1 }
            if bytes[place] == UInt8(ascii: ")") { depth -= 1 }
            blank(1)
            if depth == 0 { return }
        }
    }

    private func isNext(_ text: String) -> Bool {
        var at = place
        for byte in text.utf8 {
            guard at < bytes.count, bytes[at] == byte else { return false }
            at += 1
        }
        return true
    }

    private mutating func blank(_ count: Int) {
        for index in place..<min(place + count, bytes.count) where bytes[index] != UInt8(ascii: "\n") {
            bytes[index] = UInt8(ascii: " ")
        }
        place = min(place + count, bytes.count)
    }
}
