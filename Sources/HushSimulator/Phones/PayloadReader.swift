import HushCore
public import HushKit
import HushWorkers

/// Parses payloads for simulated phones, as iOS does for real ones; of one thread at a time.
public final class PayloadReader {
    private let document = JSONDocument(bytesMax: 64 * 1024)

    public init() {}

    /// Nil where the bytes are no JSON object.
    public func read(_ json: [UInt8]) -> PayloadValue? {
        json.withUnsafeBytes { bytes in
            guard let root = try? document.parse(bytes) else { return nil }
            return Self.value(root)
        }
    }

    private static func value(_ value: JSONValue) -> PayloadValue {
        switch value.kind {
        case .null: .null
        case .boolean(let flag): .bool(flag)
        case .integer(let number): .integer(number)
        case .huge(let number): .double(Double(number))
        case .real(let number): .double(number)
        case .string: .string(Bytes(copying: value.text))
        case .array: .array(value.children.map(Self.value))
        case .object:
            .object(
                Dictionary(value.children.map { (Bytes(copying: $0.key), Self.value($0)) }, uniquingKeysWith: { $1 }))
        }
    }
}
