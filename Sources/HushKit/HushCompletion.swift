public import HushCore

/// Decides when the handler is called that iOS hands over with a push: exactly once, and not before the work is done.
///
/// iOS suspends the app at that call, and takes notifications off the screen some time after it was asked to, without
/// saying when. So the centre is asked what it holds until nothing is left of what was to go, or time is up.
public struct HushCompletion: Hashable, Sendable {
    /// What the caller does next.
    public enum Step: Hashable, Sendable {
        /// Call the handler, now.
        case call
        /// Ask the centre what it holds after this time, and tell it by `holds`.
        case ask(after: Duration)
        /// The handler was called before.
        case nothing
    }

    /// Between two questions.
    public static let interval: Duration = .milliseconds(50)
    /// The longest wait for removals; iOS gives a push 30 s.
    public static let waitMax: Duration = .seconds(2)

    private var leaving: Set<Bytes> = []
    private var isAllLeaving = false
    private var shown: Set<Bytes> = []
    private let deadline: Timestamp
    private var isCalled = false

    /// Takes what a push asked for; perform it first. `now` is the phone's clock.
    public init(_ actions: [HushAction], now: Timestamp) {
        deadline = now + Self.waitMax
        for action in actions {
            switch action {
            case .remove(let identifiers): leaving.formUnion(identifiers)
            case .removeAll:
                isAllLeaving = true
                shown.removeAll()
            case .show(let notification, _):
                leaving.remove(notification.identifier)
                shown.insert(notification.identifier)
            case .badge, .acknowledge, .hello, .report, .register, .unregister, .dropped: break
            }
        }
    }

    /// What to do once the actions were performed.
    public mutating func begin() -> Step {
        leaving.isEmpty && !isAllLeaving ? call() : .ask(after: Self.interval)
    }

    /// Takes the identifiers that the centre holds.
    public mutating func holds(_ identifiers: some Sequence<Bytes>, now: Timestamp) -> Step {
        if isCalled { return .nothing }
        let isLeft = identifiers.contains { identifier in
            leaving.contains(identifier)
                || isAllLeaving && StableIdentifier.isOurs(identifier) && !shown.contains(identifier)
        }
        return isLeft && now < deadline ? .ask(after: Self.interval) : call()
    }

    private mutating func call() -> Step {
        if isCalled { return .nothing }
        isCalled = true
        return .call
    }
}
