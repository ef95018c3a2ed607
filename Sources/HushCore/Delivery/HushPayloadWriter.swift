/// Writes the payload of the `hush` dialect, op by op, until it is full; docs/reference/payload has its form.
public struct HushPayloadWriter: ~Copyable {
    private var json = JSONWriter(reserving: 4096)
    private var opCount = 0
    private let bytesMax: Int
    /// What closes the op list, the `hush` object and the payload.
    private static let tail = 3

    /// The fixed part of a silent push to this owner under this binding.
    public init(owner: Bytes, version: BindingVersion, bytesMax: Int) {
        self.bytesMax = bytesMax
        json.raw("{\"aps\":{\"content-available\":1},\"hush\":")
        Self.writeHead(owner: owner, version: version, into: &json)
    }

    /// The fixed part of an alert: iOS shows `content` itself, so the app need not run. A passive one, which may have
    /// been shown before, makes no sound. `mutable-content` lets the app's service extension take the ops and
    /// acknowledge them.
    public init(
        alert content: Content, liveCount: Int64?, isPassive: Bool, owner: Bytes, version: BindingVersion,
        bytesMax: Int
    ) {
        self.bytesMax = bytesMax
        json.raw("{\"aps\":")
        AlertWriter(content: ContentMembers(content), liveCount: liveCount, isPassive: isPassive)
            .write(isMutable: true, into: &json)
        json.raw(",\"hush\":")
        Self.writeHead(owner: owner, version: version, into: &json)
    }

    public var isEmpty: Bool { opCount == 0 }
    public var count: Int { json.count + Self.tail }

    /// Adds a create; false, and nothing added, where it does not fit. `isTold`: an alert may have told of it, so that
    /// it makes no sound again.
    public mutating func create(
        _ op: OpID, id: Bytes, revision: Int64, content: Content, expires: Timestamp?, isTold: Bool = false
    ) -> Bool {
        append { json in
            Self.writeOp(op, "\"c\",", into: &json)
            json.string(id)
            json.byte(UInt8(ascii: ","))
            json.integer(revision)
            json.byte(UInt8(ascii: ","))
            Self.writeContent(content, expires: expires, into: &json)
            json.raw(isTold ? ",1]" : "]")
        }
    }

    /// Adds a delete through `revision`; false, and nothing added, where it does not fit.
    public mutating func delete(_ op: OpID, id: Bytes, through revision: Int64) -> Bool {
        append { json in
            Self.writeOp(op, "\"d\",", into: &json)
            json.string(id)
            json.byte(UInt8(ascii: ","))
            json.integer(revision)
            json.byte(UInt8(ascii: "]"))
        }
    }

    /// Adds the bind; false where it does not fit.
    public mutating func bind(_ op: OpID) -> Bool {
        append { json in Self.writeOp(op, "\"b\"]", into: &json) }
    }

    /// Asks for a hello, under the id of an op beside it: the app acknowledges what it names.
    public mutating func hello(_ op: OpID) -> Bool {
        append { json in Self.writeOp(op, "\"h\"]", into: &json) }
    }

    /// The payload; at most `bytesMax` bytes.
    public consuming func finish() -> [UInt8] {
        json.raw("]}}")
        return json.bytes
    }

    private static func writeHead(owner: Bytes, version: BindingVersion, into json: inout JSONWriter) {
        json.raw("{\"v\":1,\"to\":\"")
        json.raw(OwnerTag.of(owner).raw)
        json.raw("\",\"b\":[")
        json.integer(version.at.millis)
        json.byte(UInt8(ascii: ","))
        json.integer(version.partition)
        json.byte(UInt8(ascii: ","))
        json.integer(version.offset)
        json.raw("],\"ops\":[")
    }

    private mutating func append(_ write: (inout JSONWriter) -> Void) -> Bool {
        let start = json.count
        if opCount > 0 { json.byte(UInt8(ascii: ",")) }
        write(&json)
        if json.count + Self.tail > bytesMax {
            json.truncate(to: start)
            return false
        }
        opCount += 1
        return true
    }

    private static func writeOp(_ op: OpID, _ kind: StaticString, into json: inout JSONWriter) {
        json.raw("[\"")
        json.integer(op.partition)
        json.byte(UInt8(ascii: ":"))
        json.integer(op.offset)
        json.byte(UInt8(ascii: ":"))
        json.integer(op.index)
        json.raw("\",")
        json.raw(kind)
    }

    /// The content object with `expires` as its last member.
    private static func writeContent(_ content: Content, expires: Timestamp?, into json: inout JSONWriter) {
        guard let expires else { return json.raw(content.json.raw) }
        json.raw(content.json.raw.dropLast())
        json.raw(content.isEmpty ? "\"expires\":" : ",\"expires\":")
        json.integer(expires.seconds)
        json.byte(UInt8(ascii: "}"))
    }
}
