import HushCore
import HushWorkers

/// Decodes text as the value of a record.
func decode(
    _ topic: InputTopic, _ value: String?, key: String? = nil, contentType: String? = nil, eventTime: String? = nil
) throws(DeadReason) -> DecodedInput {
    try decode(
        topic, bytes: value.map { Array($0.utf8) }, key: key.map { Array($0.utf8) }, contentType: contentType,
        eventTime: eventTime)
}

func decode(
    _ topic: InputTopic, bytes: [UInt8]?, key: [UInt8]?, contentType: String? = nil, eventTime: String? = nil,
    with decoder: InputDecoder = InputDecoder()
) throws(DeadReason) -> DecodedInput {
    let result = withMemory(bytes) { value in
        withMemory(key) { key in
            withMemory(contentType.map { Array($0.utf8) }) { type in
                withMemory(eventTime.map { Array($0.utf8) }) { time in
                    Result<DecodedInput, DeadReason> { () throws(DeadReason) in
                        try decoder.decode(
                            InputMessage(topic: topic, key: key, value: value, contentType: type, eventTime: time))
                    }
                }
            }
        }
    }
    return try result.get()
}

private func withMemory<Answer>(_ bytes: [UInt8]?, _ body: (UnsafeRawBufferPointer?) -> Answer) -> Answer {
    guard let bytes else { return body(nil) }
    return bytes.withUnsafeBytes { body($0) }
}

/// The reason for the dead letter, or nil where the record is good.
func deadReason(
    _ topic: InputTopic, _ value: String?, key: String? = "ada", contentType: String? = nil, eventTime: String? = nil
) -> DeadReason? {
    do {
        _ = try decode(topic, value, key: key, contentType: contentType, eventTime: eventTime)
        return nil
    } catch {
        return error
    }
}

func decodedIntent(
    _ value: String, key: String? = "ada", contentType: String? = nil, eventTime: String? = nil
) throws -> Intent {
    guard
        case .intent(let intent) = try decode(
            .intents, value, key: key, contentType: contentType, eventTime: eventTime
        ).event
    else { throw DeadReason(.badField, "not an intent") }
    return intent
}
