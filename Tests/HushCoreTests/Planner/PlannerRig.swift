import HushCore
import Testing

/// A planner with its state and a clock, that tells in words what each record did.
///
/// A step reads as its plan lines, then its pushes: `planned x/1: phone create` and `t1 <- create x/1 first`. Addresses
/// go by the tokens they were made of.
struct PlannerRig {
    var planner = Planner()
    var state = MemoryPlannerState()
    /// Seconds since the rig's start; each record is appended a second after the one before.
    var seconds: Int64 = 0
    private(set) var pushes: [PlannedPush] = []
    private var offsets: [InputTopic: Int64] = [:]
    private var tokens: [Address: Bytes] = [:]

    static let start = Timestamp(seconds: 1_764_583_200)

    var now: Timestamp { Self.start + .seconds(seconds) }

    /// The version that a register would get which is appended at that second with that offset.
    static func version(_ seconds: Int64, _ offset: Int64) -> BindingVersion {
        BindingVersion(at: start + .seconds(seconds), partition: 3, offset: offset)
    }

    @discardableResult
    mutating func feed(_ event: PlannerEvent, origin: BindingVersion? = nil) -> [String] {
        seconds += 1
        if case .register(let registration) = event { tokens[registration.address] = registration.token }
        let topic = event.topic
        let offset = offsets[topic, default: 0]
        offsets[topic] = offset + 1
        let position = Position(topic: topic, partition: 3, offset: offset)
        var arrival = Arrival(position: position, appended: now, now: now)
        if let origin { arrival.origin = origin }
        var effects = PlanEffects()
        planner.step(event, arrival, &state, &effects)
        pushes += effects.pushes
        return effects.lines.map(\.words) + effects.pushes.flatMap(words)
    }

    /// What the next slice of an audience did: first the slice itself, as `slice promo/1 ada...bob: 2 last`.
    mutating func slice() -> [String] {
        var effects = PlanEffects()
        guard let slice = planner.slice(now: now, &state, &effects) else { return [] }
        pushes += effects.pushes
        let range = "\(slice.after?.text ?? "")...\(slice.through?.text ?? "")"
        let head =
            "slice \(slice.id)/\(slice.revision?.words ?? "") \(range): \(slice.recipients)"
            + (slice.isLast ? " last" : "")
        return [head] + effects.lines.map { "\($0.recipient): \($0.words)" } + effects.pushes.flatMap(words)
    }

    /// Takes slices until none is left; what they pushed.
    mutating func sliceAll(sourceLocation: SourceLocation = #_sourceLocation) -> [String] {
        var found: [String] = []
        for _ in 0..<1000 {
            let words = slice()
            if words.isEmpty { return found }
            found += words.filter { $0.contains(" <- ") }
        }
        Issue.record("the slices do not end", sourceLocation: sourceLocation)
        return found
    }

    /// The op that was pushed last.
    var lastOp: Op? {
        guard case .ops(_, let ops, _) = pushes.last?.record else { return nil }
        return ops.last
    }

    func live(_ recipient: Bytes = "ada") -> [Bytes] {
        state.live(of: recipient, at: now).map(\.id)
    }

    private func words(_ push: PlannedPush) -> [String] {
        let to = tokens[push.address]?.text ?? "?"
        switch push.record {
        case .bind(let binding, let fresh, _):
            return ["\(to) <- bind \(binding.owner) \(binding.version.words)\(fresh ? " fresh" : "")"]
        case .unbind(let owner, let version): return ["\(to) <- unbind \(owner) \(version.words)"]
        case .ops(_, let ops, _): return ops.map { "\(to) <- \($0.words)" }
        case .signal(_, let reading, let acks, let hello):
            let battery = reading.battery.map { " battery \($0)" } ?? ""
            let acked = acks.isEmpty ? "" : " acks " + acks.map(\.description).joined(separator: ",")
            return ["\(to) <- signal\(battery)\(acked)\(hello ? " hello" : "")"]
        }
    }
}

extension PlannerEvent {
    var topic: InputTopic {
        switch self {
        case .intent: .intents
        case .read: .reads
        case .register, .unregister: .devices
        case .signal: .signals
        case .audience: .fanout
        }
    }

    static func show(
        _ id: Bytes, _ revision: Int64? = nil, to recipient: Bytes = "ada", title: String = "t",
        created: Timestamp? = nil, expiry: Expiry? = nil, app: Bytes? = nil, mode: Mode = .silent
    ) -> PlannerEvent {
        .intent(
            Intent(
                id: id, recipient: recipient, body: .show(Content(json: Bytes(#"{"title":"\#(title)"}"#))),
                revision: revision, created: created, expiry: expiry, app: app, mode: mode))
    }

    /// For an audience; nil: for those who hold it.
    static func show(
        _ id: Bytes, _ revision: Int64? = nil, audience: Audience?, title: String = "t", created: Timestamp? = nil,
        expiry: Expiry? = nil, app: Bytes? = nil
    ) -> PlannerEvent {
        .audience(
            AudienceIntent(
                intent: Intent(
                    id: id, recipient: id, body: .show(Content(json: Bytes(#"{"title":"\#(title)"}"#))),
                    revision: revision, created: created, expiry: expiry, app: app),
                audience: audience))
    }

    static func retract(audience id: Bytes, _ revision: Int64? = nil) -> PlannerEvent {
        .audience(
            AudienceIntent(
                intent: Intent(id: id, recipient: id, body: .retract, revision: revision), audience: nil))
    }

    static func retract(_ id: Bytes, _ revision: Int64? = nil, created: Timestamp? = nil) -> PlannerEvent {
        .intent(Intent(id: id, recipient: "ada", body: .retract, revision: revision, created: created))
    }

    static func read(
        _ id: Bytes, _ revision: Int64? = nil, device: Bytes? = nil, install: Bytes? = nil, of recipient: Bytes = "ada"
    ) -> PlannerEvent {
        .read(Read(recipient: recipient, ids: [id], revision: revision, device: device, install: install))
    }

    static func register(
        _ device: Bytes, _ token: Bytes, install: Bytes? = nil, app: Bytes = "chat", of recipient: Bytes = "ada",
        dialect: Dialect = .hush, acks: Bool = true, tags: [Bytes] = [], fresh: Bool = false
    ) -> PlannerEvent {
        .register(
            Registration(
                recipient: recipient, device: device, token: token, app: app, dialect: dialect, acks: acks, tags: tags,
                install: install, fresh: fresh))
    }

    static func unregister(
        _ device: Bytes, _ token: Bytes? = nil, version: BindingVersion? = nil, at: Timestamp? = nil
    ) -> PlannerEvent {
        let address = token.map { Address(app: "chat", environment: .production, token: $0) }
        return .unregister(
            Unregistration(recipient: "ada", device: device, address: address, version: version, at: at))
    }

    static func hello(
        _ device: Bytes, of recipient: Bytes = "ada", shown: [(Bytes, Int64)] = [], gone: [(Bytes, Int64)] = []
    ) -> PlannerEvent {
        let hello = Signal.Hello(
            shown: shown.map { Signal.Entry(id: $0.0, revision: $0.1) },
            gone: gone.map { Signal.Entry(id: $0.0, revision: $0.1) })
        return .signal(Signal(recipient: recipient, device: device, hello: hello))
    }
}

extension PlanLine {
    fileprivate var words: String {
        var text = decision.name.text
        if let id { text += " \(id)" }
        if let revision { text += "/\(revision.words)" }
        guard !ops.isEmpty else { return text }
        return text + ": "
            + ops.map { op in
                "\(op.device) \(op.kind.name)" + (op.id.map { " \($0)" } ?? "")
            }.joined(separator: ", ")
    }
}

extension Op {
    fileprivate var words: String {
        "\(kind.name) \(id)/\(revision.words)" + (first ? " first" : "") + (quiet ? " quiet" : "")
            + (urgent ? " urgent" : "")
    }
}

extension BindingVersion {
    fileprivate var words: String { "@\((at - PlannerRig.start).wholeMillis / 1000)" }
}

extension Int64 {
    fileprivate var words: String { self == Standing.everyRevision ? "all" : String(self) }
}
