/// Drives a task without Kafka: state in memory, sent records in a list. For tests, replays and tools.
public final class InMemoryTask {
    public let context: TaskContext
    private let store = MemoryStore()

    public init(
        partition: Int32 = 0, inputCount: Int, outputPartitionCounts: [Int32], tables: [StateTable],
        recordBytesMax: Int = 1_000_000
    ) {
        let state = TaskState(tables: tables, base: .memory(store), nowMillis: 0)
        let outlet = Outlet(
            partitionCounts: outputPartitionCounts, recordBytesMax: recordBytesMax, collects: true)
        context = TaskContext(partition: partition, state: state, outlet: outlet, inputCount: inputCount)
        context.positions = Array(repeating: 0, count: inputCount)
    }

    public convenience init(_ configuration: StreamConfiguration, partition: Int32 = 0) {
        self.init(
            partition: partition, inputCount: configuration.inputs.count,
            outputPartitionCounts: configuration.outputs.map(\.partitionCount), tables: configuration.tables,
            recordBytesMax: configuration.recordBytesMax)
    }

    /// Gives a record to a task as a slot does; with a reason as one whose effects Kafka refuses.
    public func process(
        _ task: some PartitionTask, input: Int, offset: Int64, appendMillis: Int64, key: [UInt8]?, value: [UInt8]?,
        headers: [RecordHeader] = [], refusedFor reason: String? = nil
    ) throws(TaskFailure) {
        let keyCopy = Self.copy(key)
        let valueCopy = Self.copy(value)
        defer {
            keyCopy?.deallocate()
            valueCopy?.deallocate()
        }
        context.state.advance(to: appendMillis)
        context.positions[input] = offset + 1
        let record = InputRecord(
            input: input, partition: context.partition, offset: offset, appendTimeMillis: appendMillis,
            key: keyCopy.map { UnsafeRawBufferPointer($0) }, value: valueCopy.map { UnsafeRawBufferPointer($0) },
            headers: InputHeaders(headers))
        if let reason { try task.setAside(record, reason, context) } else { try task.process(record, context) }
    }

    private static func copy(_ bytes: [UInt8]?) -> UnsafeMutableRawBufferPointer? {
        bytes.map { bytes in
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            copy.copyBytes(from: bytes)
            return copy
        }
    }

    /// Commits what was written, and tells the task; returns what was sent since the last commit or abort.
    public func commit(_ task: some PartitionTask) throws(TaskFailure) -> [SentRecord] {
        try task.prepareCommit(context)
        store.apply(context.state.overlay)
        context.state.settle()
        context.isTouched = false
        context.outlet.clear()
        let sent = context.outlet.takeList()
        task.committed(context)
        return sent
    }

    /// Drops what was written and sent since the last commit, and tells the task.
    public func abort(_ task: some PartitionTask) {
        context.state.rollBack()
        context.isTouched = false
        context.outlet.clear()
        _ = context.outlet.takeList()
        task.aborted(context)
    }

    /// Calls `woken` if that is due at a time of the wall clock; false where it is not.
    public func wake(_ task: some PartitionTask, nowMillis: Int64) throws(TaskFailure) -> Bool {
        guard context.takeWake(nowMillis: nowMillis) else { return false }
        try task.woken(context)
        return true
    }

    /// When `woken` was asked for; nil where it was not.
    public var wakeAtMillis: Int64? { context.wakeAtMillis }
}
