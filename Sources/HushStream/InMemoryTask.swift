/// Drives a task without Kafka: sent records in a list, state in memory or, where it may be large, in a directory. For
/// tests, replays and tools.
public final class InMemoryTask {
    public let context: TaskContext
    /// The directory that the state is in, and how far it is; nil: it is in memory.
    private let home: StateHome?
    private var checkpoint: Checkpoint?

    public init(
        partition: Int32 = 0, inputCount: Int, outputPartitionCounts: [Int32], tables: [StateTable],
        recordBytesMax: Int = 1_000_000
    ) {
        home = nil
        context = Self.context(
            TaskState(tables: tables, base: .memory(MemoryStore()), nowMillis: 0), partition, inputCount,
            Outlet(partitionCounts: outputPartitionCounts, recordBytesMax: recordBytesMax, collects: true))
    }

    /// Goes on from the state that a slot left in this directory, whatever its age; makes one where there is none.
    /// - Throws: `StreamFault` where it cannot be opened, or belongs to another application or number of partitions.
    public init(_ configuration: StreamConfiguration, partition: Int32, home: StateHome) throws(StreamFault) {
        let store = try home.acquire(
            configuration.storeName(partition), tables: configuration.tables)
        let found = try store.checkpoint()
        if let found, found.identity != configuration.identity {
            throw .refused("\(store.directory) belongs to \(found.identity), not to \(configuration.identity)")
        }
        let checkpoint =
            found
            ?? Checkpoint(
                identity: configuration.identity,
                changelogOffsets: Array(repeating: 0, count: configuration.tables.count), nowMillis: 0,
                writtenMillis: 0, transactions: 0)
        store.setTime(checkpoint.nowMillis)
        self.home = home
        self.checkpoint = checkpoint
        context = Self.context(
            TaskState(tables: configuration.tables, base: .store(store), nowMillis: checkpoint.nowMillis), partition,
            configuration.inputs.count,
            Outlet(
                partitionCounts: configuration.outputs.map(\.partitionCount),
                recordBytesMax: configuration.recordBytesMax, collects: true))
    }

    private static func context(
        _ state: TaskState, _ partition: Int32, _ inputCount: Int, _ outlet: Outlet
    ) -> TaskContext {
        let context = TaskContext(partition: partition, state: state, outlet: outlet, inputCount: inputCount)
        context.positions = Array(repeating: 0, count: inputCount)
        return context
    }

    /// Lets go of the directory, where there is one; the task is not driven any more.
    public func close() throws(StreamFault) {
        if case .store(let store) = context.state.base { try home?.close(store) }
    }

    /// The next offset of each table's changelog, as of the last commit of the state that it went on from; empty where it
    /// is in memory.
    public var changelogOffsets: [Int64] { checkpoint?.changelogOffsets ?? [] }

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
        do throws(StreamFault) {
            try applyState()
        } catch {
            throw TaskFailure("\(error)")
        }
        context.state.settle()
        context.isTouched = false
        context.outlet.clear()
        let sent = context.outlet.takeList()
        task.committed(context)
        return sent
    }

    private func applyState() throws(StreamFault) {
        if let fault = context.state.fault { throw fault }
        switch context.state.base {
        case .memory(let store): store.apply(context.state.overlay)
        case .store(let store):
            guard var next = checkpoint else { return }
            next.nowMillis = context.state.nowMillis
            next.transactions += 1
            try context.state.apply(to: store, checkpoint: next)
            checkpoint = next
        }
    }

    /// What was sent since it was last asked for, the last commit or abort, which do not tell it again.
    public func takeSent() -> [SentRecord] { context.outlet.takeList() }

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
