import HushCore

/// What happens to one household of a fleet: its people, their phones, what is sent to them and what befalls them.
///
/// Households share nothing but the deliverers' crashes, so one of them alone runs as it does among the others.
struct FleetScript {
    struct Spell {
        var phone: Int
        var kind: FleetFaults.Spell
        var start: Duration
        var end: Duration
    }

    /// A planner stands still, or one of its topics does.
    struct Lag {
        var person: Int
        var isDevicesAlone: Bool
        var start: Duration
        var end: Duration
    }

    var workload = Workload()
    var spells: [Spell] = []
    var lags: [Lag] = []
    var crashes: [Duration] = []
    /// For the household's own draws while it runs.
    var seed: UInt64

    /// The households of a fleet, by how many phones each has.
    static func households(_ options: FleetOptions) -> [Int] {
        var random = SplitMix64(seed: options.seed)
        var sizes: [Int] = []
        var left = options.phones
        while left > 0 {
            let size = min(left, Int.random(in: 1...3, using: &random))
            sizes.append(size)
            left -= size
        }
        return sizes
    }

    init(_ options: FleetOptions, household: Int, phones: Int) {
        var fleet = SplitMix64(seed: options.seed ^ 0x5eed_f1ee)
        let crashCount = max(1, options.faults.crashesPerDay * options.hours / 24)
        if options.faults.crashesPerDay > 0 {
            crashes = (0..<crashCount).map { _ in options.duration * Double.random(in: 0.02..<1, using: &fleet) }
        }
        var own = SplitMix64(seed: options.seed &* 0x9e37_79b9 &+ UInt64(household) &* 0xd1b5_4a32_d192_ed03)
        seed = own.next()
        var writer = FleetScriptWriter(options, household: household, phones: phones, random: own)
        writer.write(into: &self)
    }
}

/// Draws the script of a household.
private struct FleetScriptWriter {
    private struct Sent {
        var id: Bytes
        var revision: Int64
        var at: Duration
        var isOpen = true
    }

    let options: FleetOptions
    let household: Int
    let phones: Int
    var random: SplitMix64
    private var idCount = 0
    private var people: [Bytes] = []
    private var phonesOf: [[Int]] = []

    /// Notifications of a person that stay unread at most: well below the planner's bound, where the oldest leaves.
    static let openMax = 40

    init(_ options: FleetOptions, household: Int, phones: Int, random: SplitMix64) {
        self.options = options
        self.household = household
        self.phones = phones
        self.random = random
    }

    mutating func write(into script: inout FleetScript) {
        people = (0..<2).map { Bytes("\(household)\($0 == 0 ? "a" : "b")") }
        phonesOf = [Array(0..<min(phones, 2)), phones > 2 ? [2] : []]
        script.workload.recipients = people
        for (person, mine) in phonesOf.enumerated() {
            for phone in mine {
                script.workload.phones.append(
                    Workload.Phone(
                        owner: people[person], device: Bytes("\(household)-\(phone)"),
                        dialect: options.way == .hush ? .hush : .crt, appears: .zero))
            }
        }
        for person in people.indices {
            addIntents(to: person, &script.workload.events)
            for (isDevicesAlone, share) in [(false, options.faults.plannerLags), (true, options.faults.devicesLag)] {
                guard random.chance(share * day) else { continue }
                let start = options.duration * Double.random(in: 0..<0.95, using: &random)
                script.lags.append(
                    FleetScript.Lag(
                        person: person, isDevicesAlone: isDevicesAlone, start: start, end: start + minutes(1...45)))
            }
        }
        for phone in 0..<phones { addSpells(of: phone, &script) }
        let ordered = script.workload.events.enumerated().sorted {
            ($0.element.at, $0.offset) < ($1.element.at, $1.offset)
        }
        script.workload.events = ordered.map(\.element)
        script.spells.sort { ($0.start, $0.phone, $0.kind.rawValue) < ($1.start, $1.phone, $1.kind.rawValue) }
    }

    private var day: Double { Double(options.hours) / 24 }

    // MARK: what befalls phones

    private mutating func addSpells(of phone: Int, _ script: inout FleetScript) {
        let kinds = FleetFaults.Spell.allCases
        for (index, kind) in kinds.enumerated() {
            let share = (options.faults.spells[kind] ?? 0) * day
            // Each kind is dealt to some household, so that none is missing by chance.
            let isDealt = share > 0 && phone == 0 && household % kinds.count == index
            guard isDealt || random.chance(share) else { continue }
            var start = options.duration * Double.random(in: 0.03..<0.97, using: &random)
            if kind == .handedOver { start = addHandover(phone, start, &script) }
            let latest = options.duration + FleetOptions.spellBeyondEnd
            let end = kind.minutes.map { min(start + minutes($0), latest) } ?? start
            script.spells.append(FleetScript.Spell(phone: phone, kind: kind, start: start, end: end))
            if kind == .renewed, random.chance(options.faults.renewedAway) {
                let away = minutes(10...300)
                script.spells.append(
                    FleetScript.Spell(
                        phone: phone, kind: .offline, start: max(.zero, start - away), end: start + .seconds(2)))
            }
        }
    }

    /// Another person logs in on a phone, often while something is under way to it; returns when.
    private mutating func addHandover(
        _ phone: Int, _ drawn: Duration, _ script: inout FleetScript
    ) -> Duration {
        let owner = phonesOf[0].contains(phone) ? 0 : 1
        var start = drawn
        if random.chance(0.5) {
            let sent = script.workload.events.filter { $0.event.isShow(to: people[owner]) }.randomElement(
                using: &random)
            start = (sent?.at ?? drawn) + .milliseconds(Int64.random(in: 0..<3000, using: &random))
        }
        if random.chance(options.faults.handoverLags) {
            script.lags.append(
                FleetScript.Lag(
                    person: owner, isDevicesAlone: random.chance(0.7), start: max(.zero, start - .seconds(1)),
                    end: start + minutes(1...45)))
        }
        var at = start
        var holder = owner
        var logins = 1
        var isQuick = random.chance(options.faults.quickLogins)
        if isQuick { logins += Int.random(in: 1...3, using: &random) } else if random.chance(0.3) { logins = 2 }
        for _ in 0..<logins {
            holder = 1 - holder
            script.workload.events.append(
                Workload.Timed(at: at, event: .moved(phone: phone, to: people[holder])))
            at += isQuick ? minutes(0.01...2) : minutes(5...300)
            if random.chance(0.2) { isQuick = false }
        }
        return start
    }

    // MARK: what is sent

    private mutating func addIntents(to person: Int, _ events: inout [Workload.Timed]) {
        let share = phonesOf[person].isEmpty ? 0.25 : 1.0
        let count = max(1, Int(Double(options.intentsPerDay) * day * share))
        var sent: [Sent] = []
        for at in times(count) { addIntent(to: person, at: at, &sent, &events) }
    }

    private mutating func times(_ count: Int) -> [Duration] {
        guard options.kind == .chat else {
            return (0..<count).map { _ in options.duration * Double.random(in: 0..<1, using: &random) }.sorted()
        }
        var times: [Duration] = []
        while times.count < count {
            let start = options.duration * Double.random(in: 0..<0.95, using: &random)
            for _ in 0..<min(40, count - times.count) {
                times.append(start + .milliseconds(Int64.random(in: 0..<3_600_000, using: &random)))
            }
        }
        return times.sorted()
    }

    private mutating func addIntent(
        to person: Int, at: Duration, _ sent: inout [Sent], _ events: inout [Workload.Timed]
    ) {
        let open = sent.indices.filter { sent[$0].isOpen && sent[$0].at < at }
        if open.count >= Self.openMax, let oldest = open.first {
            sent[oldest].isOpen = false
            addRead(person, sent[oldest], at: at, &events)
        }
        let kind = Double.random(in: 0..<1, using: &random)
        if kind < options.faults.updates, let place = open.randomElement(using: &random), sent[place].isOpen {
            sent[place].revision += 1
            sent[place].at = at
            addShow(person, sent[place], &events)
            settle(person, place, &sent, &events)
        } else if kind < options.faults.updates + options.faults.retracts,
            let place = open.randomElement(using: &random), sent[place].isOpen
        {
            sent[place].isOpen = false
            events.append(
                Workload.Timed(
                    at: at, event: .retract(recipient: people[person], id: sent[place].id, revision: nil)))
        } else {
            idCount += 1
            sent.append(Sent(id: Bytes("\(people[person].text)-\(idCount)"), revision: 1, at: at))
            addShow(person, sent[sent.count - 1], &events)
            settle(person, sent.count - 1, &sent, &events)
        }
    }

    private mutating func addShow(_ person: Int, _ sent: Sent, _ events: inout [Workload.Timed]) {
        let isLong = random.chance(0.05)
        let words = Int.random(in: isLong ? 20...90 : 1...6, using: &random)
        let text = String(repeating: "\u{1F4E6} locker ", count: words)
        let life = random.chance(options.faults.shortLived) ? minutes(5...240) : FleetOptions.life
        let mode: Mode =
            random.chance(options.faults.visible) ? (random.chance(0.5) ? .visible : .auto) : .silent
        let show = Workload.Show(
            recipient: people[person], id: sent.id, revision: sent.revision,
            title: Bytes("Parcel \(Int.random(in: 100..<1000, using: &random)) of \(sent.id.text)"), body: Bytes(text),
            life: .seconds(life.components.seconds), mode: mode, urgent: random.chance(0.02))
        events.append(Workload.Timed(at: sent.at, event: .show(show)))
        guard random.chance(options.faults.repeated) else { return }
        events.append(Workload.Timed(at: sent.at + minutes(0.05...30), event: .show(show), isDuplicate: true))
    }

    /// Perhaps the person reads it: in a chat on another device of theirs, else there or on a phone of this fleet.
    private mutating func settle(
        _ person: Int, _ place: Int, _ sent: inout [Sent], _ events: inout [Workload.Timed]
    ) {
        guard random.chance(options.reads) else { return }
        sent[place].isOpen = false
        let wait = minutes(options.kind == .chat ? 0.2...30 : 0.1...120)
        addRead(person, sent[place], at: sent[place].at + wait, &events)
    }

    private mutating func addRead(_ person: Int, _ sent: Sent, at: Duration, _ events: inout [Workload.Timed]) {
        let here = options.kind == .calm && random.chance(0.5) ? phonesOf[person].randomElement(using: &random) : nil
        events.append(
            Workload.Timed(
                at: at,
                event: .read(recipient: people[person], id: sent.id, revision: sent.revision, phone: here)))
    }

    /// A time in a range of minutes, spread over its orders of magnitude.
    private mutating func minutes(_ range: ClosedRange<Double>) -> Duration {
        let ratio = range.upperBound / range.lowerBound
        let point = Double.random(in: 0..<1, using: &random)
        return .milliseconds(Int64(range.lowerBound * power(ratio, point) * 60_000))
    }

    /// `base` to the `exponent` of 0 to 1 in steps of a 32nd: the same on every machine, which a libm does not promise.
    private func power(_ base: Double, _ exponent: Double) -> Double {
        var result = 1.0
        var root = base
        var left = exponent
        for _ in 0..<5 {
            root = root.squareRoot()
            left *= 2
            if left >= 1 {
                result *= root
                left -= 1
            }
        }
        return result * (1 + (root - 1) * left)
    }
}

extension Workload.Event {
    fileprivate func isShow(to recipient: Bytes) -> Bool {
        if case .show(let show) = self { show.recipient == recipient } else { false }
    }
}
