import HushBase
import HushCore
import HushStream
import HushWorkers

/// Writes items to the planner's inputs, or in its place to `hush.pushes`.
final class LoadSender {
    private let producer: RecordProducer
    private let isDeliveryOnly: Bool
    private var json = JSONWriter(reserving: 1024)
    private var content = JSONWriter(reserving: 256)

    init(_ producer: RecordProducer, isDeliveryOnly: Bool) {
        self.producer = producer
        self.isDeliveryOnly = isDeliveryOnly
    }

    func register(_ number: Int, _ records: LoadRecords) throws(StreamFault) {
        guard isDeliveryOnly else { return try send(records.register(number)) }
        let version = BindingVersion(at: Timestamp(millis: WallClock.nowMillis()), partition: 0, offset: Int64(number))
        let binding = Binding(
            owner: records.recipient(number), device: records.device(number), install: nil,
            token: records.token(number), app: LoadRecords.app, environment: .production, dialect: .hush, acks: false,
            version: version)
        let cause = Position(topic: .devices, partition: 0, offset: Int64(number))
        try push(.bind(binding, fresh: true, cause: cause), number, records)
    }

    func send(_ item: LoadItem, _ index: Int, _ records: LoadRecords) throws(StreamFault) {
        guard isDeliveryOnly else { return try send(records.record(item)) }
        var op = Op(kind: .create, id: records.id(index), revision: 1, first: true)
        op.content = Content(json: Bytes(#"{"title":"A parcel","body":"Locker 7"}"#))
        op.expires = Timestamp(millis: WallClock.nowMillis()) + .seconds(3600)
        let cause = Position(topic: .intents, partition: 0, offset: Int64(index))
        try push(.ops(owner: records.recipient(item.recipient), ops: [op], cause: cause), item.recipient, records)
    }

    private func send(_ record: LoadRecord) throws(StreamFault) {
        try producer.send(record.topic.topic.name, key: record.key, value: record.value)
    }

    private func push(_ record: PushRecord, _ recipient: Int, _ records: LoadRecords) throws(StreamFault) {
        json.removeAll()
        PushRecordWriter.write(record, into: &json)
        let address = Address(app: LoadRecords.app, environment: .production, token: records.token(recipient))
        try producer.send(Topic.pushes.name, key: address.key.raw, value: json.bytes)
    }
}
