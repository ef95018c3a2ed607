import HushCore

/// Collects the content fields of one intent, and writes them as canonical JSON.
///
/// Of repeated fields the last counts; inside the objects that are passed on as given, repeated members stay.
struct ContentWriter: ~Copyable {
    private var values = FieldSlots<JSONValue?>(repeating: nil)
    private var json = JSONWriter(reserving: 4096)
    private let names = FieldNames()

    mutating func removeAll() {
        values = FieldSlots(repeating: nil)
    }

    /// Takes a field, its type checked; null takes it back.
    mutating func set(_ field: Content.Field, _ value: JSONValue) throws(DeadReason) {
        if value.isNull {
            values[field.rawValue] = nil
            return
        }
        try Self.check(field, value)
        values[field.rawValue] = value
    }

    /// Whether there is a title or a body to show.
    var isShowable: Bool {
        (values[Content.Field.title.rawValue]?.text.count ?? 0) > 0
            || (values[Content.Field.body.rawValue]?.text.count ?? 0) > 0
    }

    /// The content, where a payload can hold it beside the notification's id.
    mutating func content(id: Bytes, mode: Mode) throws(DeadReason) -> Content {
        json.removeAll()
        json.byte(UInt8(ascii: "{"))
        var alertBytes = 0
        for field in values.indices {
            guard let value = values[field] else { continue }
            if json.count > 1 { json.byte(UInt8(ascii: ",")) }
            names.write(field, into: &json)
            let start = json.count
            json.value(value)
            if field <= Content.Field.thread.rawValue { alertBytes += json.count - start }
        }
        json.byte(UInt8(ascii: "}"))
        let end = json.count
        json.string(id)
        // An alert carries what iOS shows a second time, in `aps`.
        let size = json.count + (mode == .silent ? 0 : alertBytes)
        guard size <= Content.bytesMax else {
            throw DeadReason(
                .tooLarge, "content and id take \(size) bytes of a payload, which has room for \(Content.bytesMax)")
        }
        json.truncate(to: end)
        return Content(json: Bytes(json.bytes))
    }

    private static func check(_ field: Content.Field, _ value: JSONValue) throws(DeadReason) {
        switch field {
        case .title: try requireString("title", value)
        case .body: try requireString("body", value)
        case .badge:
            if case .string = value.kind, value.text.elementsEqual("auto".utf8) { return }
            guard case .integer(let number) = value.kind, (0...Int64(Int32.max)).contains(number) else {
                throw value.wrong("badge", "must be \"auto\" or a whole number from 0 to \(Int32.max)")
            }
        case .sound: try requireString("sound", value)
        case .category: try requireString("category", value)
        case .thread: try requireString("thread", value)
        case .link: try requireString("link", value)
        case .url: try requireString("url", value)
        case .tags:
            try requireObject("tags", value)
            for list in value.children where list.isNamed("add") || list.isNamed("remove") {
                for tag in try list.array("tags", countMax: InputLimits.tagsMax) { try requireString("tags", tag) }
            }
        case .inApp: try requireObject("in_app", value)
        case .actions: try requireObject("actions", value)
        case .extras:
            try requireObject("extras", value)
            for member in value.children where Content.isReservedExtra(member.key) {
                throw value.wrong(
                    "extras", "must not have a member \"\(Bytes(copying: member.key))\": that name is reserved")
            }
        case .landingPage: try requireString("landing_page", value)
        case .share: try requireString("share", value)
        case .messageCenter: try requireString("message_center", value)
        case .sendID: try requireString("send_id", value)
        case .mutableContent: _ = try value.boolean("mutable_content")
        case .contentAvailable: _ = try value.boolean("content_available")
        }
    }

    private static func requireString(_ field: StaticString, _ value: JSONValue) throws(DeadReason) {
        guard case .string = value.kind else { throw value.wrong(field, "must be a string") }
    }

    private static func requireObject(_ field: StaticString, _ value: JSONValue) throws(DeadReason) {
        guard case .object = value.kind else { throw value.wrong(field, "must be an object") }
    }
}

/// One slot for each content field, by `Content.Field.rawValue`.
private typealias FieldSlots<Value> = InlineArray<18, Value>

/// `"name":` of each content field, in one piece of memory: an array for each would be retained at each use.
private struct FieldNames: ~Copyable {
    private var json = JSONWriter(reserving: 256)
    /// Where the name of each field ends.
    private var ends = FieldSlots<Int>(repeating: 0)

    init() {
        for (index, name) in Content.fields.enumerated() {
            json.string(name)
            json.byte(UInt8(ascii: ":"))
            ends[index] = json.count
        }
    }

    func write(_ field: Int, into target: inout JSONWriter) {
        let start = field == 0 ? 0 : ends[field - 1]
        json.withUnsafeBytes { target.raw(UnsafeRawBufferPointer(rebasing: $0[start..<ends[field]])) }
    }
}

extension JSONWriter {
    /// A parsed value, minified: members in their order, strings with the shortest escapes, numbers with a fraction or
    /// an exponent in the shortest form that reads back the same.
    mutating func value(_ value: JSONValue) {
        switch value.kind {
        case .null: raw("null")
        case .boolean(let truth): boolean(truth)
        case .integer(let number): integer(number)
        case .huge(let number): integer(number)
        case .real(let number): raw(Array(number.description.utf8))
        case .string: string(value.text)
        case .array: list("[", "]", value) { writer, child in writer.value(child) }
        case .object:
            list("{", "}", value) { writer, child in
                writer.string(child.key)
                writer.byte(UInt8(ascii: ":"))
                writer.value(child)
            }
        }
    }

    private mutating func list(
        _ open: StaticString, _ close: StaticString, _ value: JSONValue,
        _ write: (inout JSONWriter, JSONValue) -> Void
    ) {
        raw(open)
        var isFirst = true
        for child in value.children {
            if !isFirst { byte(UInt8(ascii: ",")) }
            isFirst = false
            write(&self, child)
        }
        raw(close)
    }
}
