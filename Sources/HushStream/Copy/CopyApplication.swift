/// The simplest application there is: every record goes on as it came, and each key is counted.
///
/// The layer's proofs and measurements run it: what it writes can be checked from the input alone.
package final class CopyApplication: StreamApplication {
    /// How a configuration names the parts.
    package static let output = 0
    package static let counts = 0

    private let beforeRecord: @Sendable (InputRecord) -> Void
    private let beforeCommit: @Sendable () -> Void
    private let isFull: @Sendable () -> Bool

    /// The closures run before each record and each commit: to slow a slot down, or to make something happen there.
    /// While `isFull` says so records wait.
    package init(
        beforeRecord: @escaping @Sendable (InputRecord) -> Void = { _ in },
        beforeCommit: @escaping @Sendable () -> Void = {}, isFull: @escaping @Sendable () -> Bool = { false }
    ) {
        self.isFull = isFull
        self.beforeRecord = beforeRecord
        self.beforeCommit = beforeCommit
    }

    package func makeTask(partition: Int32) -> CopyTask {
        CopyTask(beforeRecord: beforeRecord, beforeCommit: beforeCommit)
    }

    package func turn(_ tasks: [Int32: (task: CopyTask, context: TaskContext)]) {}

    package var isSaturated: Bool { isFull() }

    package func wasFrozen() {}

    /// A slot that copies `input` to `output`, with its counts in `changelog`; all have the same partition count.
    package static func configuration(
        name: String, slot: String, input: String, output: String, changelog: String, partitionCount: Int32
    ) -> StreamConfiguration {
        StreamConfiguration(
            application: name, groupID: name, slotName: slot, transactionalIDPrefix: name, inputs: [input],
            partitionCount: partitionCount,
            outputs: [StreamOutput(topic: output, partitionCount: partitionCount)],
            tables: [StateTable(name: "counts", changelog: changelog, kind: .compacted)])
    }
}

/// Copies the records of one partition.
package final class CopyTask: PartitionTask {
    private let beforeRecord: @Sendable (InputRecord) -> Void
    private let beforeCommit: @Sendable () -> Void

    fileprivate init(
        beforeRecord: @escaping @Sendable (InputRecord) -> Void, beforeCommit: @escaping @Sendable () -> Void
    ) {
        self.beforeRecord = beforeRecord
        self.beforeCommit = beforeCommit
    }

    package func restored(_ context: TaskContext) {}

    package func process(_ record: InputRecord, _ context: TaskContext) throws(TaskFailure) {
        guard let key = record.key else {
            throw TaskFailure("offset \(record.offset) of partition \(record.partition) has no key")
        }
        beforeRecord(record)
        // In decimal digits, so that Kafka's own tools can show it.
        let count = context.withValue(CopyApplication.counts, key) { value in
            (value ?? UnsafeRawBufferPointer(start: nil, count: 0)).reduce(UInt64(0)) { $0 * 10 + UInt64($1 & 15) }
        }
        Array("\(count + 1)".utf8).withUnsafeBytes { context.put(CopyApplication.counts, key, $0) }
        context.send(CopyApplication.output, partition: record.partition, key: key, value: record.value)
    }

    /// A record that the output does not take goes on as its key alone.
    package func setAside(_ record: InputRecord, _ reason: String, _ context: TaskContext) {
        context.send(CopyApplication.output, partition: record.partition, key: record.key, value: nil)
    }

    package func prepareCommit(_ context: TaskContext) { beforeCommit() }

    package func committed(_ context: TaskContext) {}

    package func aborted(_ context: TaskContext) {}

    package func woken(_ context: TaskContext) {}

    package func drain(_ context: TaskContext) -> Bool { true }

    package func closed() {}
}
