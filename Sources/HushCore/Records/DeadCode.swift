/// Why an input is unusable: the stable codes of `hush.error.code`; docs/reference/dead-letters.md has the same table.
public enum DeadCode: String, Hashable, Sendable, CaseIterable {
    case noValue = "no_value"
    case notUTF8 = "not_utf8"
    case notJSON = "not_json"
    case notObject = "not_object"
    case tooDeep = "too_deep"
    case tooLarge = "too_large"
    case badEnvelope = "bad_envelope"
    case missingField = "missing_field"
    case badField = "bad_field"
    case misrouted = "misrouted"
    case undeliverable = "undeliverable"
    case unwritable = "unwritable"
    case tooManyAudiences = "too_many_audiences"

    /// What the code says, as one sentence.
    public var meaning: String {
        switch self {
        case .noValue: "The record has no value, or an empty one."
        case .notUTF8: "The value, or the key where it stands for the recipient, is not valid UTF-8."
        case .notJSON: "The value is not JSON, or holds a number beyond what a double can tell."
        case .notObject: "The value is JSON but no object."
        case .tooDeep: "The value is nested too deeply."
        case .tooLarge: "The value, a list in it, or the content of its notification is too large."
        case .badEnvelope: "The CloudEvents envelope cannot be read, or carries no JSON data."
        case .missingField: "A field that must be there is not."
        case .badField: "A field has the wrong type or a value that cannot be."
        case .misrouted: "The record was moved to its recipient's partition once, and is in a wrong one again."
        case .undeliverable: "The notification cannot be sent to the device in the form that it has."
        case .unwritable: "Kafka refuses what the record leads to, each time; the message says why."
        case .tooManyAudiences: "The partition asks for the tags of as many audiences as it may already."
        }
    }
}

/// An input that cannot be processed, and why: what stands in the headers of its dead letter.
public struct DeadReason: Error, Hashable, Sendable {
    public var code: DeadCode
    /// For people; names the field where there is one.
    public var message: String

    public init(_ code: DeadCode, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension DeadReason: CustomStringConvertible {
    public var description: String { "\(code.rawValue): \(message)" }
}
