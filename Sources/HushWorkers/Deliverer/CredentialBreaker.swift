import HushCore

/// Stops what goes out with one credential to one environment while APNs refuses it, finds that its tokens do not fit, or
/// does not answer, and lets one push at a time try whether it is mended. Kafka is the buffer meanwhile.
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
    /// So many tokens that do not fit, and more than half of all answers, mean a wrong environment, not wrong tokens.
    static let misfitsMax = 20
    /// Answers after which those before count half.
    static let answersWindow = 200

    private enum State: Equatable {
        case closed
        case open(until: Timestamp)
        case trying(since: Timestamp)
    }

    private var state = State.closed
    private var failures = 0
    private var pauses = 0
    private var answers = 0
    private var misfits = 0
    private var pausedByMisfits = false

    var isClosed: Bool { state == .closed }

    /// Whether tokens that do not fit say nothing of the tokens: their ops stay.
    var doubtsMisfits: Bool { !isClosed && pausedByMisfits }

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

    /// The credential has new files: the next push tries, and a failure of its pauses as the first one does.
    mutating func mended(_ now: Timestamp) {
        if !isClosed { (state, pauses) = (.open(until: now), 0) }
    }

    /// What became of a push; true where this opened the breaker, or opened it again.
    mutating func took(_ result: PushResult, isRefused: Bool, _ now: Timestamp) -> Bool {
        if isRefused {
            pausedByMisfits = false
            return open(Self.refusalPause, Self.refusalPauseMax, now)
        }
        guard case .answered(let status, let reason, _, _) = result, status < 500 else {
            failures += 1
            if failures >= Self.failuresMax || !isClosed { return open(Self.outagePause, Self.outagePauseMax, now) }
            return false
        }
        failures = 0
        let isMisfit = APNsReason.classify(status: status, reason: reason.raw) == .restAddress
        count(isMisfit: isMisfit)
        if isMisfit && misfits >= Self.misfitsMax && 2 * misfits > answers {
            pausedByMisfits = true
            return open(Self.refusalPause, Self.refusalPauseMax, now)
        }
        if isClosed || doubtsMisfits && status != 200 { return false }
        (state, pauses, answers, misfits, pausedByMisfits) = (.closed, 0, 0, 0, false)
        return false
    }

    /// Why it is open, for people, where this answer opened it.
    func reason(of result: PushResult) -> String {
        guard case .answered(let status, let reason, _, _) = result else { return "no answers" }
        if pausedByMisfits { return "\(status) \(reason): most tokens do not fit, compare their environment and topic" }
        return "\(status) \(reason)"
    }

    private mutating func count(isMisfit: Bool) {
        answers += 1
        if isMisfit { misfits += 1 }
        if answers >= Self.answersWindow { (answers, misfits) = (answers / 2, misfits / 2) }
    }

    private mutating func open(_ first: Duration, _ longest: Duration, _ now: Timestamp) -> Bool {
        if case .open(let until) = state, until > now { return false }
        state = .open(until: now + min(first * (1 << min(pauses, 16)), longest))
        failures = 0
        pauses += 1
        return true
    }
}
