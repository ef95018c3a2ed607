/// What a task may do: read and write its state, send records, ask to be woken. Of the slot's thread only.
///
/// Keys, values and records are copied before a call returns. What a read shows is valid inside its body alone. A store
/// that cannot be read, or a record that cannot be sent, is not told here: the slot aborts the transaction instead, so
/// nothing that rests on it is ever committed.
public final class TaskContext {
    public let partition: Int32
    let state: TaskState
    let outlet: Outlet
    /// The next offset of each input: what is before it is in this transaction or in an earlier one.
    var positions: [Int64]
    private(set) var wakeAtMillis: Int64?
    private(set) var isSignalled = false
    /// Whether something was done since the last commit that wants one.
    var isTouched = false

    /// True from the moment the slot found itself stopped for too long until a transaction that was begun afterwards
    /// has committed. While it holds, side effects outside Kafka must not begin, not even in `PartitionTask.committed`.
    public internal(set) var isHeld = false

    init(partition: Int32, state: TaskState, outlet: Outlet, inputCount: Int) {
        self.partition = partition
        self.state = state
        self.outlet = outlet
        positions = Array(repeating: -1, count: inputCount)
    }

    // MARK: state

    /// Shows the value of a key in a table, or nil; a value past its drop time is absent.
    @inline(__always)
    public func withValue<Result, Failure: Error>(
        _ table: Int, _ key: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer?) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try state.withValue(table, key, body)
    }

    /// The value of a key, copied; for where speed does not count.
    public func value(_ table: Int, _ key: [UInt8]) -> [UInt8]? {
        key.withUnsafeBytes { state.withValue(table, $0) { value in value.map { [UInt8]($0) } } }
    }

    public func put(_ table: Int, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        isTouched = true
        state.write(table, key, value)
    }

    public func put(_ table: Int, _ key: [UInt8], _ value: [UInt8]) {
        key.withUnsafeBytes { key in value.withUnsafeBytes { put(table, key, $0) } }
    }

    public func delete(_ table: Int, _ key: UnsafeRawBufferPointer) {
        isTouched = true
        state.write(table, key, nil)
    }

    public func delete(_ table: Int, _ key: [UInt8]) {
        key.withUnsafeBytes { delete(table, $0) }
    }

    /// Shows every key of a table that begins with `prefix`, in the order of their bytes, with its value, until the body
    /// says false. What the body writes is not seen by this scan.
    public func scan<Failure: Error>(
        _ table: Int, prefix: UnsafeRawBufferPointer,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(Failure) -> Bool
    ) throws(Failure) {
        try state.scan(table, prefix: prefix, body)
    }

    /// As `scan`, from the first key behind `after` on; for long walks in pieces, which keep nothing of what they read
    /// in the block cache.
    public func walk<Failure: Error>(
        _ table: Int, prefix: UnsafeRawBufferPointer, after: UnsafeRawBufferPointer?,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(Failure) -> Bool
    ) throws(Failure) {
        try state.scan(table, prefix: prefix, after: after, isWalk: true, body)
    }

    // MARK: output

    /// Sends a record within this transaction to `StreamConfiguration.outputs[output]`: to the partition given, where it
    /// is nil to the one murmur2 of the key says, and then there must be a key.
    public func send(
        _ output: Int, partition: Int32? = nil, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?
    ) {
        isTouched = true
        outlet.send(output, partition, key, value, [])
    }

    /// Sends a record with headers.
    public func send(
        _ output: Int, partition: Int32? = nil, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
        headers: [RecordHeader]
    ) {
        isTouched = true
        outlet.send(output, partition, key, value, headers)
    }

    public func partitionCount(_ output: Int) -> Int32 { outlet.partitionCounts[output] }

    /// The largest record (key, value and headers) that can be sent.
    public var recordBytesMax: Int { outlet.recordBytesMax }

    // MARK: time

    /// The highest append time this task has seen, in milliseconds since 1970; survives restarts, 0 before any record.
    public var lastAppendMillis: Int64 { state.nowMillis }

    /// Asks for `PartitionTask.woken` once the wall clock has reached a time; the earliest asked for counts, until then.
    public func wake(atMillis: Int64) {
        wakeAtMillis = min(wakeAtMillis ?? .max, atMillis)
    }

    /// Asks for `PartitionTask.woken` in this turn of the loop.
    public func signal() {
        isSignalled = true
    }

    /// Whether `woken` is due; what was asked for is then forgotten.
    func takeWake(nowMillis: Int64) -> Bool {
        let isTime = wakeAtMillis.map { $0 <= nowMillis } ?? false
        guard isTime || isSignalled else { return false }
        isSignalled = false
        if isTime { wakeAtMillis = nil }
        return true
    }
}
