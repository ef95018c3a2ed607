import HushCore
import HushStream
import HushWorkers

@testable import HushAudit

extension VirtualPath {
    /// Decides all planners' inputs again, as `hush replay` does. `alter` is asked for each input and each ledger line.
    func replay(
        policy: Policy = Policy(), key: PseudonymKey? = nil,
        altering input: (InputTopic, Int32, Int64, inout ReplayInput) -> Void = { _, _, _, _ in },
        lines: (Int32, Int64, inout [UInt8]) -> Void = { _, _, _ in },
        hiding isHidden: (Int32, Int64) -> Bool = { _, _ in false }, ledgerFrom firstLine: Int64 = 0,
        signalsFrom firstSignal: Int64 = 0
    ) throws -> ReplayReport {
        var random = SplitMix64(seed: 3)
        var pushes = PushTable(&random)
        showPushes { record in if !isHidden(record.partition, record.offset) { pushes.take(record) } }
        var setup = ReplayDriver.Setup(
            policy: policy, partitions: Self.partitionCount, pushesPartitions: Self.partitionCount)
        setup.build = "test"
        setup.pseudonymKey = key
        var report = ReplayReport()
        var spans: [Int32: PushTable.Span] = [:]
        var drivers: [Int32: ReplayDriver] = [:]
        for partition in 0..<Self.partitionCount {
            let driver = try ReplayDriver(setup, partition: partition)
            driver.firsts[.signals] = firstSignal
            for topic in InputTopic.allCases {
                for (offset, record) in records(of: topic.topic)[Int(partition)].enumerated()
                where topic != .signals || offset >= firstSignal {
                    var given = ReplayInput(
                        offset: Int64(offset), appended: Timestamp(millis: record.millis), key: record.key,
                        value: record.value, headers: record.headers)
                    input(topic, partition, Int64(offset), &given)
                    driver.give(topic, given)
                }
            }
            var parts = PartReader(partition: partition)
            for (offset, record) in records(of: .ledger)[Int(partition)].enumerated() where offset >= firstLine {
                var line = record.value ?? []
                lines(partition, Int64(offset), &line)
                let part = parts.take(line, offset: Int64(offset), appended: Timestamp(millis: record.millis))
                if let part, driver.wants(part, ledgerFrom: parts.firstNumber ?? 0) {
                    try driver.replay(part, &pushes)
                }
            }
            report.add(driver.finished())
            spans[partition] = driver.span
            drivers[partition] = driver
        }
        showPushes { record in
            if isHidden(record.partition, record.offset) { return }
            let difference = pushes.leftover(
                record, spans: spans, plannerPartitions: Self.partitionCount,
                isReplayed: { drivers[$0.partition]?.hasReplayed($0) ?? false })
            if let difference { report.add(difference) }
        }
        pushes.closeLacking(&report)
        report.settle()
        return report
    }

    private func showPushes(_ body: (InputRecord) -> Void) {
        for (partition, records) in records(of: .pushes).enumerated() {
            for (offset, record) in records.enumerated() {
                (record.key ?? []).withUnsafeBytes { key in
                    (record.value ?? []).withUnsafeBytes { value in
                        body(
                            InputRecord(
                                input: 0, partition: Int32(partition), offset: Int64(offset),
                                appendTimeMillis: record.millis, key: key, value: value, headers: InputHeaders([])))
                    }
                }
            }
        }
    }
}
