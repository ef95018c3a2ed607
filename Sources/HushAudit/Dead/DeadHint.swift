public import HushCore

/// What to do about a dead letter.
public enum DeadHint {
    /// One or two sentences for people; for a code that this version does not know, a general one.
    public static func text(_ code: String) -> String {
        guard let code = DeadCode(rawValue: code) else {
            return "This version does not know the code; a newer hush, or another program, wrote the letter."
        }
        return text(code)
    }

    public static func text(_ code: DeadCode) -> String {
        switch code {
        case .noValue:
            "Its producer sent a key without a value, as for a compacted topic. To take a notification back, "
                + "retract it; else redrive it with a value (--mended)."
        case .notUTF8, .notJSON, .notObject:
            "Mend its producer's encoding. Export the letter, correct its value, and redrive it (--mended)."
        case .tooDeep, .tooLarge:
            "Its producer sends more than a notification holds. Send a shorter one, or mend and redrive it (--mended)."
        case .badEnvelope:
            "Mend the CloudEvents library or settings of its producer: specversion 1.0, and JSON data. Then redrive it "
                + "mended (--mended)."
        case .missingField, .badField:
            "The message names the field; docs/reference/records.md says what it must be. Mend its producer, then redrive "
                + "it mended (--mended)."
        case .misrouted:
            "Somebody copied a record that hush had moved, headers and all, or partitions were added. Redrive it: it goes "
                + "to its recipient's partition."
        case .undeliverable:
            "The device's dialect has no form for it. Register the device under another, or send the notification again."
        case .unwritable:
            "Kafka refused what it leads to; the message says why. Raise the topic's limit (hush topics check), then "
                + "redrive it."
        case .tooManyAudiences:
            "Its partition is busy with others. Redrive it when hush_audience_jobs has fallen, or raise "
                + "planner.audiences.max first."
        }
    }
}
