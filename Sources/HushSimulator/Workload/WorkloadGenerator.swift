import HushCore

extension Workload {
    /// Makes the workload of these options.
    public init(_ options: WorkloadOptions) {
        var generator = WorkloadGenerator(options)
        self = generator.make()
    }
}

/// Draws a workload: who owns what, and what happens when.
struct WorkloadGenerator {
    /// A notification as its sender knows it.
    private struct Sent {
        var id: Bytes
        var revision: Int64
    }

    private let options: WorkloadOptions
    private var random: SplitMix64
    private var workload = Workload()
    private var phonesOf: [[Int]] = []
    /// By recipient, what may still be updated or retracted.
    private var open: [[Sent]] = []
    private var idCount = 0

    init(_ options: WorkloadOptions) {
        self.options = options
        random = SplitMix64(seed: options.seed)
    }

    mutating func make() -> Workload {
        for number in 0..<options.recipients { addRecipient(number) }
        for number in 0..<options.intents {
            let at = options.duration * number / options.intents
            addIntent(recipient: Int.random(in: 0..<options.recipients, using: &random), at: at)
        }
        for phone in workload.phones.indices { addLife(of: phone) }
        // Equal times keep the order in which they were made, so that an update never overtakes its create.
        let ordered = workload.events.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        workload.events = ordered.map(\.element)
        return workload
    }

    private mutating func addRecipient(_ number: Int) {
        let name = Bytes("\(options.recipientPrefix)\(number)")
        workload.recipients.append(name)
        open.append([])
        var mine: [Int] = []
        for kind in ["phone", "pad", "spare"].prefix(Int.random(in: 1...3, using: &random)) {
            let dialect: Dialect = random.chance(0.25) ? .crt : .hush
            let isLate = random.chance(0.05)
            let appears = isLate ? options.duration * Double.random(in: 0.1..<0.6, using: &random) : .zero
            let device = Bytes("\(options.recipientPrefix)\(number)-\(kind)")
            mine.append(workload.phones.count)
            workload.phones.append(
                Workload.Phone(owner: name, device: device, dialect: dialect, appears: appears))
        }
        phonesOf.append(mine)
    }

    private mutating func add(_ event: Workload.Event, at: Duration, isDuplicate: Bool = false) {
        workload.events.append(Workload.Timed(at: max(.zero, at), event: event, isDuplicate: isDuplicate))
    }

    /// One intent, perhaps its repeat, and what the recipient does about it.
    private mutating func addIntent(recipient: Int, at: Duration) {
        let name = workload.recipients[recipient]
        let kind = Double.random(in: 0..<1, using: &random)
        let isFull = open[recipient].count >= WorkloadOptions.livePerRecipientMax
        let event: Workload.Event
        if !isFull && (kind < 0.78 || open[recipient].isEmpty) {
            event = show(recipient, Sent(id: newID(), revision: 1))
            if case .show(let made) = event { open[recipient].append(Sent(id: made.id, revision: 1)) }
        } else {
            let index = Int.random(in: 0..<open[recipient].count, using: &random)
            if kind < 0.93 {
                open[recipient][index].revision += 1
                event = show(recipient, open[recipient][index])
            } else if kind < 0.98 {
                // Mostly for good; else through the newest revision, above which another may come.
                let sent = open[recipient][index]
                let isForGood = random.chance(0.7)
                if isForGood { open[recipient].remove(at: index) }
                event = .retract(recipient: name, id: sent.id, revision: isForGood ? nil : sent.revision)
            } else {
                // The same revision with other content: the first one stands.
                event = show(recipient, open[recipient][index])
            }
        }
        add(event, at: at)
        if random.chance(options.duplicates) {
            add(event, at: at + seconds(0..<2), isDuplicate: true)
        }
        if case .show(let made) = event { addRead(of: made, recipient: recipient, at: at) }
    }

    private mutating func addRead(of show: Workload.Show, recipient: Int, at: Duration) {
        guard random.chance(options.reads) else { return }
        if random.chance(0.15) {
            // Read on the web page, say, before the intent has come through.
            add(
                .read(recipient: show.recipient, id: show.id, revision: show.revision, phone: nil),
                at: at - seconds(0.1..<1))
            return
        }
        let phones = phonesOf[recipient].filter { workload.phones[$0].dialect == .hush }
        let phone = random.chance(0.5) ? phones.randomElement(using: &random) : nil
        add(
            .read(recipient: show.recipient, id: show.id, revision: show.revision, phone: phone),
            at: at + seconds(0.05..<3))
    }

    private mutating func show(_ recipient: Int, _ sent: Sent) -> Workload.Event {
        let mark = Int.random(in: 100..<1000, using: &random)
        // The crt dialect carries no expiry, so a phone of it would show what came in time and drop what did not.
        let mayExpire = phonesOf[recipient].allSatisfy { workload.phones[$0].dialect == .hush }
        return .show(
            Workload.Show(
                recipient: workload.recipients[recipient], id: sent.id, revision: sent.revision,
                title: Bytes("Parcel \(mark) of \(sent.id)"), body: Bytes("Locker \(sent.revision) · \u{1F4E6}"),
                life: mayExpire && random.chance(0.04) ? .seconds(2) : nil,
                mode: random.chance(0.05) ? .visible : .silent, urgent: random.chance(0.03)))
    }

    /// Mostly text, some numbers, some beyond 2^53.
    private mutating func newID() -> Bytes {
        idCount += 1
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return Bytes("\(idCount)")
        case 1: return Bytes("\(9_007_199_254_740_993 + idCount)")
        case 2: return Bytes("caf\u{e9}-\(idCount)")
        default: return Bytes("order-\(idCount)")
        }
    }

    private mutating func addLife(of phone: Int) {
        let appears = workload.phones[phone].appears
        add(.appears(phone: phone), at: appears)
        guard workload.phones[phone].dialect == .hush else { return }
        let kind = Double.random(in: 0..<1, using: &random)
        let at = appears + options.duration * Double.random(in: 0.05..<0.4, using: &random)
        switch kind {
        case ..<0.02: add(.reinstalled(phone: phone), at: at)
        case ..<0.04: add(.renewed(phone: phone), at: at)
        case ..<0.05:
            let other = workload.recipients.randomElement(using: &random) ?? workload.phones[phone].owner
            if other != workload.phones[phone].owner { add(.moved(phone: phone, to: other), at: at) }
        case ..<0.13: add(.battery(phone: phone, level: 0.05, charging: false, hint: .seconds(3)), at: at)
        case ..<0.20:
            add(.battery(phone: phone, level: 0.12, charging: false, hint: nil), at: at)
            add(.battery(phone: phone, level: 0.15, charging: true, hint: nil), at: at + .seconds(3))
        default: break
        }
    }

    private mutating func seconds(_ range: Range<Double>) -> Duration {
        .milliseconds(Int64(Double.random(in: range, using: &random) * 1000))
    }
}
