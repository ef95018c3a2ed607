import HushCore
import HushKit

/// One household in virtual time: its people's planners, its phones' addresses at the deliverers, APNs, and the phones.
///
/// A function of its options and its script: nothing in it looks at a clock, and one stream of numbers decides the rest.
final class FleetHousehold {
    enum Event {
        case input(Int)
        case spellStart(Int)
        case spellEnd(Int)
        case lag(Int)
        case crash
        case plan(Int)
        case deliver(Int)
        case request(Int)
        case answer(Int, PushResult)
        /// A push comes from APNs to where its token lives.
        case reach(DeliveredPush)
        /// iOS looks at what it holds for a phone.
        case wake(Int)
        case send(PhoneMessage)
        case expire
        case judge
    }

    struct Flight {
        var address: Int
        var life: Int
        var push: OutgoingPush
        var payload: PayloadValue
    }

    static let start = Timestamp(millis: 1_764_583_200_000)
    static let app: Bytes = "com.example.hush"
    /// More than any household needs that comes to rest.
    static let eventsMax = 3_000_000

    let options: FleetOptions
    let number: Int
    let script: FleetScript
    var queue = EventQueue<Event>()
    var now = start
    var planners: [FleetPlanner] = []
    var addresses: [FleetDeliverer] = []
    var flights: [Flight] = []
    var service: APNsService
    var phones: [FleetPhone] = []
    var truths: [FleetTruth] = []
    var meters: [FleetMeter] = []
    var counts = FleetCounts()
    var violations: [FleetViolation] = []
    /// What happened, where somebody wants to read it.
    var trace: [String]?
    let reader: PayloadReader
    private var addressOf: [Address: Int] = [:]
    private var phoneOf: [Bytes: Int] = [:]
    private var personOf: [Bytes: Int] = [:]
    private let deliverer: Deliverer

    init(
        _ options: FleetOptions, number: Int, _ script: FleetScript, reader: PayloadReader, isTraced: Bool = false
    ) {
        self.options = options
        self.number = number
        self.script = script
        self.reader = reader
        var policy = options.policy
        if options.way == .crt {
            policy.wakeUpBurst = 0
            // The seeds' senders know nothing of deletes that a phone does not need.
            policy.quietMax = .seconds(30 * 86_400)
        }
        if options.broken == .repeats { policy.repeatIntervals = [.seconds(400 * 86_400)] }
        let deliverer = Deliverer(policy: policy)
        self.deliverer = deliverer
        service = APNsService(
            rules: APNsRules(topics: [Self.app], provider: nil), faults: options.faults.apns, seed: script.seed)
        trace = isTraced ? [] : nil
        for (index, name) in script.workload.recipients.enumerated() {
            personOf[name] = index
            planners.append(FleetPlanner(name: name, partition: Int32(number * 2 + index), policy: policy))
            truths.append(FleetTruth())
        }
        for phone in script.workload.phones { add(phone) }
    }

    private func add(_ phone: Workload.Phone) {
        let filter: SimulatedPhone.Filter? =
            switch options.broken {
            case .ownerTag: BrokenMerging.believingAnyTag
            case .bindOp: BrokenMerging.ignoringBinds
            case .tombstones: BrokenMerging.forgettingDeletes
            case .ownerCheck, .repeats, nil: nil
            }
        let app = SimulatedPhone(
            owner: phone.owner, device: phone.device, dialect: phone.dialect, app: Self.app,
            token: newToken(of: phones.count),
            install: newInstall(of: phones.count), filter: filter)
        phoneOf[app.token] = phones.count
        phones.append(FleetPhone(app, isThrottled: options.isThrottled))
        meters.append(FleetMeter(from: Self.start, to: Self.start + options.duration))
    }

    /// Runs until nothing is left to happen.
    func run() {
        counts.phones = phones.count
        counts.people = planners.count
        if number == 0 { counts.fleets = 1 }
        for index in script.workload.events.indices {
            queue.add(.input(index), at: Self.start + script.workload.events[index].at)
        }
        for (index, spell) in script.spells.enumerated() {
            queue.add(.spellStart(index), at: Self.start + spell.start)
            queue.add(.spellEnd(index), at: Self.start + spell.end)
        }
        for (index, lag) in script.lags.enumerated() { queue.add(.lag(index), at: Self.start + lag.start) }
        for crash in script.crashes { queue.add(.crash, at: Self.start + crash) }
        queue.add(.judge, at: Self.start + options.duration + FleetOptions.judgedAfter)
        for phone in phones.indices { send(phones[phone].app.launch(now: now), from: phone, isSure: true) }
        while let next = queue.take() {
            now = next.at
            if queue.added > Self.eventsMax {
                violate(.stuck, nil, "more than \(Self.eventsMax) events, and no rest")
                break
            }
            happen(next.event)
        }
        finish()
    }

    private func happen(_ event: Event) {
        switch event {
        case .input(let index): take(script.workload.events[index])
        case .spellStart(let index): begin(script.spells[index])
        case .spellEnd(let index): end(script.spells[index])
        case .lag(let index):
            begin(script.lags[index])
        case .crash: crash()
        case .plan(let person): plan(person)
        case .deliver(let address): deliver(address)
        case .request(let flight): request(flight)
        case .answer(let flight, let result): answer(flight, result)
        case .reach(let push): reach(push)
        case .wake(let phone): wake(phone)
        case .send(let message): append(message)
        case .expire: expire()
        case .judge: judge()
        }
    }

    // MARK: planner and deliverer

    /// A record comes to its person's planner.
    func append(_ message: PhoneMessage) {
        guard let person = personOf[message.key] else { return }
        append(message.event, to: message.topic, person)
    }

    func append(_ event: PlannerEvent, to topic: InputTopic, _ person: Int) {
        planners[person].append(event, to: topic, at: now)
        if planners[person].isScheduled { return }
        planners[person].isScheduled = true
        queue.add(.plan(person), at: later(5...150, .plan, person))
    }

    private func begin(_ lag: FleetScript.Lag) {
        let until = Self.start + lag.end
        let name = planners[lag.person].name
        if lag.isDevicesAlone {
            counts.happened(.devicesLag)
            planners[lag.person].devicesUntil = until
            note(nil, "device records of \(name) lag")
        } else {
            counts.happened(.plannerStands)
            planners[lag.person].standsUntil = until
            note(nil, "the planner of \(name) stands still")
        }
        queue.add(.plan(lag.person), at: until)
    }

    private func plan(_ person: Int) {
        guard now >= planners[person].standsUntil else {
            return queue.add(.plan(person), at: planners[person].standsUntil)
        }
        planners[person].isScheduled = false
        guard planners[person].hasWork(now) else { return }
        let isAborted = chance(options.faults.planAborted, .planAbort, person)
        counts.planCommits += 1
        planners[person].work(now, isAborted: isAborted) { address, record in
            let index = self.index(of: address)
            addresses[index].append(record, at: now)
            schedule(index, at: later(5...200, .deliver, index))
        }
        guard isAborted else { return }
        planners[person].isScheduled = true
        counts.happened(.planAborts)
        queue.add(.plan(person), at: later(100...3000, .plan, person))
    }

    private func index(of address: Address) -> Int {
        if let index = addressOf[address] { return index }
        let index = addresses.count
        addressOf[address] = index
        addresses.append(
            FleetDeliverer(
                address, partition: Int32(number * 16 + index), deliverer, seed: script.seed &+ UInt64(index),
                broken: options.broken))
        return index
    }

    private func schedule(_ address: Int, at: Timestamp) {
        if let scheduled = addresses[address].scheduled, scheduled <= at { return }
        addresses[address].scheduled = at
        queue.add(.deliver(address), at: at)
    }

    private func deliver(_ address: Int) {
        guard addresses[address].scheduled == now else { return }
        addresses[address].scheduled = nil
        let isAborted = chance(options.faults.deliveryAborted, .deliveryAbort, address)
        counts.deliveryCommits += 1
        guard let work = addresses[address].work(now, isAborted: isAborted) else {
            counts.happened(.deliveryAborts)
            return schedule(address, at: later(100...3000, .deliver, address))
        }
        for loss in work.losses {
            if let person = personOf[loss.recipient] { append(.unregister(loss), to: .devices, person) }
        }
        if let push = work.push { leave(push, address) }
        if let wakeAt = work.wakeAt { schedule(address, at: max(wakeAt, now + .milliseconds(1))) }
    }

    private func leave(_ push: OutgoingPush, _ address: Int) {
        let payload = reader.read(push.payload) ?? .null
        addresses[address].audit.left(payload, isAlert: push.isAlert, at: now)
        flights.append(
            Flight(address: address, life: addresses[address].life, push: push, payload: payload))
        queue.add(.request(flights.count - 1), at: later(5...80, .request, address))
    }

    private func answer(_ index: Int, _ result: PushResult) {
        let flight = flights[index]
        guard addresses[flight.address].life == flight.life else { return }
        addresses[flight.address].answered(result)
        schedule(flight.address, at: later(1...200, .deliver, flight.address))
    }

    private func crash() {
        if number == 0 { counts.happened(.crash) }
        note(nil, "the deliverers die")
        for index in addresses.indices {
            addresses[index].crash()
            schedule(index, at: later(1000...10_000, .crash, index))
        }
    }

    // MARK: small things

    /// What a draw decides.
    enum Draw: UInt64 {
        case plan, planAbort, deliver, deliveryAbort, request, apns, answer, crash, lost, doubled, late, reach, send
        case ackLost, ackDoubled, ackLate, logout, hint, token, install
    }

    /// Numbers that depend on the moment, the thing and the question alone: where some inputs are left out, the rest
    /// meets the same luck, so a story can be made shorter.
    func numbers(_ draw: Draw, _ thing: Int) -> SplitMix64 {
        let place = UInt64(bitPattern: now.millis) &* 0x9e37_79b9_7f4a_7c15 &+ draw.rawValue &* 0xd1b5_4a32_d192_ed03
        var mixed = SplitMix64(seed: script.seed ^ place &+ UInt64(thing) &* 0x2545_f491_4f6c_dd1d)
        return SplitMix64(seed: mixed.next())
    }

    func chance(_ share: Double, _ draw: Draw, _ thing: Int) -> Bool {
        var numbers = numbers(draw, thing)
        return numbers.chance(share)
    }

    func later(_ millis: ClosedRange<Int64>, _ draw: Draw, _ thing: Int) -> Timestamp {
        var numbers = numbers(draw, thing)
        return now + .milliseconds(Int64.random(in: millis, using: &numbers))
    }

    func person(_ name: Bytes) -> Int? { personOf[name] }

    func phone(token: Bytes) -> Int? { phoneOf[token] }

    /// The phone's token is another from now on, and the old one is dead.
    func replaceToken(of phone: Int) -> Bytes {
        let old = phones[phone].app.token
        service.bury(old, at: now)
        phoneOf[old] = nil
        phones[phone].forget()
        let token = newToken(of: phone)
        phoneOf[token] = phone
        return token
    }

    private func newToken(of phone: Int) -> Bytes {
        var numbers = numbers(.token, phone)
        return Bytes((0..<4).flatMap { _ in Hex.encode(numbers.next()) })
    }

    func newInstall(of phone: Int) -> Bytes {
        var numbers = numbers(.install, phone)
        return Bytes(Hex.encode(numbers.next()))
    }

    func violate(_ kind: FleetViolation.Kind, _ phone: Int?, _ detail: String) {
        // The seeds' way is measured, not judged.
        if options.way == .crt { return }
        note(phone, "*** \(kind.rawValue): \(detail)")
        violations.append(
            FleetViolation(kind: kind, seed: options.seed, household: number, phone: phone, detail: detail))
    }

    func note(_ phone: Int?, _ text: @autoclosure () -> String) {
        if trace == nil { return }
        let elapsed = (now - Self.start).wholeMillis
        let (hours, rest) = elapsed.quotientAndRemainder(dividingBy: 3_600_000)
        let (minutes, millis) = rest.quotientAndRemainder(dividingBy: 60_000)
        func padded(_ number: Int64, _ width: Int) -> String {
            let digits = "\(number)"
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let time = "\(padded(hours, 2)):\(padded(minutes, 2)):\(padded(millis / 1000, 2)).\(padded(millis % 1000, 3))"
        trace?.append("\(time) \(phone.map { "phone \($0)" } ?? "-      ") \(text())")
    }
}
