public import HushCore
public import HushStream

/// Makes the headers of a record of `hush.dead`; its key and value are the original's, byte for byte.
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

    /// The original's headers, less those of an earlier death, and why it died now.
    public static func headers(
        of original: [RecordHeader], topic: String, partition: Int32, offset: Int64, stage: Stage, reason: DeadReason
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
        ]
    }

    /// The bytes that these headers may add to a record, with room to spare.
    public static let bytesMax = 64 << 10
    private static let messageCharactersMax = 1000

    private static func isOurs(_ name: String) -> Bool {
        name.hasPrefix("__streams.errors.") || name.hasPrefix("hush.error.")
    }
}
