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

    /// Whether the object has no members.
    public var isEmpty: Bool {
        var scanner = ObjectScanner(json.raw)
        return scanner.next() == nil
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
