import CLinux
import CRdKafka
import Glibc

/// The least that can be done with librdkafka: read one record, write some of given bytes, in transactions.
///
/// What the planner costs is measured beside it. No state, no tasks, no checks beyond those of correctness.
package enum CopyLoop {
    package struct Result: Sendable {
        package var inputs: Int
        package var transactions: Int
        /// CPU time of the whole process (user and system), librdkafka's threads included.
        package var cpuMicrosPerInput: Double
    }

    /// Copies what is in `input` once, from its beginning to its end as it is now.
    ///
    /// For each record read one is written from each list of `values`, which are gone through again and again, to the
    /// record's own partition, under its own key.
    package static func run(
        kafka: KafkaConfiguration, name: String, input: String, output: String, partitions: Int32,
        values: [[[UInt8]]], recordsPerTransaction: Int, limit: Duration = .seconds(120)
    ) throws(StreamFault) -> Result {
        let events = ClientEvents(name: name, log: .silent)
        let consumer = try Consumer(kafka, name: name, events: events) { (settings) throws(StreamFault) in
            try settings.set("group.id", name)
            try settings.set("queued.min.messages", "10000000")
            try settings.set("queued.max.messages.kbytes", "131072")
        }
        let producer = try Producer(
            kafka, name: name, topics: [output],
            transactional: Producer.Transactional(id: name, timeoutMillis: 60_000),
            deliveries: Deliveries(name: name, log: .silent)
        ) { (settings) throws(StreamFault) in try settings.set("queue.buffering.max.messages", "1000000") }
        try producer.initTransactions(timeoutMillis: 30_000)
        let assignment = TopicPartitionList()
        for partition in 0..<partitions { assignment.add(input, partition, offset: Int64(RD_KAFKA_OFFSET_BEGINNING)) }
        try consumer.assign(assignment)

        var loop = Loop(input: input, positions: Array(repeating: -1, count: Int(partitions)))
        let deadline = ContinuousClock.now + limit
        let before = cpuMicros()
        while loop.ended.count < Int(partitions) {
            guard ContinuousClock.now < deadline else {
                throw StreamFault("copying \(input)", RD_KAFKA_RESP_ERR__TIMED_OUT)
            }
            try producer.begin()
            try loop.fill(consumer, producer, values, recordsPerTransaction)
            try producer.flush(timeoutMillis: 30_000)
            if let fault = producer.deliveries.firstFault { throw fault }
            let offsets = TopicPartitionList()
            for (partition, position) in loop.positions.enumerated() where position >= 0 {
                offsets.add(input, Int32(partition), offset: position)
            }
            try producer.sendOffsets(offsets, of: consumer, isMember: false, timeoutMillis: 30_000)
            try producer.commit(timeoutMillis: 30_000)
            loop.transactions += 1
        }
        let spent = cpuMicros() - before
        try consumer.close()
        return Result(
            inputs: loop.inputs, transactions: loop.transactions,
            cpuMicrosPerInput: spent / Double(max(1, loop.inputs)))
    }

    private struct Loop {
        let input: String
        var positions: [Int64]
        var ended: Set<Int32> = []
        var inputs = 0
        var transactions = 0

        /// One transaction's worth of records, fewer where nothing more comes.
        mutating func fill(
            _ consumer: borrowing Consumer, _ producer: borrowing Producer, _ values: [[[UInt8]]], _ count: Int
        ) throws(StreamFault) {
            var taken = 0
            while taken < count, ended.count < positions.count {
                guard let message = rd_kafka_consumer_poll(consumer.raw, 100) else { return }
                defer { rd_kafka_message_destroy(message) }
                let partition = message.pointee.partition
                if message.pointee.err == RD_KAFKA_RESP_ERR__PARTITION_EOF {
                    ended.insert(partition)
                    continue
                }
                if message.pointee.err != RD_KAFKA_RESP_ERR_NO_ERROR {
                    throw StreamFault("copying \(input)", message.pointee.err)
                }
                let key = message.pointee.key.map {
                    UnsafeRawBufferPointer(start: $0, count: message.pointee.key_len)
                }
                for samples in values where !samples.isEmpty {
                    let code = samples[inputs % samples.count].withUnsafeBytes { value in
                        Self.produce(producer, partition, key, value)
                    }
                    if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw StreamFault("produce", code) }
                }
                positions[Int(partition)] = message.pointee.offset + 1
                taken += 1
                inputs += 1
                if taken & 255 == 0 { producer.poll() }
            }
        }

        private static func produce(
            _ producer: borrowing Producer, _ partition: Int32, _ key: UnsafeRawBufferPointer?,
            _ value: UnsafeRawBufferPointer
        ) -> rd_kafka_resp_err_t {
            var code = producer.produce(0, partition: partition, key: key, value: value, tag: 0)
            while code == RD_KAFKA_RESP_ERR__QUEUE_FULL {
                producer.poll(timeoutMillis: 10)
                code = producer.produce(0, partition: partition, key: key, value: value, tag: 0)
            }
            return code
        }
    }

    /// User and system time of the process so far.
    package static func cpuMicros() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func micros(_ time: timeval) -> Double { Double(time.tv_sec) * 1e6 + Double(time.tv_usec) }
        return micros(usage.ru_utime) + micros(usage.ru_stime)
    }
}
