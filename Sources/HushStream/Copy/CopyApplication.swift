/// The simplest application there is: every record goes on as it came, and each key is counted.
///
/// The layer's proofs and measurements run it: what it writes can be checked from the input alone.
package final class CopyApplication: StreamApplication {
    /// How a configuration names the parts.
    package static let output = 0
    package static let counts = 0

    package init() {}

    package func makeTask(partition: Int32) -> CopyTask { CopyTask() }

    package func turn(_ tasks: [Int32: (task: CopyTask, context: TaskContext)]) {}

    package var isSaturated: Bool { false }

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
    package private(set) var commits = 0
    package private(set) var aborts = 0

    package func restored(_ context: TaskContext) {}

    package func process(_ record: InputRecord, _ context: TaskContext) throws(TaskFailure) {
        guard let key = record.key else {
            throw TaskFailure("offset \(record.offset) of partition \(record.partition) has no key")
        }
        var count = context.withValue(CopyApplication.counts, key) { value in
            guard let value, value.count == 8 else { return UInt64(0) }
            return UInt64(bigEndian: value.loadUnaligned(as: UInt64.self))
        }
        count += 1
        withUnsafeBytes(of: count.bigEndian) { context.put(CopyApplication.counts, key, $0) }
        context.send(CopyApplication.output, partition: record.partition, key: key, value: record.value)
    }

    package func prepareCommit(_ context: TaskContext) {}

    package func committed(_ context: TaskContext) { commits += 1 }

    package func aborted(_ context: TaskContext) { aborts += 1 }

    package func woken(_ context: TaskContext) {}

    package func drain(_ context: TaskContext) -> Bool { true }

    package func closed() {}
}
