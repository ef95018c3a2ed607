public import HushCore

/// Why a record of `hush.pushes` cannot be read.
public enum PushRecordFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// A newer planner wrote it: the reader must stop, not guess and not pass over it.
    case unknownVersion(Int64)
    /// No planner of ours wrote it.
    case malformed(DeadReason)

    public var description: String {
        switch self {
        case .unknownVersion(let version):
            "the record has version \(version), and this build reads \(PushRecordWriter.version): upgrade it first"
        case .malformed(let reason): reason.description
        }
    }
}

/// Reads the values of `hush.pushes`. Of one thread at a time: it keeps the parser's memory.
public final class PushRecordReader {
    private let document = JSONDocument()
    private var json = JSONWriter(reserving: 1024)
    private let fields = FieldTable<PushField>()
    private let opFields = FieldTable<OpField>()

    public init() {}

    public func read(_ value: UnsafeRawBufferPointer?) throws(PushRecordFault) -> PushRecord {
        guard let value, value.count > 0 else { throw .malformed(DeadReason(.noValue, "the record has no value")) }
        let root: JSONValue
        do throws(JSONFault) {
            root = try document.parse(value)
        } catch {
            throw .malformed(DeadReason(error))
        }
        guard case .integer(let version)? = root["v"]?.kind else { throw .malformed(missing("v")) }
        guard version == PushRecordWriter.version else { throw .unknownVersion(version) }
        do throws(DeadReason) {
            return try record(root)
        } catch {
            throw .malformed(error)
        }
    }

    private enum Kind: CaseIterable {
        case bind
        case unbind
        case ops
        case signal

        var name: Bytes {
            switch self {
            case .bind: "bind"
            case .unbind: "unbind"
            case .ops: "ops"
            case .signal: "signal"
            }
        }
    }

    private enum PushField: String, CaseIterable {
        case kind, owner, device, install, token, app, environment, dialect, acks, fresh, version, ops, cause, hello
        case at, battery, charging
        case lowPower = "low_power"
        case backgroundRefresh = "background_refresh"
        case notBefore = "not_before"
    }

    private enum OpField: String, CaseIterable {
        case op, id, revision, first, quiet, urgent, mode, expires, content, live, told
        case notBefore = "not_before"
    }

    private struct Draft {
        var kind: Kind?
        var owner: Bytes?
        var device: Bytes?
        var install: Bytes?
        var token: Bytes?
        var app: Bytes?
        var environment = PushEnvironment.production
        var dialect = Dialect.hush
        var isAcking = false
        var acks: [OpID] = []
        var fresh = false
        var version: BindingVersion?
        var ops: [Op] = []
        var cause: Position?
        var reading = DeviceReading()
        var hello = false
    }

    private func record(_ root: JSONValue) throws(DeadReason) -> PushRecord {
        var draft = Draft()
        for value in root.children where !value.isNull {
            guard let field = fields.field(value.key) else { continue }
            try take(field, value, &draft)
        }
        guard let kind = draft.kind else { throw missing("kind") }
        guard let owner = draft.owner else { throw missing("owner") }
        switch kind {
        case .signal:
            return .signal(owner: owner, reading: draft.reading, acks: draft.acks, hello: draft.hello)
        case .ops:
            guard let cause = draft.cause else { throw missing("cause") }
            return .ops(owner: owner, ops: draft.ops, cause: cause)
        case .unbind:
            guard let version = draft.version else { throw missing("version") }
            return .unbind(owner: owner, version: version)
        case .bind:
            guard let device = draft.device else { throw missing("device") }
            guard let token = draft.token else { throw missing("token") }
            guard let app = draft.app else { throw missing("app") }
            guard let version = draft.version else { throw missing("version") }
            guard let cause = draft.cause else { throw missing("cause") }
            let binding = Binding(
                owner: owner, device: device, install: draft.install, token: token, app: app,
                environment: draft.environment, dialect: draft.dialect, acks: draft.isAcking, version: version)
            return .bind(binding, fresh: draft.fresh, cause: cause)
        }
    }

    private func take(_ field: PushField, _ value: JSONValue, _ draft: inout Draft) throws(DeadReason) {
        switch field {
        case .kind: draft.kind = try value.choice("kind", \Kind.name)
        case .owner: draft.owner = try value.identifier("owner")
        case .device: draft.device = try value.identifier("device")
        case .install: draft.install = try value.identifier("install")
        case .token: draft.token = try value.token()
        case .app: draft.app = try value.app()
        case .environment: draft.environment = try value.choice("environment", \PushEnvironment.name)
        case .dialect: draft.dialect = try value.choice("dialect", \Dialect.name)
        case .acks:
            // A bind says whether its app acknowledges, a signal what it acknowledged.
            if case .array = value.kind {
                draft.acks = try value.acks()
            } else {
                draft.isAcking = try value.boolean("acks")
            }
        case .fresh: draft.fresh = try value.boolean("fresh")
        case .version: draft.version = try value.version()
        case .ops:
            for op in try value.array("ops", countMax: PushRecordReader.opsMax) { draft.ops.append(try readOp(op)) }
        case .cause: draft.cause = try value.cause()
        case .hello: draft.hello = try value.boolean("hello")
        case .at: draft.reading.at = try value.time("at")
        case .battery: draft.reading.battery = try value.fraction("battery")
        case .charging: draft.reading.charging = try value.boolean("charging")
        case .lowPower: draft.reading.lowPower = try value.boolean("low_power")
        case .backgroundRefresh: draft.reading.backgroundRefresh = try value.boolean("background_refresh")
        case .notBefore: draft.reading.notBefore = try value.time("not_before")
        }
    }

    private func readOp(_ value: JSONValue) throws(DeadReason) -> Op {
        guard case .object = value.kind else { throw value.wrong("ops", "must hold objects") }
        var op = Op(kind: .bind, id: "", revision: 0)
        for field in value.children where !field.isNull {
            switch opFields.field(field.key) {
            case .op: op.kind = try field.choice("op", \OpKind.name)
            case .id: op.id = try field.identifier("id")
            case .revision: op.revision = try field.integer("revision", 1...Standing.everyRevision)
            case .first: op.first = try field.boolean("first")
            case .quiet: op.quiet = try field.boolean("quiet")
            case .urgent: op.urgent = try field.boolean("urgent")
            case .mode: op.mode = try field.choice("mode", \Mode.name)
            case .notBefore: op.notBefore = try field.time("not_before")
            case .expires: op.expires = try field.time("expires")
            case .content: op.content = try readContent(field)
            case .told: op.isTold = try field.boolean("told")
            case .live: op.liveCount = try field.integer("live", 0...Int64(Int32.max))
            case nil: continue
            }
        }
        guard op.kind != .bind else { throw missing("op") }
        guard !op.id.isEmpty else { throw missing("id") }
        guard op.revision > 0 else { throw missing("revision") }
        guard op.kind != .create || op.content != nil else { throw missing("content") }
        return op
    }

    /// The canonical form written again gives the same bytes.
    private func readContent(_ value: JSONValue) throws(DeadReason) -> Content {
        guard case .object = value.kind else { throw value.wrong("content", "must be an object") }
        json.removeAll()
        json.value(value)
        return Content(json: Bytes(json.bytes))
    }

    /// Ops of one record, far above what a planner writes.
    private static let opsMax = 10_000
}

extension JSONValue {
    /// Where a record stands in a planner input.
    func cause() throws(DeadReason) -> Position {
        guard case .object = kind, let topic = self["topic"], let partition = self["partition"],
            let offset = self["offset"]
        else { throw wrong("cause", "must hold topic, partition and offset") }
        guard let input = InputTopic.allCases.first(where: { topic.text.elementsEqual($0.topic.rawValue.utf8) }) else {
            throw wrong("cause", "must name a topic that the planner reads")
        }
        return Position(
            topic: input, partition: Int32(try partition.integer("cause", 0...Int64(Int32.max))),
            offset: try offset.integer("cause", 0...Int64.max))
    }
}
