import HushCore
import HushStream

/// Where a record was first written, told by the headers of one that was moved to its recipient's partition.
///
/// Registers are versioned by it, so a detour changes no order. Any writer of the topic can set these headers; what they
/// claim is never later than the record itself.
package enum RecordOrigin {
    package static let partitionHeader: StaticString = "hush.origin.partition"
    package static let offsetHeader: StaticString = "hush.origin.offset"
    package static let timeHeader: StaticString = "hush.origin.time"

    /// Nil where the record was not moved.
    static func read(_ record: InputRecord) -> BindingVersion? {
        guard !record.headers.isEmpty,
            let partition = number(partitionHeader, record).flatMap(Int32.init(exactly:)),
            let offset = number(offsetHeader, record), let time = number(timeHeader, record)
        else { return nil }
        return BindingVersion(
            at: Timestamp(millis: min(time, record.appendTimeMillis)), partition: partition, offset: offset)
    }

    /// The record's own headers, and where it stands.
    static func headers(of record: InputRecord) -> [RecordHeader] {
        func header(_ name: StaticString, _ number: some BinaryInteger) -> RecordHeader {
            RecordHeader(name: "\(name)", value: Array("\(number)".utf8))
        }
        return record.headers.copied() + [
            header(partitionHeader, record.partition), header(offsetHeader, record.offset),
            header(timeHeader, record.appendTimeMillis),
        ]
    }

    private static func number(_ name: StaticString, _ record: InputRecord) -> Int64? {
        record.headers.withValue(of: name) { value in
            value.flatMap { Int64(String(decoding: $0, as: UTF8.self)) }.flatMap { $0 >= 0 ? $0 : nil }
        }
    }
}
