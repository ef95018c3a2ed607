import Foundation
import HushBase

@testable import HushStream

/// Reads a whole topic with Kafka's own rules for committed records, through a slot-free path: `RecordDump`.
enum KafkaReader {
    struct Record {
        var partition: Int32
        var offset: Int64
        var key: [UInt8]
        var value: [UInt8]
    }

    static func read(_ topic: String, partitions: Int32, kafka: KafkaConfiguration) throws -> [Record] {
        var records: [Record] = []
        try RecordDump.read(topic, partitions: partitions, kafka: kafka) { partition, offset, key, value in
            records.append(
                Record(
                    partition: partition, offset: offset, key: key.map { Array($0) } ?? [],
                    value: value.map { Array($0) } ?? []))
        }
        return records
    }
}
