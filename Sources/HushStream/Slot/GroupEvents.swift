import CRdKafka

/// A consumer's events with the rebalances of its group; all on the polling thread.
final class GroupEvents: ClientEvents {
    enum Change {
        case assigned
        case revoked
        case failed(rd_kafka_resp_err_t)
    }

    /// Called from within polling or closing; must assign or unassign before it returns.
    var rebalance: ((Change, UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?) -> Void)?

    override func install(on configuration: OpaquePointer) {
        super.install(on: configuration)
        rd_kafka_conf_set_rebalance_cb(configuration) { client, code, partitions, opaque in
            guard let opaque else { return }
            let events = Unmanaged<GroupEvents>.fromOpaque(opaque).takeUnretainedValue()
            guard let rebalance = events.rebalance else {
                // Nobody listens any more: the slot is closing after a fault.
                rd_kafka_assign(client, nil)
                return
            }
            switch code {
            case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS: rebalance(.assigned, partitions)
            case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS: rebalance(.revoked, partitions)
            default: rebalance(.failed(code), partitions)
            }
        }
    }
}
