import CRdKafka

/// What a broker or librdkafka said: which call, its code and name, its words.
public struct KafkaCause: Hashable, Sendable, CustomStringConvertible {
    public var operation: String
    /// The code of Kafka's protocol, or librdkafka's own where it is negative.
    public var code: Int32
    public var name: String
    public var message: String

    public init(operation: String, code: Int32, name: String, message: String) {
        self.operation = operation
        self.code = code
        self.name = name
        self.message = message
    }

    public var description: String { "\(operation): \(message) (\(name))" }
}

/// Why something on Kafka or in the state failed, named by what is to be done.
public enum StreamFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The same call with the same arguments may succeed.
    case retriable(KafkaCause)
    /// The transaction must be aborted; then work goes on.
    case abortable(KafkaCause)
    /// Another producer took the transactional id, or the broker ended the transaction: this one must end, and a new one may start.
    case fenced(KafkaCause)
    /// The client is of no use any more; a new one may work.
    case fatal(KafkaCause)
    /// A setting, a topic or an offset is not as it must be: nothing works until somebody mends it.
    case refused(String)
    /// The local state cannot be read or written.
    case state(String)
    /// A task cannot go on; the same record would fail again.
    case task(TaskFailure)

    public var description: String {
        switch self {
        case .retriable(let cause): "\(cause), may be tried again"
        case .abortable(let cause): "\(cause), the transaction has to be aborted"
        case .fenced(let cause): "\(cause), fenced"
        case .fatal(let cause): "\(cause), fatal"
        case .refused(let reason): reason
        case .state(let reason): "state: \(reason)"
        case .task(let failure): "task: \(failure)"
        }
    }

    /// What Kafka said, where it was Kafka.
    var kafkaCause: KafkaCause {
        switch self {
        case .retriable(let cause), .abortable(let cause), .fenced(let cause), .fatal(let cause): cause
        case .refused(let reason), .state(let reason): KafkaCause("hush", RD_KAFKA_RESP_ERR__FAIL, reason)
        case .task(let failure): KafkaCause("task", RD_KAFKA_RESP_ERR__FAIL, failure.description)
        }
    }

    /// Whether a new slot may succeed where this one ended; false where a person has to act first.
    public var isMendedByRestart: Bool {
        switch self {
        case .retriable, .abortable, .fenced, .fatal: true
        case .refused, .state, .task: false
        }
    }
}

extension KafkaCause {
    init(_ operation: String, _ code: rd_kafka_resp_err_t, _ message: String? = nil) {
        self.init(
            operation: operation, code: code.rawValue, name: String(cString: rd_kafka_err2name(code)),
            message: message ?? String(cString: rd_kafka_err2str(code)))
    }
}

extension StreamFault {
    /// Codes that mean "somebody else has this transactional id now, or the broker has closed the transaction".
    ///
    /// The code decides, not the flag: librdkafka 2.0.2 flags some of these as abortable, where an abort cannot succeed.
    static let fencingCodes: Set<Int32> = Set(
        [
            RD_KAFKA_RESP_ERR__FENCED, RD_KAFKA_RESP_ERR_PRODUCER_FENCED, RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH,
            RD_KAFKA_RESP_ERR_INVALID_PRODUCER_ID_MAPPING, RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID,
            RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID,
        ].map(\.rawValue))

    /// Codes of calls outside transactions that pass by themselves.
    static let retriableCodes: Set<Int32> = Set(
        [
            RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
            RD_KAFKA_RESP_ERR__WAIT_COORD, RD_KAFKA_RESP_ERR__RESOLVE, RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE,
            RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
            RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE,
            RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION, RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS,
            RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_NOT_COORDINATOR,
            RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT,
            RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS,
        ].map(\.rawValue))

    /// Judges a plain code: fencing, passing, else fatal.
    init(_ operation: String, _ code: rd_kafka_resp_err_t, _ message: String? = nil) {
        let cause = KafkaCause(operation, code, message)
        if Self.fencingCodes.contains(code.rawValue) {
            self = .fenced(cause)
        } else if Self.retriableCodes.contains(code.rawValue) {
            self = .retriable(cause)
        } else {
            self = .fatal(cause)
        }
    }

    /// Judges and destroys what a call of the transactional API returned.
    init(_ operation: String, consuming error: OpaquePointer) {
        let code = rd_kafka_error_code(error)
        let cause = KafkaCause(operation, code, String(cString: rd_kafka_error_string(error)))
        if Self.fencingCodes.contains(code.rawValue) {
            self = .fenced(cause)
        } else if rd_kafka_error_is_fatal(error) != 0 {
            self = .fatal(cause)
        } else if rd_kafka_error_txn_requires_abort(error) != 0 {
            self = .abortable(cause)
        } else if rd_kafka_error_is_retriable(error) != 0 {
            self = .retriable(cause)
        } else {
            self = .fatal(cause)
        }
        rd_kafka_error_destroy(error)
    }
}
