/// One record for `hush.pushes`.
public struct PlannedPush: Hashable, Sendable {
    public var address: Address
    public var record: PushRecord
    /// Whether the record equals the one before it, so that its bytes may be used again.
    public var repeatsPrevious: Bool
}

/// What one step of the planner asks for, in order. Keep one and empty it for each record: its buffers stay.
public struct PlanEffects: Hashable, Sendable {
    public private(set) var pushes: [PlannedPush] = []
    public private(set) var lines: [PlanLine] = []

    public init() {}

    public mutating func removeAll() {
        pushes.removeAll(keepingCapacity: true)
        lines.removeAll(keepingCapacity: true)
    }

    /// Shows every push in order, and forgets it. To look at an element of an array copies all its fields, with a retain
    /// and a release each; what is taken off the end is moved.
    public mutating func drainPushes(_ body: (PlannedPush) -> Void) {
        pushes.reverse()
        while let push = pushes.popLast() { body(push) }
    }

    /// Shows every line in order, and forgets it, as `drainPushes` does.
    public mutating func drainLines(_ body: (PlanLine) -> Void) {
        lines.reverse()
        while let line = lines.popLast() { body(line) }
    }

    @usableFromInline
    mutating func push(_ record: PushRecord, to address: Address, repeatsPrevious: Bool = false) {
        pushes.append(PlannedPush(address: address, record: record, repeatsPrevious: repeatsPrevious))
    }

    @usableFromInline
    mutating func line(_ line: consuming PlanLine) {
        lines.append(line)
    }

    /// Ops of one address, in as many records as keep each well below what a broker takes.
    @usableFromInline
    mutating func push(_ ops: [Op], owner: Bytes, cause: Position, to address: Address) {
        var start = 0
        var size = 0
        for (index, op) in ops.enumerated() {
            let bytes = op.id.count + (op.content?.json.count ?? 0)
            if index > start, index - start >= Self.opsPerRecordMax || size + bytes > Self.recordContentBytesMax {
                push(.ops(owner: owner, ops: Array(ops[start..<index]), cause: cause), to: address)
                start = index
                size = 0
            }
            size += bytes
        }
        guard start < ops.count else { return }
        push(.ops(owner: owner, ops: start == 0 ? ops : Array(ops[start...]), cause: cause), to: address)
    }

    /// Ops in one record of `hush.pushes`.
    public static let opsPerRecordMax = 64
    /// Ids and contents in one record of `hush.pushes`, where it holds more than one op.
    public static let recordContentBytesMax = 128 << 10
}
