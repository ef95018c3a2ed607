internal import CSimdjson
import HushCore

/// Why bytes are no document.
public enum JSONFault: Error, Hashable, Sendable {
    case empty
    case tooLong
    case tooDeep
    case notUTF8
    /// The root is no object.
    case notObject
    /// A number that is malformed, or so large that no double tells it.
    case number
    case syntax
    case noMemory
}

/// Parses one JSON object after the other (RFC 8259) with simdjson, in memory that it keeps.
///
/// Of one thread at a time. The bytes are copied, so they need no padding; all values lead into the parser's own
/// memory and are gone with the next `parse`.
public final class JSONDocument {
    /// The longest document, in bytes: above what any topic of ours takes.
    public static let bytesMax = 16 << 20
    /// How deeply arrays and objects may nest.
    public static let depthMax = 64

    private let parser: OpaquePointer?

    public init(bytesMax: Int = JSONDocument.bytesMax, depthMax: Int = JSONDocument.depthMax) {
        parser = hush_json_new(bytesMax, UInt32(depthMax))
    }

    deinit {
        hush_json_free(parser)
    }

    /// Parses a document whole: syntax and UTF-8 are checked everywhere. Returns its root object.
    public func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONFault) -> JSONValue {
        guard let parser else { throw .noMemory }
        let fault = hush_json_parse(parser, bytes.baseAddress, bytes.count)
        switch UInt32(bitPattern: fault) {
        case HUSH_JSON_OK.rawValue:
            guard let root = hush_json_nodes(parser) else { throw .noMemory }
            return JSONValue(node: root)
        case HUSH_JSON_EMPTY.rawValue: throw .empty
        case HUSH_JSON_TOO_LONG.rawValue: throw .tooLong
        case HUSH_JSON_TOO_DEEP.rawValue: throw .tooDeep
        case HUSH_JSON_NOT_UTF8.rawValue: throw .notUTF8
        case HUSH_JSON_NOT_OBJECT.rawValue: throw .notObject
        case HUSH_JSON_NUMBER.rawValue: throw .number
        case HUSH_JSON_NO_MEMORY.rawValue: throw .noMemory
        default: throw .syntax
        }
    }
}

/// One value of a document; valid until its document parses the next one.
public struct JSONValue {
    public enum Kind: Sendable {
        case null
        case boolean(Bool)
        /// A whole number as it stands, without fraction or exponent.
        case integer(Int64)
        /// A whole number from 2^63 to 2^64 - 1.
        case huge(UInt64)
        /// A number written with a fraction or an exponent, or a whole one beyond 64 bits: the nearest double.
        case real(Double)
        case string
        case array
        case object
    }

    let node: UnsafePointer<hush_json_node>

    public var kind: Kind {
        switch node.pointee.type {
        case HUSH_JSON_FALSE.rawValue: .boolean(false)
        case HUSH_JSON_TRUE.rawValue: .boolean(true)
        case HUSH_JSON_INTEGER.rawValue: .integer(node.pointee.number.integer)
        case HUSH_JSON_HUGE.rawValue: .huge(node.pointee.number.natural)
        case HUSH_JSON_REAL.rawValue: .real(node.pointee.number.real)
        case HUSH_JSON_STRING.rawValue: .string
        case HUSH_JSON_ARRAY.rawValue: .array
        case HUSH_JSON_OBJECT.rawValue: .object
        default: .null
        }
    }

    public var isNull: Bool { node.pointee.type == HUSH_JSON_NULL.rawValue }

    /// The name of a member, unescaped; empty for what is no member.
    public var key: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: node.pointee.key, count: Int(node.pointee.key_length))
    }

    /// A string, unescaped; empty for what is no string.
    public var text: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: node.pointee.text, count: Int(node.pointee.text_length))
    }

    /// How many values stand directly inside an array or object.
    public var count: Int { Int(node.pointee.count) }

    /// The values directly inside an array or object, in the order of the document; repeated names all come.
    public var children: Children { Children(self) }

    /// The member of that name; of repeated ones the last, as JavaScript and most parsers have it.
    public subscript(_ name: StaticString) -> JSONValue? {
        var found: JSONValue?
        for child in children where child.isNamed(name) { found = child }
        return found
    }

    /// Whether a member has that name.
    public func isNamed(_ name: StaticString) -> Bool {
        let key = key
        return name.withUTF8Buffer { key.isEqual(to: UnsafeRawBufferPointer($0)) }
    }

    public struct Children: Sequence, IteratorProtocol {
        private var upcoming: UnsafePointer<hush_json_node>
        private var remaining: UInt32

        init(_ value: JSONValue) {
            upcoming = value.node + 1
            remaining = value.node.pointee.count
        }

        public mutating func next() -> JSONValue? {
            guard remaining > 0 else { return nil }
            remaining -= 1
            let child = upcoming
            upcoming += Int(child.pointee.span)
            return JSONValue(node: child)
        }
    }
}
