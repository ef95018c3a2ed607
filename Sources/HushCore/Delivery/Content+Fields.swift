extension Content {
    /// The JSON of one top-level field as it stands in the bytes, quotes included; nil where it is absent.
    ///
    /// - Complexity: linear in the content; nothing is unescaped or copied.
    public func field(_ name: Bytes) -> ArraySlice<UInt8>? {
        var scanner = ObjectScanner(json.raw)
        while let member = scanner.next() {
            if json.raw[member.name].elementsEqual(name.raw) { return json.raw[member.value] }
        }
        return nil
    }

    /// Whether the badge depends on what else is live: `"auto"`, or a 0, which would clear it.
    ///
    /// - Complexity: linear in title and body, for the badge stands right behind them.
    @usableFromInline
    var hasCountedBadge: Bool { countedBadge != .none }

    /// Whether the badge is `"auto"`, so that taking the notification off changes it too.
    ///
    /// - Complexity: as of `hasCountedBadge`.
    @usableFromInline
    var hasAutomaticBadge: Bool { countedBadge == .automatic }

    private enum CountedBadge {
        case none, automatic, zero
    }

    private var countedBadge: CountedBadge {
        var scanner = ObjectScanner(json.raw)
        while let member = scanner.next() {
            if isText(member.name, Self.fields[Field.title.rawValue]) { continue }
            if isText(member.name, Self.fields[Field.body.rawValue]) { continue }
            guard isText(member.name, Self.fields[Field.badge.rawValue]) else { return .none }
            if isText(member.value, Self.automaticBadge) { return .automatic }
            return isText(member.value, Self.zeroBadge) ? .zero : .none
        }
        return .none
    }

    private static let automaticBadge: Bytes = "\"auto\""
    private static let zeroBadge: Bytes = "0"

    /// Whether the bytes of that range are this text.
    private func isText(_ range: Range<Int>, _ text: Bytes) -> Bool {
        json.raw.withUnsafeBytes { text.isEqual(to: UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// Whether the object has no members.
    public var isEmpty: Bool {
        var scanner = ObjectScanner(json.raw)
        return scanner.next() == nil
    }
}

/// The JSON of each field of a content, found in one walk: for those who need many.
struct ContentMembers {
    private let json: [UInt8]
    /// By `Content.Field.rawValue`.
    private var values = [Range<Int>?](repeating: nil, count: Content.fields.count)

    init(_ content: Content) {
        json = content.json.raw
        var scanner = ObjectScanner(json)
        var field = 0
        // Fields stand in their order, so each name is looked for behind the one before.
        while let member = scanner.next() {
            while field < Content.fields.count, !json[member.name].elementsEqual(Content.fields[field].raw) {
                field += 1
            }
            guard field < Content.fields.count else { return }
            values[field] = member.value
        }
    }

    /// As it stands, quotes included; nil where it is absent.
    subscript(_ field: Content.Field) -> ArraySlice<UInt8>? {
        values[field.rawValue].map { json[$0] }
    }

    /// Whether the field is there and true.
    func isTrue(_ field: Content.Field) -> Bool {
        self[field]?.elementsEqual("true".utf8) ?? false
    }
}

/// Walks the members of one minified JSON object; nested values are stepped over, not read.
///
/// The codec that wrote the object has checked it; on anything else the walk ends.
struct ObjectScanner {
    struct Member: Equatable {
        /// Without its quotes, escapes left as they are.
        var name: Range<Int>
        var value: Range<Int>
    }

    private let json: [UInt8]
    private var position = 1

    init(_ json: [UInt8]) {
        self.json = json
    }

    mutating func next() -> Member? {
        if position < json.count, json[position] == UInt8(ascii: ",") { position += 1 }
        guard position < json.count, json[position] == UInt8(ascii: "\"") else { return nil }
        let nameStart = position + 1
        skipString()
        let name = nameStart..<position - 1
        guard position < json.count, json[position] == UInt8(ascii: ":") else { return nil }
        position += 1
        let valueStart = position
        skipValue()
        return position > valueStart ? Member(name: name, value: valueStart..<position) : nil
    }

    /// From an opening quote to behind the closing one.
    private mutating func skipString() {
        position += 1
        while position < json.count, json[position] != UInt8(ascii: "\"") {
            position += json[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position = min(position + 1, json.count)
    }

    private mutating func skipValue() {
        var depth = 0
        while position < json.count {
            switch json[position] {
            case UInt8(ascii: "\""):
                skipString()
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return }
                depth -= 1
            case UInt8(ascii: ",") where depth == 0: return
            default: break
            }
            position += 1
        }
    }
}
