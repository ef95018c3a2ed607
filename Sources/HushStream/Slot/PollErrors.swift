import CRdKafka

/// What an error that polling shows means for a slot.
enum PollErrors {
    /// The fault that ends the slot; nil where librdkafka goes on by itself.
    static func judge(_ code: rd_kafka_resp_err_t, place: String, words: String, group: String) -> StreamFault? {
        switch code {
        case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE, RD_KAFKA_RESP_ERR__NO_OFFSET:
            return .refused(
                "\(place): the offset of group \(group) is not in the topic (\(words)). Records may be lost: set the "
                    + "group's offsets by hand, then start again")
        case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
            RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
            return .refused(
                "\(place): the topic or the partition does not exist (\(words)). If it was deleted, hush topics create "
                    + "makes it anew, without what it held")
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
            RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR__AUTHENTICATION:
            return .refused("\(place): no permission (\(words))")
        case RD_KAFKA_RESP_ERR__BAD_MSG, RD_KAFKA_RESP_ERR_INVALID_MSG, RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
            return .refused("\(place): a record cannot be read (\(words)). It is not skipped: mend or move the topic")
        case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
            return .fenced(KafkaCause("poll", code, words))
        case RD_KAFKA_RESP_ERR__FATAL:
            return .fatal(KafkaCause("poll", code, words))
        default:
            return nil
        }
    }
}
