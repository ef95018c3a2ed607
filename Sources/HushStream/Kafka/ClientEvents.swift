import CRdKafka
import Synchronization

/// What a client tells beside the answers of calls: its log and its errors. The opaque of every callback of one client.
///
/// Callbacks arrive on librdkafka's threads (log) and on the polling thread (all others), so what is here is either
/// constant or behind a lock. Subclasses add what only a consumer or a producer has.
class ClientEvents {
    let log: StreamLog
    /// The client's name in log messages.
    let name: String
    private let brokersDown = Atomic<Bool>(false)

    init(name: String, log: StreamLog) {
        self.name = name
        self.log = log
    }

    /// Sets the callbacks on a configuration; a subclass adds its own.
    func install(on configuration: OpaquePointer) {
        rd_kafka_conf_set_opaque(configuration, Unmanaged.passUnretained(self).toOpaque())
        rd_kafka_conf_set_log_cb(configuration) { client, level, facility, message in
            guard let opaque = rd_kafka_opaque(client), let message else { return }
            let events = Unmanaged<ClientEvents>.fromOpaque(opaque).takeUnretainedValue()
            events.logged(level, facility.map { String(cString: $0) } ?? "", String(cString: message))
        }
        rd_kafka_conf_set_error_cb(configuration) { _, code, reason, opaque in
            guard let opaque else { return }
            let events = Unmanaged<ClientEvents>.fromOpaque(opaque).takeUnretainedValue()
            events.failed(rd_kafka_resp_err_t(code), reason.map { String(cString: $0) } ?? "")
        }
    }

    private func logged(_ level: Int32, _ facility: String, _ message: String) {
        let severity: StreamLog.Level =
            switch level {
            case ...3: .warning
            case 4: .info
            default: .debug
            }
        log.write(severity, "kafka \(name) \(facility): \(message)")
    }

    private func failed(_ code: rd_kafka_resp_err_t, _ reason: String) {
        let cause = KafkaCause(name, code, reason)
        if code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN { brokersDown.store(true, ordering: .relaxed) }
        log.warning("kafka \(cause)")
    }
}
