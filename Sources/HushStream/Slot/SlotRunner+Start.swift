import CRdKafka
import HushBase

extension SlotRunner {
    /// Waits for the brokers, then refuses topics that are missing or have other partition counts.
    func checkTopics() throws(StreamFault) {
        var wanted: [(topic: String, count: Int32)] = []
        for topic in configuration.inputs + configuration.tables.map(\.changelog) {
            wanted.append((topic, configuration.partitionCount))
        }
        for output in configuration.outputs { wanted.append((output.topic, output.partitionCount)) }
        let topics = Set(wanted.map(\.topic)).sorted()
        var counts: [String: Int32] = [:]
        // A topic that was made a moment ago is not known to every broker at once.
        for _ in 0..<10 where counts.count < topics.count && !isStopping {
            try persisting("asking for the topics") { () throws(StreamFault) in
                counts = try TopicShapes.partitionCounts(of: topics, client: consumer.raw, timeoutMillis: 5000)
            }
            if counts.count < topics.count { try wait(atMost: .milliseconds(200)) }
        }
        if isStopping { return }
        var problems: [String] = []
        for (topic, count) in wanted {
            guard let found = counts[topic] else {
                problems.append(
                    "topic \(topic) does not exist (hush topics create makes it), or this process may not describe it")
                continue
            }
            if found != count {
                problems.append(
                    "topic \(topic) has \(found) partitions where \(count) are expected; the state belongs to that number"
                )
            }
        }
        // A topic may be an input and an output, too.
        let told = problems.enumerated().filter { problems.firstIndex(of: $1) == $0 }.map(\.element)
        if !told.isEmpty { throw .refused(told.joined(separator: "; ")) }
    }

    /// Repeats what fails in passing, without end but not beyond `stop`: a broker that is down comes back.
    private func persisting(
        _ step: StaticString, _ body: () throws(StreamFault) -> Void
    ) throws(StreamFault) {
        var waits = 0
        // Once in any case: a slot that is stopping may need another producer for its last commit.
        repeat {
            watchdog.begin(step, atMost: configuration.callLimit)
            do throws(StreamFault) {
                return try body()
            } catch {
                guard case .retriable(let cause) = error else { throw error }
                if waits & 15 == 0 { log.warning("slot \(configuration.slotName): \(step): \(cause); trying on") }
                waits += 1
            }
            try wait(atMost: .milliseconds(250))
        } while !isStopping
    }

    /// Makes the producer and takes the transactional id over: whoever had it is fenced, and what it left open aborted.
    func openProducer() throws(StreamFault) {
        watchdog.begin("making the producer", atMost: configuration.callLimit)
        outlet.close()
        producer = nil
        let tags = Int(configuration.partitionCount) * configuration.tables.count
        let deliveries = Deliveries(name: configuration.transactionalID, tags: tags, log: log)
        let made = try Producer(
            kafka, name: configuration.slotName,
            topics: configuration.outputs.map(\.topic) + configuration.tables.map(\.changelog),
            transactional: Producer.Transactional(
                id: configuration.transactionalID,
                timeoutMillis: configuration.transactionTimeout.wholeMilliseconds),
            // Nobody can read a record before the commit, which flushes; full batches leave earlier.
            deliveries: deliveries, linger: configuration.commitInterval
        ) { (settings) throws(StreamFault) in
            try settings.set("message.max.bytes", "\(configuration.recordBytesMax + 1024)")
            try settings.set("queue.buffering.max.messages", "1000000")
        }
        let opened = OpenProducer(made)
        try persisting("taking the transactional id") { () throws(StreamFault) in
            try opened.producer.initTransactions(timeoutMillis: 10_000)
        }
        producer = opened
        outlet.open(opened)
        isBegun = false
        isProducerDoubtful = false
    }

    /// The clean end: tasks drain and commit in the revocation that closing calls back.
    func shutDown() throws(StreamFault) {
        update { $0.phase = .stopping }
        watchdog.begin("closing", atMost: configuration.callLimit)
        try consumer.close()
        if let callbackFault { throw callbackFault }
        try home.closeWarm(warmNames)
        warmNames = []
        restorer.close()
    }

    /// The end after a fault: nothing more is committed, and the group is left.
    func abandon() {
        update { $0.phase = .stopping }
        watchdog.begin("closing after a fault", atMost: configuration.callLimit)
        letGo()
        restorer.close()
        events.rebalance = nil
        do throws(StreamFault) {
            try home.closeWarm(warmNames)
            warmNames = []
            try consumer.close()
        } catch {
            log.warning("slot \(configuration.slotName), while closing: \(error)")
        }
    }
}
