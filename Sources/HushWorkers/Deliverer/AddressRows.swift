import HushCore
import HushStream

/// The bytes of an address row: key `a` and the address; value as written here. Formats 2 and 3 added flags and parts
/// that older rows lack, and changed nothing else.
enum AddressRows {
    static let format: UInt8 = 3
    static let prefix = UInt8(ascii: "a")

    static func key(_ address: Address) -> [UInt8] {
        [prefix] + address.key.raw
    }

    /// The address of a key.
    static func address(_ key: UnsafeRawBufferPointer) -> Address {
        Address(key: Bytes(copying: UnsafeRawBufferPointer(rebasing: key.dropFirst())))
    }

    /// Whether the key of a record is an address.
    static func isAddress(_ key: UnsafeRawBufferPointer) -> Bool {
        key.count == 32
            && key.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }

    static func write(_ row: AddressRow, _ writer: inout RowWriter) {
        writer.begin(format: format)
        writer.byte(
            (row.binding == nil ? 0 : 1) | (row.version == nil ? 0 : 2) | (row.gate == nil ? 0 : 4)
                | (row.wantsHello ? 8 : 0) | (row.liveCount == nil ? 0 : 16) | (row.isRefreshOff ? 32 : 0))
        if let version = row.version { writer.version(version) }
        writer.optional(row.lastOwner)
        if let binding = row.binding { write(binding, &writer) }
        if let gate = row.gate {
            writer.byte(gate.kind.rawValue)
            writer.integer(gate.readingAt.millis)
            writer.integer(gate.until.millis)
            writer.byte(gate.probes)
            writer.byte(gate.isAnnounced ? 1 : 0)
        }
        if let liveCount = row.liveCount { writer.integer(liveCount) }
        writer.count(row.ops.count)
        for op in row.ops { write(op, &writer) }
    }

    static func read(_ value: UnsafeRawBufferPointer) throws(TaskFailure) -> AddressRow {
        var reader = try RowReader("address", value, newest: format)
        var row = AddressRow()
        let parts = try reader.byte()
        if parts & 2 != 0 { row.version = try reader.version() }
        row.lastOwner = try reader.optionalText()
        if parts & 1 != 0 { row.binding = try binding(&reader) }
        if parts & 4 != 0 {
            let kind = try reader.choice(BatteryGate.Kind.self)
            let readingAt = try reader.time()
            var gate = BatteryGate(kind: kind, readingAt: readingAt, until: try reader.time())
            gate.probes = try reader.byte()
            gate.isAnnounced = try reader.byte() != 0
            row.gate = gate
        }
        row.wantsHello = parts & 8 != 0
        if parts & 16 != 0 { row.liveCount = try reader.integer() }
        row.isRefreshOff = parts & 32 != 0
        let count = try reader.count()
        row.ops.reserveCapacity(count)
        for _ in 0..<count { row.ops.append(try op(&reader)) }
        try reader.end()
        return row
    }

    private static func write(_ binding: Binding, _ writer: inout RowWriter) {
        writer.text(binding.owner)
        writer.text(binding.device)
        writer.optional(binding.install)
        writer.text(binding.token)
        writer.text(binding.app)
        writer.byte(binding.environment.rawValue)
        writer.byte(binding.dialect.rawValue)
        writer.byte(binding.acks ? 1 : 0)
        writer.version(binding.version)
    }

    private static func binding(_ reader: inout RowReader) throws(TaskFailure) -> Binding {
        let owner = try reader.text()
        let device = try reader.text()
        let install = try reader.optionalText()
        let token = try reader.text()
        let app = try reader.text()
        let environment = try reader.choice(PushEnvironment.self)
        let dialect = try reader.choice(Dialect.self)
        let acks = try reader.byte() != 0
        return Binding(
            owner: owner, device: device, install: install, token: token, app: app, environment: environment,
            dialect: dialect, acks: acks, version: try reader.version())
    }

    /// One bit for each truth of an op, and one for each part that may be absent.
    private struct Flags: OptionSet {
        var rawValue: UInt64

        static let first = Flags(rawValue: 1)
        static let quiet = Flags(rawValue: 1 << 1)
        static let urgent = Flags(rawValue: 1 << 2)
        static let mayHaveLeft = Flags(rawValue: 1 << 3)
        static let isLeaving = Flags(rawValue: 1 << 4)
        static let isClosed = Flags(rawValue: 1 << 5)
        static let isCleared = Flags(rawValue: 1 << 6)
        static let notBefore = Flags(rawValue: 1 << 7)
        static let expires = Flags(rawValue: 1 << 8)
        static let content = Flags(rawValue: 1 << 9)
        static let cause = Flags(rawValue: 1 << 10)
        static let acceptedAt = Flags(rawValue: 1 << 11)
        static let wasAlerted = Flags(rawValue: 1 << 12)
        static let trace = Flags(rawValue: 1 << 13)

        init(rawValue: UInt64) { self.rawValue = rawValue }

        init(_ op: PendingOp) {
            rawValue = 0
            set(.first, op.first)
            set(.quiet, op.quiet)
            set(.urgent, op.urgent)
            set(.mayHaveLeft, op.mayHaveLeft)
            set(.isLeaving, op.isLeaving)
            set(.isClosed, op.isClosed)
            set(.isCleared, op.isCleared)
            set(.notBefore, op.notBefore != nil)
            set(.expires, op.expires != nil)
            set(.content, op.content != nil)
            set(.cause, op.cause != nil)
            set(.acceptedAt, op.acceptedAt != nil)
            set(.wasAlerted, op.wasAlerted)
            set(.trace, op.trace != nil)
        }

        private mutating func set(_ flag: Flags, _ isSet: Bool) {
            if isSet { rawValue |= flag.rawValue }
        }
    }

    private static func write(_ op: PendingOp, _ writer: inout RowWriter) {
        writer.natural(Flags(op).rawValue)
        writer.integer(Int64(op.op.partition))
        writer.integer(op.op.offset)
        writer.integer(Int64(op.op.index))
        writer.byte(op.kind.rawValue)
        writer.byte(op.mode.rawValue)
        writer.text(op.id)
        writer.integer(op.revision)
        writer.integer(op.queuedAt.millis)
        writer.integer(Int64(op.attempts))
        writer.byte(op.repeats)
        if let notBefore = op.notBefore { writer.integer(notBefore.millis) }
        if let expires = op.expires { writer.integer(expires.millis) }
        if let content = op.content { writer.text(content.json) }
        if let cause = op.cause {
            writer.byte(cause.topic.rawValue)
            writer.integer(Int64(cause.partition))
            writer.integer(cause.offset)
        }
        if let acceptedAt = op.acceptedAt { writer.integer(acceptedAt.millis) }
        if let trace = op.trace {
            writer.natural(trace.high)
            writer.natural(trace.low)
        }
    }

    private static func op(_ reader: inout RowReader) throws(TaskFailure) -> PendingOp {
        let flags = Flags(rawValue: try reader.natural())
        let partition = try narrow(reader.integer())
        let offset = try reader.integer()
        let name = OpID(partition: partition, offset: offset, index: try narrow(reader.integer()))
        let kind = try reader.choice(OpKind.self)
        let mode = try reader.choice(Mode.self)
        let id = try reader.text()
        let revision = try reader.integer()
        var op = PendingOp(
            op: name, kind: kind, id: id, revision: revision, first: flags.contains(.first),
            quiet: flags.contains(.quiet), urgent: flags.contains(.urgent), mode: mode, cause: nil,
            queuedAt: try reader.time())
        op.attempts = try narrow(reader.integer())
        op.repeats = try reader.byte()
        if flags.contains(.notBefore) { op.notBefore = try reader.time() }
        if flags.contains(.expires) { op.expires = try reader.time() }
        if flags.contains(.content) { op.content = Content(json: try reader.text()) }
        if flags.contains(.cause) {
            let topic = try reader.choice(InputTopic.self)
            let partition = try narrow(reader.integer())
            op.cause = Position(topic: topic, partition: partition, offset: try reader.integer())
        }
        if flags.contains(.acceptedAt) { op.acceptedAt = try reader.time() }
        if flags.contains(.trace) { op.trace = TraceID(high: try reader.natural(), low: try reader.natural()) }
        op.mayHaveLeft = flags.contains(.mayHaveLeft)
        op.isLeaving = flags.contains(.isLeaving)
        op.isClosed = flags.contains(.isClosed)
        op.isCleared = flags.contains(.isCleared)
        op.wasAlerted = flags.contains(.wasAlerted)
        return op
    }

    private static func narrow(_ value: Int64) throws(TaskFailure) -> Int32 {
        guard let narrow = Int32(exactly: value) else {
            throw TaskFailure("an address row holds a number beyond 32 bits")
        }
        return narrow
    }
}
