import CRdKafka

/// A record that was sent, as a test sees it.
public struct SentRecord: Hashable, Sendable {
    public var output: Int
    public var partition: Int32
    public var key: [UInt8]?
    public var value: [UInt8]?
    public var headers: [RecordHeader]

    public init(output: Int, partition: Int32, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader] = []) {
        self.output = output
        self.partition = partition
        self.key = key
        self.value = value
        self.headers = headers
    }
}

/// Where the records of a slot's tasks go: to its producer, or into a list.
final class Outlet {
    /// Keeps the producer in one place, so that it can be replaced while tasks stay.
    private enum Target {
        case producer(OpenProducer)
        case list([SentRecord])
        case nowhere
    }

    let partitionCounts: [Int32]
    let recordBytesMax: Int
    private var target: Target
    /// Begins the transaction where none is open; a failure comes back through `fail`.
    var begin: (() -> Void)?
    /// The first record that could not be sent; its transaction must not commit.
    private(set) var fault: StreamFault?
    /// Records and bytes since `clear`.
    private(set) var records = 0
    private(set) var bytes = 0

    init(partitionCounts: [Int32], recordBytesMax: Int, collects: Bool) {
        self.partitionCounts = partitionCounts
        self.recordBytesMax = recordBytesMax
        target = collects ? .list([]) : .nowhere
    }

    func open(_ producer: OpenProducer) { target = .producer(producer) }

    func close() { target = .nowhere }

    func clear() {
        fault = nil
        records = 0
        bytes = 0
    }

    /// Marks the transaction as lost.
    func fail(_ failure: StreamFault) {
        if fault == nil { fault = failure }
    }

    func takeList() -> [SentRecord] {
        guard case .list(let records) = target else { return [] }
        target = .list([])
        return records
    }

    func send(
        _ output: Int, _ partition: Int32?, _ key: UnsafeRawBufferPointer?, _ value: UnsafeRawBufferPointer?,
        _ headers: [RecordHeader]
    ) {
        let chosen = partition ?? place(output, key)
        // First, for a transaction may begin with another producer.
        if records == 0 { begin?() }
        switch target {
        case .producer(let producer):
            produce(output, chosen, key, value, headers, tag: 0, producer)
        case .list(var list):
            target = .nowhere
            list.append(
                SentRecord(
                    output: output, partition: chosen, key: key.map { [UInt8]($0) }, value: value.map { [UInt8]($0) },
                    headers: headers))
            target = .list(list)
        case .nowhere:
            fail(.fatal(KafkaCause("send", RD_KAFKA_RESP_ERR__STATE, "there is no producer")))
        }
    }

    /// Sends what goes to a topic behind the outputs (changelogs), under a tag that its offset is found by.
    func sendTagged(
        topic: Int, partition: Int32, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer?, tag: Int
    ) {
        if records == 0 { begin?() }
        guard case .producer(let producer) = target else { return }
        produce(topic, partition, key, value, [], tag: tag, producer)
    }

    private func place(_ output: Int, _ key: UnsafeRawBufferPointer?) -> Int32 {
        guard let key else {
            preconditionFailure("a record without a key needs a partition")
        }
        return Murmur2.partition(of: key, count: partitionCounts[output])
    }

    private func produce(
        _ topic: Int, _ partition: Int32, _ key: UnsafeRawBufferPointer?, _ value: UnsafeRawBufferPointer?,
        _ headers: [RecordHeader], tag: Int, _ open: OpenProducer
    ) {
        // Once one is lost the transaction is, so the others are not worth sending.
        if fault != nil { return }
        records += 1
        bytes += (key?.count ?? 0) + (value?.count ?? 0)
        var code = open.producer.produce(
            topic, partition: partition, key: key, value: value, headers: headers, tag: tag)
        var waits = 0
        while code == RD_KAFKA_RESP_ERR__QUEUE_FULL, waits < 1000 {
            waits += 1
            open.producer.poll(timeoutMillis: 10)
            code = open.producer.produce(
                topic, partition: partition, key: key, value: value, headers: headers, tag: tag)
        }
        if code != RD_KAFKA_RESP_ERR_NO_ERROR {
            fault = open.producer.fatalFault ?? .abortable(KafkaCause("produce", code))
        } else if records & 1023 == 0 {
            open.producer.poll()
        }
    }
}

/// A producer that several hold: the slot, and the outlet of its tasks.
final class OpenProducer {
    let producer: Producer

    init(_ producer: consuming Producer) {
        self.producer = producer
    }
}
