public import HushCore
public import HushStream

/// What became of the lines given to `hush publish`.
public struct PublishSummary: Hashable, Sendable {
    /// Lines that were not blank.
    public var lines = 0
    /// Records that the brokers have.
    public var published = 0
    /// Lines that the planner would not take.
    public var refused = 0
    /// Good records that could not be delivered.
    public var undelivered = 0

    public init(lines: Int = 0, published: Int = 0, refused: Int = 0, undelivered: Int = 0) {
        self.lines = lines
        self.published = published
        self.refused = refused
        self.undelivered = undelivered
    }

    public var isComplete: Bool { published == lines }
}

/// Publishes lines of JSON to one of the planner's inputs. Of one thread at a time.
///
/// A bad line is told by its number and field, and the others go on; nothing that was refused is sent.
public final class Publisher {
    /// Tells what is wrong with a line.
    public typealias Problem = (_ line: Int, _ what: String) -> Void
    /// Tells where a line's record lies.
    public typealias Delivered = (_ line: Int, _ partition: Int32, _ offset: Int64) -> Void

    private let topic: Topic
    private let producer: RecordProducer?
    private let preparation: RecordPreparation
    private let now: () -> Timestamp
    private let newEventID: () -> String
    private let problem: Problem
    private var splitter = LineSplitter(bytesMax: TopicPlan.inputBytesMax)
    private var order = RegistrationOrder()
    private var counts = PublishSummary()
    private var delivered = 0

    /// Connects, and makes sure that the topic is there.
    ///
    /// - Throws: `StreamFault.refused` where it is not; what Kafka answers where it cannot be asked.
    public convenience init(
        _ input: InputTopic, kafka: KafkaConfiguration, timeout: Duration = .seconds(30), log: StreamLog = .silent,
        now: @escaping () -> Timestamp, newEventID: @escaping () -> String, problem: @escaping Problem,
        delivered: @escaping Delivered = { _, _, _ in }
    ) throws(StreamFault) {
        let topic = input.topic
        guard try TopicAdmin(kafka, timeout: timeout, log: log).partitionCounts(of: [topic.name])[topic.name] != nil
        else {
            throw .refused("\(topic.name) is missing: run hush topics create")
        }
        let producer = try RecordProducer(
            kafka, topics: [topic.name], name: "hush-publish", deliveryTimeout: timeout, log: log)
        self.init(input, producer: producer, now: now, newEventID: newEventID, problem: problem)
        producer.onReport { [unowned self] report in
            if let fault = report.fault {
                counts.undelivered += 1
                problem(report.tag, "not delivered: \(fault)")
            } else {
                self.delivered += 1
                delivered(report.tag, report.partition, report.offset)
            }
        }
    }

    /// Without a producer lines are checked only.
    public init(
        _ input: InputTopic, producer: RecordProducer?, now: @escaping () -> Timestamp,
        newEventID: @escaping () -> String, problem: @escaping Problem
    ) {
        topic = input.topic
        self.producer = producer
        preparation = RecordPreparation(topic: input)
        self.now = now
        self.newEventID = newEventID
        self.problem = problem
    }

    /// Takes the next bytes of the input, wherever its lines end.
    /// - Throws: where a record can never be sent, or the queue stayed full too long.
    public func take(_ bytes: UnsafeRawBufferPointer) throws(StreamFault) {
        var fault: StreamFault?
        splitter.take(bytes) { line, number in fault = fault ?? publish(line, number) }
        if let fault { throw fault }
    }

    /// Takes the end of the input, waits for the brokers, and tells how it went.
    /// - Throws: `StreamFault.retriable` where reports did not come in time: what they would say is not known.
    public func finish(within limit: Duration = .seconds(30)) throws(StreamFault) -> PublishSummary {
        var fault: StreamFault?
        splitter.finish { line, number in fault = fault ?? publish(line, number) }
        if let fault { throw fault }
        try producer?.flush(within: limit)
        var summary = counts
        summary.published = producer == nil ? counts.lines - counts.refused : delivered
        return summary
    }

    private func publish(_ line: LineSplitter.Line, _ number: Int) -> StreamFault? {
        guard case .line(let bytes) = line else {
            refuse(number, "too_large: the line exceeds \(TopicPlan.inputBytesMax) bytes")
            return nil
        }
        if bytes.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) { return nil }
        let prepared = bytes.withUnsafeBytes { bytes in
            Result { () throws(DeadReason) in
                try preparation.prepare(bytes, eventID: newEventID(), now: now())
            }
        }
        switch prepared {
        case .failure(let reason):
            refuse(number, reason.description)
            return nil
        case .success(let record):
            counts.lines += 1
            return send(record, number)
        }
    }

    private func refuse(_ number: Int, _ what: String) {
        counts.lines += 1
        counts.refused += 1
        problem(number, what)
    }

    private func send(_ record: PreparedRecord, _ number: Int) -> StreamFault? {
        guard let producer else { return nil }
        do throws(StreamFault) {
            if let token = record.token, order.mustSettle(before: token) { try producer.settle() }
            try producer.send(
                topic.name, key: record.key, value: record.value, headers: record.headers, tag: number)
            return nil
        } catch {
            counts.undelivered += 1
            problem(number, "not sent: \(error)")
            return error
        }
    }
}
