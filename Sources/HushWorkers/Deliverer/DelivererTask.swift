import HushCore
public import HushStream

/// The deliverer's work on one partition of `hush.pushes`: takes ops, commits what may leave, then sends it.
///
/// A push leaves only after the transaction that decided it is committed, so committed state always covers what may be
/// on a phone. Answers stay in memory until a commit holds what they did, and are taken again after an abort.
public final class DelivererTask: PartitionTask {
    typealias Output = DelivererConfiguration.Output

    let partition: Int32
    let book: LedgerBook
    /// Ops that wait for a credential.
    private(set) var parkedOps = 0 {
        didSet {
            let limit = application.configuration.policy.opsParkedMax
            if (parkedOps > limit) != (oldValue > limit) { application.parked(isFull: parkedOps > limit) }
        }
    }
    private(set) var isClosed = false
    /// Pushes decided and committed whose answer has not come.
    private(set) var outstanding = 0
    private unowned let application: DelivererApplication
    private let deliverer: Deliverer
    private var now = Timestamp.distantPast
    private var random: SplitMix64
    private var entries: [Address: AddressEntry] = [:]
    /// Entries in the order in which they were loaded, to let idle ones go.
    private var loaded: [AddressEntry] = []
    private var loadedFirst = 0
    /// What the entries took when their last transactions committed.
    private var entryBytes = 0
    private var timers = AddressTimers()
    private var touched: [AddressEntry] = []
    private var planned: [(entry: AddressEntry, route: Int)] = []
    private var waitingAnswers: [Answer] = []
    private var takenAnswers: [Answer] = []
    private var isDraining = false
    private var committedLedger = LedgerState()
    private var effects = DeliveryEffects()
    private var writer = RowWriter()
    private var json = JSONWriter(reserving: 1024)

    private struct Answer {
        var entry: AddressEntry
        var result: PushResult
        var route: Int
        /// Whether the breaker was told of it.
        var isCounted = false
    }

    /// Addresses whose time has come that one call takes; the rest follow in the next turn.
    static let timersPerTurnMax = 2000

    init(partition: Int32, _ application: DelivererApplication) {
        self.partition = partition
        self.application = application
        deliverer = Deliverer(policy: application.configuration.policy)
        random = SplitMix64(seed: UInt64.random(in: .min ... .max))
        book = LedgerBook(
            task: Bytes("deliver-\(partition)"), stage: .deliver, config: application.configuration.digest,
            build: application.configuration.build, pseudonymKey: application.configuration.pseudonymKey)
    }

    /// Sets a timer for every address with unfinished ops, so that what was leaving is found unknown soon.
    public func restored(_ context: TaskContext) throws(TaskFailure) {
        committedLedger = try LedgerState.read(context, table: DelivererConfiguration.rowsTable)
        book.restore(committedLedger)
        tick()
        try [AddressRows.prefix].withUnsafeBufferPointer { prefix throws(TaskFailure) in
            try context.scan(DelivererConfiguration.rowsTable, prefix: UnsafeRawBufferPointer(prefix)) {
                key, value throws(TaskFailure) in
                if try !AddressRows.read(value).ops.isEmpty { timers.add(now, AddressRows.address(key)) }
                return true
            }
        }
        wakeForTimers(context)
    }

    public func process(_ record: InputRecord, _ context: TaskContext) throws(TaskFailure) {
        tick()
        book.took(.pushes, offset: record.offset)
        guard let key = record.key, AddressRows.isAddress(key) else {
            return bury(record, DeadReason(.badField, "the key is no address: 32 lower-case hex digits"), context)
        }
        let value: PushRecord
        do throws(PushRecordFault) {
            value = try application.reader.read(record.value)
        } catch {
            switch error {
            case .malformed(let reason): return bury(record, reason, context)
            case .unknownVersion:
                throw TaskFailure("\(Topic.pushes.name)-\(partition) offset \(record.offset): \(error)")
            }
        }
        let entry = try touch(Address(key: Bytes(copying: key)), context)
        step(
            .record(
                value, partition: partition, offset: record.offset, at: Timestamp(millis: record.appendTimeMillis),
                trace: RecordTrace.id(record)),
            entry, context)
        if book.isOrderDue { writeOrder(context) }
    }

    public func setAside(_ record: InputRecord, _ reason: String, _ context: TaskContext) {
        tick()
        book.took(.pushes, offset: record.offset)
        bury(record, DeadReason(.unwritable, reason), context)
    }

    /// Decides what leaves, then writes rows, the order line and the task's own row.
    public func prepareCommit(_ context: TaskContext) throws(TaskFailure) {
        tick()
        for entry in touched { plan(entry, context) }
        for entry in touched where entry.isRowChanged { write(entry, context) }
        if book.isOpen {
            writeOrder(context)
            book.state.write(context, table: DelivererConfiguration.rowsTable, &writer)
        }
        wakeForTimers(context)
    }

    public func committed(_ context: TaskContext) {
        committedLedger = book.state
        for (entry, route) in planned {
            guard let push = entry.planned else { continue }
            entry.planned = nil
            entry.tag = application.enqueue(push, self, entry, route: route)
            outstanding += 1
        }
        for entry in touched {
            entry.before = nil
            entry.isRowChanged = false
            count(entry, as: entry.footprint)
        }
        planned.removeAll(keepingCapacity: true)
        touched.removeAll(keepingCapacity: true)
        takenAnswers.removeAll(keepingCapacity: true)
        forgetIdle()
        if !context.isHeld { application.committed() }
    }

    public func aborted(_ context: TaskContext) {
        tick()
        for entry in touched {
            if let before = entry.before { entry.state.soft = before }
            entry.before = nil
            entry.planned = nil
            if entry.isRowChanged { entry.isStale = true }
            entry.isRowChanged = false
            timers.add(now, entry.address)
            entry.wakeAt = now
        }
        touched.removeAll(keepingCapacity: true)
        planned.removeAll(keepingCapacity: true)
        waitingAnswers = takenAnswers + waitingAnswers
        takenAnswers.removeAll(keepingCapacity: true)
        book.restore(committedLedger)
        wakeForTimers(context)
        if !waitingAnswers.isEmpty { context.signal() }
    }

    public func woken(_ context: TaskContext) throws(TaskFailure) {
        tick()
        try takeAnswers(context)
        var taken = 0
        while taken < Self.timersPerTurnMax, let timer = timers.take(now) {
            if let entry = entries[timer.address], entry.wakeAt != timer.at { continue }
            taken += 1
            // Planned with the commit.
            try touch(timer.address, context).wakeAt = .distantFuture
        }
        wakeForTimers(context)
    }

    /// Ends sending: what has not left is told as not sent, what has is waited for.
    public func drain(_ context: TaskContext) throws(TaskFailure) -> Bool {
        isDraining = true
        application.withdraw(self)
        if !waitingAnswers.isEmpty {
            tick()
            try takeAnswers(context)
        }
        return outstanding == 0
    }

    public func closed() {
        isClosed = true
        parkedOps = 0
        entries.removeAll()
        entryBytes = 0
        loaded.removeAll()
        touched.removeAll()
        planned.removeAll()
        waitingAnswers.removeAll()
        takenAnswers.removeAll()
        timers.removeAll()
    }

    /// An answer of the transport, or of the outbox; the task takes it when it is woken.
    func received(_ result: PushResult, _ entry: AddressEntry, route: Int) {
        entry.tag = 0
        outstanding -= 1
        waitingAnswers.append(Answer(entry: entry, result: result, route: route))
    }

    /// A paused credential may work again: what waits for it asks at once.
    func credentialMended() {
        tick()
        for (_, entry) in entries where entry.parkedOps > 0 {
            entry.wakeAt = now
            timers.add(now, entry.address)
        }
    }

    private func takeAnswers(_ context: TaskContext) throws(TaskFailure) {
        for answer in waitingAnswers {
            try touch(answer.entry, context)
            let isDoubted = application.breakers[answer.route].doubtsMisfits
            let isRefused = step(.answer(answer.result, isDoubted: isDoubted), answer.entry, context)
            // One that an abort brought back is told once.
            if answer.isCounted { continue }
            application.took(answer.result, isRefused: isRefused, route: answer.route, now)
        }
        for index in waitingAnswers.indices { waitingAnswers[index].isCounted = true }
        takenAnswers += waitingAnswers
        waitingAnswers.removeAll(keepingCapacity: true)
    }

    /// Decides what of an address leaves with this transaction, and when to look at it again.
    private func plan(_ entry: AddressEntry, _ context: TaskContext) {
        parkedOps -= entry.parkedOps
        entry.parkedOps = 0
        guard let binding = entry.state.row.binding, !entry.state.row.ops.isEmpty else {
            entry.wakeAt = .distantFuture
            return
        }
        guard let route = application.configuration.route(binding.app, binding.environment) else {
            step(.unroutable, entry, context)
            entry.wakeAt = .distantFuture
            return
        }
        let isOpen = application.breakers[route].allows(now)
        step(.plan(isPaused: isDraining || !isOpen), entry, context)
        var wakeAt = effects.wakeAt
        if let push = effects.push {
            application.left(route: route, now)
            entry.planned = push
            planned.append((entry, route))
        } else if !isOpen, entry.state.soft.inFlight == nil {
            entry.parkedOps = entry.state.row.ops.count
            parkedOps += entry.parkedOps
            // Spread, for each of them asks whether it is the one that may try.
            wakeAt = application.breakers[route].nextAt(now) + .milliseconds(Int64.random(in: 0..<2000, using: &random))
        }
        // One that is set already stays: a timer has no second use.
        if let wakeAt, wakeAt != entry.wakeAt { timers.add(wakeAt, entry.address) }
        entry.wakeAt = wakeAt ?? .distantFuture
    }

    /// Takes one event, and writes what it tells; true where APNs refused the credential.
    @discardableResult
    private func step(_ event: DeliveryEvent, _ entry: AddressEntry, _ context: TaskContext) -> Bool {
        effects.removeAll()
        deliverer.step(
            event, address: entry.address, now: now, random: &random, state: &entry.state, effects: &effects)
        if effects.isRowChanged { entry.isRowChanged = true }
        for line in effects.lines { write(line, context) }
        for loss in effects.losses { write(loss, context) }
        return effects.isCredentialRefused
    }

    private func tick() {
        now = max(now, application.configuration.now())
    }

    private func wakeForTimers(_ context: TaskContext) {
        if let first = timers.first { context.wake(atMillis: first.millis) }
    }

    // MARK: addresses in memory

    var addressesInMemory: Int { entries.count }

    private func touch(_ address: Address, _ context: TaskContext) throws(TaskFailure) -> AddressEntry {
        if let entry = entries[address] {
            try touch(entry, context)
            return entry
        }
        let entry = AddressEntry(address, AddressRow())
        entries[address] = entry
        loaded.append(entry)
        entry.isStale = true
        try touch(entry, context)
        return entry
    }

    private func touch(_ entry: AddressEntry, _ context: TaskContext) throws(TaskFailure) {
        if entry.isStale { try load(entry, context) }
        guard entry.before == nil else { return }
        entry.before = entry.state.soft
        touched.append(entry)
        // Leaving, and nothing under way: it left in another life of this task.
        if entry.state.soft.inFlight == nil, entry.state.row.ops.contains(where: \.isLeaving) {
            step(.restored, entry, context)
        }
    }

    private func load(_ entry: AddressEntry, _ context: TaskContext) throws(TaskFailure) {
        entry.state.row = try entry.stateKey.withUnsafeBufferPointer { key throws(TaskFailure) in
            try context.withValue(DelivererConfiguration.rowsTable, UnsafeRawBufferPointer(key)) {
                value throws(TaskFailure) in
                try value.map(AddressRows.read) ?? AddressRow()
            }
        }
        entry.isStale = false
    }

    private func count(_ entry: AddressEntry, as bytes: Int) {
        entryBytes += bytes - entry.counted
        entry.counted = bytes
    }

    /// Lets go of idle addresses beyond the limit, those loaded first before others.
    private func forgetIdle() {
        var looks = loaded.count - loadedFirst
        while entryBytes > application.configuration.cacheBytesMax, looks > 0 {
            looks -= 1
            let entry = loaded[loadedFirst]
            loadedFirst += 1
            if entry.isIdle(now) {
                entries[entry.address] = nil
                count(entry, as: 0)
            } else {
                loaded.append(entry)
            }
        }
        if loadedFirst > 1024, loadedFirst * 2 > loaded.count {
            loaded.removeFirst(loadedFirst)
            loadedFirst = 0
        }
    }

    // MARK: what is written

    private func write(_ entry: AddressEntry, _ context: TaskContext) {
        if entry.state.row.isEmpty {
            context.delete(DelivererConfiguration.rowsTable, entry.stateKey)
        } else {
            AddressRows.write(entry.state.row, &writer)
            entry.stateKey.withUnsafeBytes { key in
                writer.withUnsafeBytes { context.put(DelivererConfiguration.rowsTable, key, $0) }
            }
        }
    }

    /// All lines of a task go to one partition, so that the chain of digests is one sequence of records.
    private func write(_ line: DeliveryLine, _ context: TaskContext) {
        let home = partition % context.partitionCount(Output.ledger.rawValue)
        application.metrics.count(line)
        let key = book.shown(recipient: line.recipient)
        book.write(line, at: now) { value in
            key.raw.withUnsafeBytes { key in
                context.send(Output.ledger.rawValue, partition: home, key: key, value: value)
            }
        }
    }

    private func writeOrder(_ context: TaskContext) {
        let home = partition % context.partitionCount(Output.ledger.rawValue)
        book.writeOrder(at: now) { value in
            Array("deliver-\(partition)".utf8).withUnsafeBytes { key in
                context.send(Output.ledger.rawValue, partition: home, key: key, value: value)
            }
        }
    }

    private func write(_ loss: Unregistration, _ context: TaskContext) {
        json.removeAll()
        DeviceRecordWriter.write(loss, into: &json)
        loss.recipient.raw.withUnsafeBytes { key in
            json.withUnsafeBytes { context.send(Output.devices.rawValue, key: key, value: $0) }
        }
    }

    /// Keeps an unusable record as it is, with the reason, and goes on.
    private func bury(_ record: InputRecord, _ reason: DeadReason, _ context: TaskContext) {
        DeadLetter.send(
            record, of: Topic.pushes.name, stage: .deliver, reason: reason, to: Output.dead.rawValue, keyless: 0,
            context)
    }
}
