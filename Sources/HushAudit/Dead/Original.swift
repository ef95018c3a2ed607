import HushAPNs
import HushBase
import HushCore
import HushStream
import HushWorkers

/// The value of a dead record: in the letter, or where the record died if it was too large for a letter.
enum Original {
    /// How long the brokers may give nothing.
    private static let patience = Duration.seconds(30)

    struct Gone: Error, CustomStringConvertible {
        var description: String
    }

    static func value(
        of letter: Letter, _ origin: TopicPlace, _ kafka: KafkaConfiguration, _ names: TopicNames, _ log: StreamLog,
        _ isStopped: () -> Bool
    ) -> Result<[UInt8]?, Gone> {
        guard let lost = letter.lost else { return .success(letter.value) }
        var record: ReadRecord?
        do throws(StreamFault) {
            let reader = try RecordReader(
                kafka, topics: [names.name(origin.topic)], from: .offsets([origin.partition: origin.offset]),
                name: "hush-dead", log: log)
            let deadline = MonotonicTime.now() + patience
            while record == nil, MonotonicTime.now() < deadline, !isStopped() {
                record = try reader.next(within: .milliseconds(200))
                if reader.isCaughtUp { break }
            }
        } catch {
            return .failure(Gone(description: "its value is only at \(origin), which cannot be read: \(error)"))
        }
        guard let record, record.offset == origin.offset, let value = record.value else {
            return .failure(Gone(description: "its value was only at \(origin), and is gone from there"))
        }
        let hash = SHA256Digest()
        hash.update(value)
        guard value.count == lost.bytes, Bytes(Hex.encode(hash.finish())) == lost.digest else {
            return .failure(Gone(description: "what is at \(origin) is not the record that died there"))
        }
        return .success(value)
    }
}
