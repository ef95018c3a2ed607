public import HushCore

/// A parsed JSON value: what a push's payload is made of.
///
/// On Apple's systems it is built from `userInfo`; text is kept as bytes, so that ids which differ only by Unicode form
/// stay apart.
public enum PayloadValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(Bytes)
    case array([PayloadValue])
    case object([Bytes: PayloadValue])

    /// The member of an object; nil where it is absent, null, or this is no object.
    public subscript(_ name: Bytes) -> PayloadValue? {
        guard case .object(let members) = self, let value = members[name], value != .null else { return nil }
        return value
    }

    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    public var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    public var string: Bytes? {
        if case .string(let value) = self { value } else { nil }
    }

    public var array: [PayloadValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    public var object: [Bytes: PayloadValue]? {
        if case .object(let value) = self { value } else { nil }
    }

    /// An id: a string, or an integer, which is the same id as its decimal digits.
    public var id: Bytes? {
        switch self {
        case .string(let text) where !text.isEmpty: text
        case .integer(let number): Bytes(String(number))
        default: nil
        }
    }

    /// The strings of an array; what is no string is left out.
    var strings: [Bytes] {
        (array ?? []).compactMap(\.string)
    }
}

extension PayloadValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    public init(stringLiteral text: String) { self = .string(Bytes(text)) }
    public init(integerLiteral number: Int64) { self = .integer(number) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension PayloadValue: ExpressibleByFloatLiteral, ExpressibleByNilLiteral {
    public init(floatLiteral number: Double) { self = .double(number) }
    public init(nilLiteral: ()) { self = .null }
}

extension PayloadValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    public init(arrayLiteral elements: PayloadValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (Bytes, PayloadValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}
