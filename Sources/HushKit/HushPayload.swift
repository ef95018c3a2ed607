import HushCore

/// A payload of the `hush` dialect, version 1, as it was read.
struct HushPayload {
    enum Op {
        /// `isTold`: an alert may have told of it, so that it makes no sound again.
        case create(id: Bytes, revision: Int64, content: PayloadValue, isTold: Bool)
        case delete(id: Bytes, through: Int64)
        case bind
        case hello
    }

    struct NamedOp {
        /// The op's id, opaque to the app.
        var name: Bytes
        var op: Op
    }

    enum Failure: Error {
        /// No payload of ours.
        case foreign
        /// Of a version that this build does not know, or not shaped as its version says.
        case notUnderstood
    }

    var to: Bytes
    var version: BindingVersion
    var ops: [NamedOp]
    /// Ops of a kind or shape that this build does not know; the others are good.
    var opsNotUnderstood: Int

    init(_ payload: PayloadValue) throws(Failure) {
        guard let body = payload["hush"] else { throw .foreign }
        guard body["v"]?.integer == 1, let to = body["to"]?.string, let version = body["b"].flatMap(Self.version),
            let ops = body["ops"]?.array
        else { throw .notUnderstood }
        self.to = to
        self.version = version
        self.ops = ops.compactMap(Self.op)
        opsNotUnderstood = ops.count - self.ops.count
    }

    /// `[1764583200123, 3, 88]`: append time in milliseconds, partition, offset.
    private static func version(_ value: PayloadValue) -> BindingVersion? {
        guard let parts = value.array, parts.count == 3, let millis = parts[0].integer,
            let partition = parts[1].integer.flatMap(Int32.init(exactly:)), let offset = parts[2].integer
        else { return nil }
        return BindingVersion(at: Timestamp(millis: millis), partition: partition, offset: offset)
    }

    /// `[op id, kind, notification id, revision, content, 1 where an alert may have told of it]`.
    private static func op(_ value: PayloadValue) -> NamedOp? {
        guard let parts = value.array, parts.count >= 2, let name = parts[0].string, let kind = parts[1].string else {
            return nil
        }
        switch kind {
        case "b": return NamedOp(name: name, op: .bind)
        case "h": return NamedOp(name: name, op: .hello)
        case "c":
            guard parts.count >= 5, let id = parts[2].id, let revision = revision(parts[3]), parts[4].object != nil
            else { return nil }
            return NamedOp(
                name: name,
                op: .create(
                    id: id, revision: revision, content: parts[4], isTold: parts.count > 5 && parts[5] == 1))
        case "d":
            guard parts.count >= 4, let id = parts[2].id, let revision = revision(parts[3]) else { return nil }
            return NamedOp(name: name, op: .delete(id: id, through: revision))
        default: return nil
        }
    }

    private static func revision(_ value: PayloadValue) -> Int64? {
        value.integer.flatMap { $0 >= 1 ? $0 : nil }
    }
}
