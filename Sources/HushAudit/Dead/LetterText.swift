import HushCore
import HushStream
import HushWorkers

/// Letters for people and programs.
public enum LetterText {
    /// One line of a list.
    public static func line(_ letter: Letter, _ state: LetterState) -> String {
        let origin = letter.origin.map { "\($0)" } ?? "?"
        return "\(letter.name)  \(letter.at.rfc3339)  \(letter.code)  \(origin)  \(state.rawValue)  \(letter.message)\n"
    }

    /// A letter whole: where and why it died, its history, headers, key and value, and what to do.
    public static func page(_ letter: Letter, _ state: LetterState) -> String {
        var text = "letter    hush.dead/\(letter.name), \(letter.at.rfc3339), \(state.rawValue)\n"
        if let origin = letter.origin {
            text += "died at   \(origin) (appended \(letter.originTime.rfc3339)), stage \(letter.stage)\n"
        }
        text += "code      \(letter.code)\nmessage   \(letter.message)\n"
        if let history = letter.history {
            text += "history   redriven \(history.attempts) time\(history.attempts == 1 ? "" : "s"); first died at "
            text += "\(history.origin), \(history.firstAt.rfc3339), \(history.firstCode); before this time "
            text += "\(history.lastAt.rfc3339), \(history.lastCode)\n"
        }
        for header in letter.headers { text += "header    \(header.name): \(shown(header.value))\n" }
        text += "key       \(letter.key.map(shown) ?? "none")\n"
        if let lost = letter.lost {
            text += "value     \(lost.bytes) bytes, too large for hush.dead; sha256 \(lost.digest)\n"
        } else if let value = letter.value {
            text += "value     \(value.count) bytes\n\(body(value))\n"
        } else {
            text += "value     none\n"
        }
        return text + "hint      \(DeadHint.text(letter.code))\n"
    }

    /// Text as it is where it is one line of UTF-8, else its bytes.
    private static func shown(_ bytes: [UInt8]) -> String {
        guard let text = String(validating: bytes, as: UTF8.self), isPrintable(text, lines: false) else {
            return "0x" + String(decoding: Hex.encode(bytes), as: UTF8.self)
        }
        return text
    }

    private static func body(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self), isPrintable(text, lines: true) { return text }
        return stride(from: 0, to: bytes.count, by: 16).map { start in
            let row = bytes[start..<min(start + 16, bytes.count)]
            let hex = row.map { String(decoding: Hex.encode([$0]), as: UTF8.self) }.joined(separator: " ")
            let signs = row.map { (0x20..<0x7f).contains($0) ? Character(UnicodeScalar($0)) : "." }
            let place = String(start, radix: 16)
            let zeros = String(repeating: "0", count: max(0, 8 - place.count))
            return "\(zeros)\(place)  \(hex)\(String(repeating: " ", count: 47 - hex.count))  \(String(signs))"
        }.joined(separator: "\n")
    }

    /// Without what would drive a terminal.
    private static func isPrintable(_ text: String, lines: Bool) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            if scalar == "\n" || scalar == "\t" { return lines }
            return scalar.value >= 0x20 && scalar.value != 0x7f && !(0x80...0x9f).contains(scalar.value)
        }
    }

    /// A letter as one line of JSON, newline included; what is no UTF-8 stands in base64 under a name of its own.
    public static func json(_ letter: Letter, _ state: LetterState) -> [UInt8] {
        var json = JSONWriter(reserving: 1024)
        json.raw("{\"letter\":")
        json.string(Bytes(letter.name))
        json.member("state", Bytes(state.rawValue))
        json.member("at", letter.at)
        if let origin = letter.origin { json.member("origin", origin) }
        json.member("origin_time", letter.originTime)
        json.member("stage", text(letter.stage))
        json.member("code", text(letter.code))
        json.member("message", text(letter.message))
        json.member("attempts", letter.attempts)
        if let history = letter.history {
            json.member("first_origin", history.origin)
            json.member("first_at", history.firstAt)
            json.member("first_code", text(history.firstCode))
            json.member("last_at", history.lastAt)
            json.member("last_code", text(history.lastCode))
        }
        member(&json, "key", "key_base64", letter.key)
        if let lost = letter.lost {
            json.member("value_bytes", lost.bytes)
            json.member("value_sha256", text(lost.digest.text))
        } else {
            member(&json, "value", "value_base64", letter.value)
        }
        json.member("headers")
        json.byte(UInt8(ascii: "["))
        for (index, header) in letter.headers.enumerated() {
            json.raw(index == 0 ? "{\"name\":" : ",{\"name\":")
            json.string(text(header.name))
            member(&json, "value", "value_base64", header.value)
            json.byte(UInt8(ascii: "}"))
        }
        json.raw("]}\n")
        return json.bytes
    }

    private static func text(_ text: String) -> Bytes { Bytes(text) }

    private static func member(
        _ json: inout JSONWriter, _ name: StaticString, _ encoded: StaticString, _ bytes: [UInt8]?
    ) {
        guard let bytes else { return }
        if String(validating: bytes, as: UTF8.self) != nil {
            json.member(name, Bytes(bytes))
        } else {
            json.member(encoded, Bytes(Base64.encode(bytes)))
        }
    }
}
