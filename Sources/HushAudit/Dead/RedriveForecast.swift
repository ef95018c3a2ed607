public import HushCore
public import HushStream
import HushWorkers

/// What a redrive would do, found without sending anything.
///
/// The letters are decoded by this very version: workers of another one may read more, or less. What the planner's
/// state alone can tell, as that an id is known already, is not foreseen.
public final class RedriveForecast {
    private let drafter: RedriveDrafter
    private let options: RedriveOptions
    private let planner: Planner
    private let now: Timestamp
    private var states: [LetterState: Int] = [:]
    private var readable = 0
    private var unknown = 0
    private var again: [String: Int] = [:]
    private var late: [PlanDecision: Int] = [:]

    /// `policy` are the rules of the planners that run, `now` is when the letters would be sent.
    public convenience init(
        _ kafka: KafkaConfiguration, _ options: RedriveOptions, _ policy: Policy, now: Timestamp,
        log: StreamLog = .silent
    ) throws {
        self.init(
            partitionCounts: try Redriver.partitionCounts(kafka, options.names, log), options, policy, now: now)
    }

    init(partitionCounts: [Topic: Int32], _ options: RedriveOptions, _ policy: Policy, now: Timestamp) {
        self.options = options
        self.now = now
        planner = Planner(policy: policy)
        drafter = RedriveDrafter(partitionCounts: partitionCounts, run: options.run)
    }

    public func take(_ letter: Letter, _ state: LetterState) {
        states[state, default: 0] += 1
        guard state == .waiting, let origin = letter.origin else { return }
        let mended = options.mended[origin]
        if letter.lost != nil && mended == nil || origin.topic == .pushes {
            unknown += 1
            return
        }
        let draft = drafter.draft(letter, origin: origin, value: mended ?? letter.value, isMended: mended != nil)
        if let reason = draft.again {
            again[reason.code.rawValue, default: 0] += 1
            return
        }
        readable += 1
        if let intent = draft.intent, let decision = planner.tooLate(intent, origin: draft.firstAppended, now: now) {
            late[decision, default: 0] += 1
        }
    }

    public var text: String {
        var text = "would redrive \(states[.waiting] ?? 0): \(readable) can be read now"
        if unknown > 0 { text += ", \(unknown) only the workers can judge" }
        text += "\n"
        for (code, count) in again.sorted(by: { $0.key < $1.key }) { text += "would die again: \(count) \(code)\n" }
        if let count = late[.stale] {
            text += "would show nothing: \(count) stale, created before the dedupe window (planner.dedupe.window)\n"
        }
        if let count = late[.expired] { text += "would show nothing: \(count) expired\n" }
        let rest: [(LetterState, String)] = [
            (.redriven, "redriven before"), (.parked, "parked"), (.foreign, "not hush's"),
        ]
        for (state, words) in rest where states[state] != nil { text += "would stay: \(states[state] ?? 0) \(words)\n" }
        return text
    }
}
