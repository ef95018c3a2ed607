/// The strings and integers at the top of a JSON object, for the few small documents of APNs: answers and tokens.
///
/// Tolerant: what is not understood is left out, and parsing stops where it is no JSON. Escapes stay as they are, for no
/// word we look for has one.
struct FlatObject {
    private static let depthMax = 16

    private(set) var strings: [[UInt8]: [UInt8]] = [:]
    private(set) var integers: [[UInt8]: Int64] = [:]

    init(parsing bytes: [UInt8]) {
        var scanner = Scanner(bytes: bytes)
        guard scanner.take(UInt8(ascii: "{")) else { return }
        while let key = scanner.string() {
            guard scanner.take(UInt8(ascii: ":")) else { return }
            if let text = scanner.string() {
                strings[key] = text
            } else if let number = scanner.integer() {
                integers[key] = number
            } else if !scanner.skipValue(depth: 0) {
                return
            }
            guard scanner.take(UInt8(ascii: ",")) else { return }
        }
    }

    private struct Scanner {
        let bytes: [UInt8]
        var position = 0

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        mutating func take(_ byte: UInt8) -> Bool {
            skipSpace()
            guard position < bytes.count && bytes[position] == byte else { return false }
            position += 1
            return true
        }

        /// The raw bytes between the quotes.
        mutating func string() -> [UInt8]? {
            let begin = position
            guard take(UInt8(ascii: "\"")) else { return nil }
            let start = position
            while position < bytes.count {
                switch bytes[position] {
                case UInt8(ascii: "\""):
                    position += 1
                    return Array(bytes[start..<position - 1])
                case UInt8(ascii: "\\"): position += 2
                default: position += 1
                }
            }
            position = begin
            return nil
        }

        /// An integer; one with a fraction or exponent is not, and is left to `skipValue`.
        mutating func integer() -> Int64? {
            skipSpace()
            let begin = position
            var end = position
            while end < bytes.count, bytes[end] == UInt8(ascii: "-") || bytes[end] >= 0x30 && bytes[end] <= 0x39 {
                end += 1
            }
            guard let value = Int64(String(decoding: bytes[begin..<end], as: UTF8.self)) else { return nil }
            if end < bytes.count, [UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E")].contains(bytes[end]) {
                return nil
            }
            position = end
            return value
        }

        mutating func skipValue(depth: Int) -> Bool {
            guard depth < FlatObject.depthMax else { return false }
            skipSpace()
            guard position < bytes.count else { return false }
            switch bytes[position] {
            case UInt8(ascii: "\""): return string() != nil
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                return skipContainer(depth: depth)
            default:
                let begin = position
                while position < bytes.count, !Array(",]} \t\r\n".utf8).contains(bytes[position]) { position += 1 }
                return position > begin
            }
        }

        private mutating func skipContainer(depth: Int) -> Bool {
            let isObject = bytes[position] == UInt8(ascii: "{")
            let end = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
            position += 1
            if take(end) { return true }
            while true {
                if isObject {
                    guard string() != nil && take(UInt8(ascii: ":")) else { return false }
                }
                guard skipValue(depth: depth + 1) else { return false }
                if take(end) { return true }
                guard take(UInt8(ascii: ",")) else { return false }
            }
        }

        private mutating func skipSpace() {
            while position < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[position]) { position += 1 }
        }
    }
}
