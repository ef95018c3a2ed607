import CRdKafka

/// What delivery reports say: how many records are with the broker, the first one that is not, and the last offset of
/// each tag. Written in the callback, which runs on the thread that polls or flushes.
final class Deliveries: ClientEvents {
    private(set) var acknowledged = 0
    private(set) var failed = 0
    private(set) var firstFault: StreamFault?
    private let lastOffsets: UnsafeMutableBufferPointer<Int64>
    /// Called for each report where a producer's user wants more than the counts; of the polling thread.
    var report: ((_ tag: Int, _ partition: Int32, _ offset: Int64, _ fault: StreamFault?) -> Void)?

    /// Records may carry a tag from 1 to `tags`; 0 is none.
    init(name: String, tags: Int = 0, log: StreamLog) {
        lastOffsets = .allocate(capacity: tags)
        lastOffsets.initialize(repeating: -1)
        super.init(name: name, log: log)
    }

    deinit {
        lastOffsets.deallocate()
    }

    private static let causesOfDelay =
        "its leader is away, the topic was deleted, or fewer replicas are in sync than its min.insync.replicas asks for"

    override func install(on configuration: OpaquePointer) {
        super.install(on: configuration)
        rd_kafka_conf_set_dr_msg_cb(configuration) { _, message, opaque in
            guard let opaque, let message else { return }
            // Its owner outlives the client, so no report need hold it.
            Unmanaged<Deliveries>.fromOpaque(opaque)._withUnsafeGuaranteedRef { $0.delivered(message) }
        }
    }

    private func delivered(_ message: UnsafePointer<rd_kafka_message_t>) {
        let tag = Int(bitPattern: message.pointee._private)
        let offset = message.pointee.offset
        if message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR {
            acknowledged += 1
            // An acknowledgement of a repeated batch may carry no offset: then the older one stands.
            if tag > 0, tag <= lastOffsets.count, offset > lastOffsets[tag - 1] { lastOffsets[tag - 1] = offset }
            report?(tag, message.pointee.partition, offset, nil)
            return
        }
        failed += 1
        let topic = message.pointee.rkt.map { String(cString: rd_kafka_topic_name($0)) } ?? "?"
        // Why the brokers did not take it librdkafka only tells its own debug log.
        let isLate = message.pointee.err == RD_KAFKA_RESP_ERR__MSG_TIMED_OUT
        let words = isLate ? "not taken within the transaction's timeout: \(Self.causesOfDelay)" : nil
        let fault = StreamFault("record for \(topic)-\(message.pointee.partition)", message.pointee.err, words)
        if firstFault == nil { firstFault = fault }
        report?(tag, message.pointee.partition, offset, fault)
    }

    /// The last offset that was acknowledged under a tag since `clear`; nil where none was.
    func lastOffset(ofTag tag: Int) -> Int64? {
        lastOffsets[tag - 1] >= 0 ? lastOffsets[tag - 1] : nil
    }

    /// Forgets all before a new transaction.
    func clear() {
        acknowledged = 0
        failed = 0
        firstFault = nil
        lastOffsets.update(repeating: -1)
    }
}
