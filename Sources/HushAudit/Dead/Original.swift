import HushAPNs
import HushCore
import HushStream
import HushWorkers

/// The value of a dead record: in the letter, or where the record died if it was too large for a letter.
enum Original {
    struct Gone: Error, CustomStringConvertible {
        var description: String
    }

    static func value(
        of letter: Letter, _ origin: TopicPlace, _ kafka: KafkaConfiguration, _ names: TopicNames, _ log: StreamLog
    ) -> Result<[UInt8]?, Gone> {
        guard let lost = letter.lost else { return .success(letter.value) }
        let record: ReadRecord?
        do throws(StreamFault) {
            let reader = try RecordReader(
                kafka, topics: [names.name(origin.topic)], from: .offsets([origin.partition: origin.offset]),
                name: "hush-dead", log: log)
            record = try reader.next(within: .seconds(30))
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
