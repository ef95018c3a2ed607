/// The payloads of the `crt` dialect, and of `pushwoosh`, which carries the same in its custom-data string `u`.
///
/// Each push creates or deletes one notification; the app learns nothing else, so what it shows rests on the last push
/// that reached it.
public enum SeedPayload {
    /// `{"aps":{"content-available":1},"crt":1,"title":"hello there"}`; the title is the body's text where there is no
    /// title, and empty where there is neither.
    public static func create(_ id: Bytes, content: Content, dialect: Dialect) -> [UInt8] {
        payload(dialect) { json in
            json.raw("\"crt\":")
            writeID(id, into: &json)
            json.raw(",\"title\":")
            if let title = content.field("title") ?? content.field("body") {
                json.raw(title)
            } else {
                json.raw("\"\"")
            }
        }
    }

    /// `{"aps":{"content-available":1},"dlt":1}`.
    public static func delete(_ id: Bytes, dialect: Dialect) -> [UInt8] {
        payload(dialect) { json in
            json.raw("\"dlt\":")
            writeID(id, into: &json)
        }
    }

    private static func payload(_ dialect: Dialect, _ writeMembers: (inout JSONWriter) -> Void) -> [UInt8] {
        var json = JSONWriter(reserving: 256)
        json.raw("{\"aps\":{\"content-available\":1},")
        if dialect == .pushwoosh {
            var custom = JSONWriter(reserving: 256)
            custom.byte(UInt8(ascii: "{"))
            writeMembers(&custom)
            custom.byte(UInt8(ascii: "}"))
            json.raw("\"u\":")
            json.string(Bytes(custom.bytes))
        } else {
            writeMembers(&json)
        }
        json.byte(UInt8(ascii: "}"))
        return json.bytes
    }

    /// A canonical 64-bit integer is a number, anything else a string: `007` and `-0` stay what they are.
    private static func writeID(_ id: Bytes, into json: inout JSONWriter) {
        if isCanonicalInteger(id.raw) {
            json.raw(id.raw)
        } else {
            json.string(id)
        }
    }

    static func isCanonicalInteger(_ text: [UInt8]) -> Bool {
        guard let first = text.first, text.count <= 20 else { return false }
        guard first == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
            return false
        }
        let decimal = String(decoding: text, as: UTF8.self)
        guard let number = Int64(decimal) else { return false }
        return String(number) == decimal
    }
}
