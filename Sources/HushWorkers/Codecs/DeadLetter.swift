import HushAPNs
public import HushCore
public import HushStream

/// Makes records of `hush.dead`: key and value are the original's, byte for byte, but where no record can hold them.
public enum DeadLetter {
    /// Names of Kafka Streams' dead letters (KIP-1034).
    public static let topicHeader = "__streams.errors.topic"
    public static let partitionHeader = "__streams.errors.partition"
    public static let offsetHeader = "__streams.errors.offset"
    public static let exceptionHeader = "__streams.errors.exception"
    public static let messageHeader = "__streams.errors.message"
    /// Names of ours.
    public static let stageHeader = "hush.error.stage"
    public static let codeHeader = "hush.error.code"
    /// When the record was appended where it stood: milliseconds since 1970.
    public static let timeHeader = "hush.error.time"

    /// The original's headers, less those of an earlier death, and why it died now.
    public static func headers(
        of original: [RecordHeader], topic: String, partition: Int32, offset: Int64, timeMillis: Int64, stage: Stage,
        reason: DeadReason
    ) -> [RecordHeader] {
        func text(_ name: String, _ value: String) -> RecordHeader {
            RecordHeader(name: name, value: Array(value.utf8))
        }
        return original.filter { !isOurs($0.name) } + [
            text(topicHeader, topic),
            text(partitionHeader, "\(partition)"),
            text(offsetHeader, "\(offset)"),
            text(exceptionHeader, "hush.\(reason.code.rawValue)"),
            text(messageHeader, String(reason.message.prefix(messageCharactersMax))),
            text(stageHeader, stage.rawValue),
            text(codeHeader, reason.code.rawValue),
            text(timeHeader, "\(timeMillis)"),
        ]
    }

    package static let bytesHeader = "hush.error.value.bytes"
    package static let digestHeader = "hush.error.value.sha256"

    /// Sends an unusable record to `output` as it is; of a value that no record there can hold go size and digest.
    ///
    /// `keyless` is the partition where there is no key to choose one.
    static func send(
        _ record: InputRecord, of topic: String, stage: Stage, reason: DeadReason, to output: Int, keyless: Int32,
        _ context: TaskContext
    ) {
        func made(_ original: [RecordHeader]) -> [RecordHeader] {
            headers(
                of: original, topic: topic, partition: record.partition, offset: record.offset,
                timeMillis: record.appendTimeMillis, stage: stage, reason: reason)
        }
        func size(_ headers: [RecordHeader]) -> Int {
            headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.count }
        }
        let room = context.recordBytesMax
        let whole = made(record.headers.copied())
        let keyBytes = record.key?.count ?? 0
        if size(whole) + keyBytes + (record.value?.count ?? 0) <= room {
            context.send(
                output, partition: record.key == nil ? keyless : nil, key: record.key, value: record.value,
                headers: whole)
            return
        }
        let hash = SHA256Digest()
        if let value = record.value { hash.update(value) }
        let digest = [
            RecordHeader(name: bytesHeader, value: Array("\(record.value?.count ?? 0)".utf8)),
            RecordHeader(name: digestHeader, value: Hex.encode(hash.finish())),
        ]
        let short = size(whole) + size(digest) + keyBytes <= room ? whole : made([])
        let key = size(short) + size(digest) + keyBytes <= room ? record.key : nil
        context.send(output, partition: key == nil ? keyless : nil, key: key, value: nil, headers: short + digest)
    }

    /// The bytes that these headers may add to a record, with room to spare.
    public static let bytesMax = 64 << 10
    private static let messageCharactersMax = 1000

    /// Whether a header of this name tells of a death.
    package static func isOurs(_ name: String) -> Bool {
        name.hasPrefix("__streams.errors.") || name.hasPrefix("hush.error.")
    }
}
