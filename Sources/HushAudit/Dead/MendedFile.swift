import Foundation
public import HushWorkers

/// A file that says what is sent in the place of letters' own values: lines as `hush dead export` writes them, mended.
public enum MendedFile {
    /// What is wrong with a line.
    public struct Problem: Error, Hashable, CustomStringConvertible {
        public var line: Int
        public var what: String

        public var description: String { "line \(line): \(what)" }
    }

    /// Reads `origin`, and `value` or `value_base64`, of each line.
    public static func read(_ data: [UInt8]) throws(Problem) -> [TopicPlace: [UInt8]] {
        var values: [TopicPlace: [UInt8]] = [:]
        let document = JSONDocument()
        for (index, line) in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) { continue }
            let found = line.withUnsafeBytes { bytes in
                Result { () throws(Problem) in try read(bytes, document, index + 1) }
            }
            let (place, value) = try found.get()
            guard values.updateValue(value, forKey: place) == nil else {
                throw Problem(line: index + 1, what: "\(place) stands in the file twice")
            }
        }
        return values
    }

    private static func read(
        _ line: UnsafeRawBufferPointer, _ document: JSONDocument, _ number: Int
    ) throws(Problem) -> (TopicPlace, [UInt8]) {
        guard let root = try? document.parse(line) else { throw Problem(line: number, what: "is no JSON object") }
        guard let origin = root["origin"], let topic = origin["topic"]?.text,
            case .integer(let partition)? = origin["partition"]?.kind,
            case .integer(let offset)? = origin["offset"]?.kind,
            let place = TopicPlace("\(String(decoding: topic, as: UTF8.self))/\(partition)/\(offset)")
        else { throw Problem(line: number, what: "has no origin of topic, partition and offset") }
        if let value = root["value"], case .string = value.kind { return (place, [UInt8](value.text)) }
        if let encoded = root["value_base64"] {
            guard let value = Data(base64Encoded: Data(encoded.text)) else {
                throw Problem(line: number, what: "value_base64 is no base64")
            }
            return (place, [UInt8](value))
        }
        throw Problem(line: number, what: "has neither value nor value_base64")
    }
}

/// Bytes as text in JSON.
enum Base64 {
    static func encode(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}
