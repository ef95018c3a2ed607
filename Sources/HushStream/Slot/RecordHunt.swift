import CRdKafka

/// Finds the record whose writes Kafka refuses for what they are: transactions are halved until it stands alone.
///
/// Without it such a transaction would be aborted and read again for ever.
struct RecordHunt {
    struct Place: Hashable {
        var input: Int
        var partition: Int32
        var offset: Int64
    }

    enum Verdict: Equatable {
        /// The next transaction takes fewer records.
        case halved
        /// The record that stood alone is the one; its task keeps it aside when it comes again.
        case found
        /// Not a record's doing: the refusal came without one, or again where the one was kept aside.
        case hopeless
    }

    /// Refusals that would come again for the same bytes.
    static let codes: Set<Int32> = Set(
        [
            RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE, RD_KAFKA_RESP_ERR_INVALID_RECORD,
            RD_KAFKA_RESP_ERR_POLICY_VIOLATION,
        ].map(\.rawValue))

    /// How many records the next transaction may take.
    private(set) var recordsMax = Int.max
    /// The record to keep aside, and why.
    private(set) var found: (place: Place, reason: String)?

    /// A transaction of `records` records, the last one at `last`, was refused.
    mutating func refused(records: Int, last: Place?, reason: String) -> Verdict {
        guard records > 0, let last, found?.place != last else { return .hopeless }
        if records == 1 {
            found = (last, reason)
            recordsMax = 1
            return .found
        }
        recordsMax = records / 2
        return .halved
    }

    /// A transaction was committed: the next may be larger again.
    mutating func committed() {
        if found != nil {
            self = RecordHunt()
        } else if recordsMax < Int.max {
            recordsMax = recordsMax > Int.max / 2 ? .max : recordsMax * 2
        }
    }
}
