import HushCore

/// Stops what goes out with one credential while APNs refuses it or does not answer, and lets one push at a time try
/// whether it is mended. Kafka is the buffer meanwhile.
struct CredentialBreaker {
    /// The first pause after a refusal; doubles up to the longest.
    static let refusalPause = Duration.seconds(30)
    static let refusalPauseMax = Duration.seconds(900)
    /// Failures in a row that mean that APNs is down, not a push unlucky.
    static let failuresMax = 200
    static let outagePause = Duration.seconds(1)
    static let outagePauseMax = Duration.seconds(60)
    /// A trial whose answer is lost is followed by another.
    static let trialMax = Duration.seconds(60)

    private enum State: Equatable {
        case closed
        case open(until: Timestamp)
        case trying(since: Timestamp)
    }

    private var state = State.closed
    private var failures = 0
    private var pauses = 0

    var isClosed: Bool { state == .closed }

    /// Whether a push may leave now; in a trial that is one.
    func allows(_ now: Timestamp) -> Bool {
        switch state {
        case .closed: true
        case .open(let until): until <= now
        case .trying(let since): since + Self.trialMax <= now
        }
    }

    /// When to ask again.
    func nextAt(_ now: Timestamp) -> Timestamp {
        if case .open(let until) = state, until > now { return until }
        return now + .seconds(1)
    }

    /// A push was decided.
    mutating func left(_ now: Timestamp) {
        if !isClosed { state = .trying(since: now) }
    }

    /// What became of a push; true where this opened the breaker.
    mutating func took(_ result: PushResult, isRefused: Bool, _ now: Timestamp) -> Bool {
        if isRefused { return open(Self.refusalPause, Self.refusalPauseMax, now) }
        if case .answered(let status, _, _, _) = result, status < 500 {
            (state, failures, pauses) = (.closed, 0, 0)
            return false
        }
        failures += 1
        if failures >= Self.failuresMax || !isClosed { return open(Self.outagePause, Self.outagePauseMax, now) }
        return false
    }

    private mutating func open(_ first: Duration, _ longest: Duration, _ now: Timestamp) -> Bool {
        if case .open(let until) = state, until > now { return false }
        state = .open(until: now + min(first * (1 << min(pauses, 16)), longest))
        failures = 0
        pauses += 1
        return true
    }
}
