import Glibc
public import HushCore
public import HushStream
public import HushWorkers

/// One notification of one recipient, from its intents to each device's outcome.
///
/// Pure: it is shown inputs and ledger lines in any order, and tells what belongs to the story by time.
public final class Story {
    private struct Event {
        var millis: Int64
        /// Inputs before plan lines before deliver lines of one moment.
        var rank: Int
        var place: String
        var words: String
    }

    private enum Fate: Equatable {
        case planned
        case onTheWay(String)
        case final(String)
    }

    private let recipient: Bytes
    private let id: Bytes
    /// How the recipient stands in JSON, without quotes, in clear and as a pseudonym: a line without any is none of this
    /// story.
    private let needles: [[UInt8]]
    private let pseudonyms: Pseudonyms?
    private var names: LedgerNames
    /// The recipient as lines have it.
    private let recipients: [Bytes]
    private static let markNeedle = Array(#","pseudonyms":"#.utf8)
    /// A key that lines were written under, and that was not given.
    public private(set) var foreignKey: String?
    private let decoder = InputDecoder()
    private let reader = LineReader()
    private var events: [Event] = []
    /// By device, kind and cause: how far the op is.
    private var fates: [(name: String, at: Int64, fate: Fate)] = []
    private var hasIntent = false
    private var hasDevice = false

    public init(recipient: Bytes, id: Bytes, pseudonymKey: PseudonymKey? = nil) {
        self.recipient = recipient
        self.id = id
        pseudonyms = pseudonymKey.map(Pseudonyms.init)
        names = LedgerNames(pseudonymKey)
        recipients = [recipient] + (pseudonyms.map { [$0.pseudonym(of: recipient)] } ?? [])
        needles = recipients.map { name in
            var json = JSONWriter(reserving: 64)
            json.string(name)
            return Array(json.bytes.dropFirst().dropLast())
        }
    }

    public func takeInput(_ topic: InputTopic, _ record: InputRecord) {
        let decoded = record.headers.withValue(of: "content-type") { type in
            record.headers.withValue(of: "ce_time") { time in
                try? decoder.decode(
                    InputMessage(topic: topic, key: record.key, value: record.value, contentType: type, eventTime: time)
                )
            }
        }
        guard let event = decoded?.event, event.recipient == recipient, let words = words(of: event) else { return }
        events.append(
            Event(
                millis: record.appendTimeMillis, rank: 0,
                place: "\(topic.topic.name)-\(record.partition)@\(record.offset)", words: words))
    }

    private func words(of event: PlannerEvent) -> String? {
        switch event {
        case .intent(let intent):
            guard intent.id == id else { return nil }
            hasIntent = true
            let revision = intent.revision.map { "revision \($0)" } ?? "no revision"
            if case .retract = intent.body { return "the sender takes it back (\(revision))" }
            let urgent = intent.urgent ? ", urgent" : ""
            let notBefore = intent.notBefore.map { ", not before \($0.rfc3339)" } ?? ""
            return "an intent to show it (\(revision), \(intent.mode.name)\(urgent)\(notBefore))"
        // An audience has no recipient of its own; whom it reached is in hush.pushes and in deliver lines.
        case .audience: return nil
        case .read(let read):
            guard read.ids.contains(id) else { return nil }
            let by = read.device.map { " on \(text(device: $0))" } ?? ""
            return "\(read.kind.name)\(by) (\(read.revision.map { "revision \($0)" } ?? "no revision"))"
        case .register(let registration):
            return "\(text(device: registration.device)) registers for \(registration.app)"
        case .unregister(let loss):
            return "\(text(device: loss.device)) is unregistered (\(loss.reason?.text ?? "no reason"))"
        case .signal(let signal):
            guard let hello = signal.hello else { return nil }
            let shown = hello.shown.contains { $0.id == id } ? "shows it" : "does not show it"
            let gone = hello.gone.contains { $0.id == id } ? ", and holds it as gone" : ""
            return "\(text(device: signal.device)) says hello: it \(shown)\(gone)"
        }
    }

    public func takeLine(_ record: InputRecord) {
        guard let bytes = record.value,
            needles.contains(where: { Self.holds(bytes, $0) }) || Self.holds(bytes, Self.markNeedle),
            let line = try? reader.read(bytes)
        else { return }
        let place = "\(Topic.ledger.name)-\(record.partition)@\(record.offset)"
        let millis = Timestamp(rfc3339: line.at)?.millis ?? record.appendTimeMillis
        switch line.kind {
        case .order:
            if let mark = names.take(line) { foreignKey = "the key \(mark), \(names.given)" }
        case .redrive, .unknown: break
        case .plan(let decision): plan(line, decision, millis, place)
        case .deliver(let outcome): deliver(line, outcome, millis, place)
        }
    }

    private static func holds(_ bytes: Slice, _ needle: [UInt8]) -> Bool {
        guard let start = bytes.baseAddress else { return false }
        return needle.withUnsafeBytes { memmem(start, bytes.count, $0.baseAddress ?? start, $0.count) } != nil
    }

    private func isOurs(_ owner: JSONValue) -> Bool { recipients.contains { $0.isEqual(to: owner.text) } }

    /// A device's name as inputs have it, with the one that lines have.
    private func text(device: Bytes) -> String {
        pseudonyms.map { "\(device) (\($0.pseudonym(of: device)))" } ?? device.text
    }

    private func plan(_ line: LedgerLine, _ decision: PlanDecision, _ millis: Int64, _ place: String) {
        guard let owner = line.recipient, isOurs(owner) else { return }
        let isOwn = line.id.map { id.isEqual(to: $0.text) } ?? false
        var devices: [String] = []
        for op in line.ops.map({ Array($0.children) }) ?? [] {
            var parts = op.children
            guard let device = parts.next(), let kind = parts.next() else { continue }
            let name = parts.next().map { id.isEqual(to: $0.text) } ?? isOwn
            guard name, !kind.text.elementsEqual("bind".utf8) else { continue }
            let words = "\(Self.text(kind)) for \(Self.text(device))"
            devices.append(words)
            note("\(words), \(Self.cause(line.cause))", millis, .planned)
        }
        let isDevice = decision == .registered || decision == .unregistered
        if decision == .registered { hasDevice = true }
        guard isOwn || !devices.isEmpty || isDevice else { return }
        let ops = devices.isEmpty ? "" : ": \(devices.joined(separator: ", "))"
        events.append(
            Event(
                millis: millis, rank: 1, place: place,
                words: "\(decision.name)\(ops), decided by \(Self.text(line.task)) for \(Self.cause(line.cause))"
                    + (line.root["trace"].map { ", trace \(Self.text($0))" } ?? "")))
    }

    private func deliver(_ line: LedgerLine, _ outcome: DeliveryOutcome, _ millis: Int64, _ place: String) {
        for op in line.ops.map({ Array($0.children) }) ?? [] {
            guard let owner = op["recipient"], isOurs(owner), let name = op["id"],
                id.isEqual(to: name.text), let kind = op["kind"]
            else { continue }
            let device = line.device.map(Self.text) ?? "an address of nobody"
            var details: [String] = []
            if let attempt = line.root["attempt"]?.whole { details.append("attempt \(attempt)") }
            if let status = line.root["status"]?.whole { details.append("status \(status)") }
            for field in ["reason", "gate", "until", "apns_id"] as [StaticString] {
                if let value = line.root[field] { details.append("\(field) \(Self.text(value))") }
            }
            if let trace = op["trace"] { details.append("trace \(Self.text(trace))") }
            let isFinal = line.isFinal ?? false
            let more = details.isEmpty ? "" : " (\(details.joined(separator: ", ")))"
            let words = "\(outcome.name)\(isFinal ? ", final" : "")\(more)"
            events.append(
                Event(
                    millis: millis, rank: 2, place: place,
                    words: "\(Self.text(kind)) for \(device), op \(op["op"].map(Self.text) ?? "?"): \(words)"))
            note(
                "\(Self.text(kind)) for \(device), \(Self.cause(op["cause"]))", millis,
                isFinal ? .final(words) : .onTheWay(words))
        }
    }

    private func note(_ name: String, _ millis: Int64, _ fate: Fate) {
        guard let index = fates.firstIndex(where: { $0.name == name }) else {
            fates.append((name, millis, fate))
            return
        }
        if case .final = fates[index].fate { return }
        if fate == .planned || (fates[index].at > millis && fates[index].fate != .planned) { return }
        fates[index].at = millis
        fates[index].fate = fate
    }

    private static func text(_ value: JSONValue) -> String { text(value.text) }

    private static func text(_ bytes: Slice) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func cause(_ value: JSONValue?) -> String {
        guard let cause = value?.causeWord else { return "no cause" }
        return "\(cause.topic.topic.name)-\(cause.partition)@\(cause.offset)"
    }

    /// Whether anything was found.
    public var isEmpty: Bool { events.isEmpty }

    /// The timeline, then how each op stands.
    public var text: String {
        let foreign = foreignKey.map { "not told: names stand in the ledger as pseudonyms of \($0)" }
        if events.isEmpty {
            return (["nothing is known of \(id) for \(recipient) in this range"] + (foreign.map { [$0] } ?? []))
                .joined(separator: "\n")
        }
        var lines = events.sorted { ($0.millis, $0.rank, $0.place) < ($1.millis, $1.rank, $1.place) }.map { event in
            "\(Timestamp(millis: event.millis).rfc3339)  \(event.words)  [\(event.place)]"
        }
        lines.append("")
        if fates.isEmpty, foreign == nil {
            lines.append(
                hasDevice || !hasIntent
                    ? "no op was planned for any device"
                    : "no op was planned: no device was registered in this range")
        }
        for (name, _, fate) in fates {
            switch fate {
            case .planned: lines.append("\(name): pending, and nothing is told of it since it was planned")
            case .onTheWay(let words): lines.append("\(name): pending, last \(words)")
            case .final(let words): lines.append("\(name): \(words)")
            }
        }
        if let foreign { lines.append(foreign) }
        return lines.joined(separator: "\n")
    }
}
