import HushBase

/// Pauses between attempts: exponential with full jitter, so that many clients do not come back at once.
struct Backoff {
    let first: Duration
    let cap: Duration
    private(set) var failures = 0

    init(first: Duration, cap: Duration) {
        self.first = first
        self.cap = cap
    }

    /// The pause after one more failure: between a tenth and the whole of `first × 2ⁿ`, at most `cap`.
    mutating func next(using random: inout some RandomNumberGenerator) -> Duration {
        var most = min(first.wholeNanos, cap.wholeNanos)
        for _ in 0..<failures where most < cap.wholeNanos { most = min(most * 2, cap.wholeNanos) }
        failures += 1
        return .nanoseconds(Int64.random(in: most / 10...most, using: &random))
    }

    mutating func reset() {
        failures = 0
    }
}

/// When a route opens connections, as rules: no socket, no clock, no dice of its own.
///
/// It counts what the shell tells it. Retired connections do not hold a place, so a replacement opens while they drain.
struct RoutePool {
    let places: Int
    private(set) var connecting = 0
    private(set) var open = 0
    private(set) var draining = 0
    private(set) var notBefore: MonotonicTime
    private var backoff: Backoff

    init(places: Int, backoff: Backoff, at now: MonotonicTime) {
        self.places = places
        self.backoff = backoff
        notBefore = now
    }

    /// Whether a connection is to be opened now: requests wait, the open connections have no room for them, none is
    /// on its way, a place is free and the pause after the last failure is over.
    func wantsConnection(queued: Int, allowance: Int, at now: MonotonicTime) -> Bool {
        queued > allowance && connecting == 0 && open < places && draining < 2 * places && now >= notBefore
    }

    /// Whether an open connection that was idle for so long is to go: the first stays, for as long as it likes.
    func canSpare(idle: Duration, idleMax: Duration) -> Bool {
        open > 1 && idle >= idleMax
    }

    mutating func started() {
        connecting += 1
    }

    mutating func opened() {
        connecting -= 1
        open += 1
    }

    mutating func retired() {
        open -= 1
        draining += 1
    }

    /// An answer came: the route works.
    mutating func answered() {
        backoff.reset()
    }

    /// A connection ended that was in `state`; one that never answered counts as a failure.
    mutating func ended(
        in state: ConnectionLife.State, hadAnswered: Bool, at now: MonotonicTime,
        using random: inout some RandomNumberGenerator
    ) {
        switch state {
        case .connecting: connecting -= 1
        case .open: open -= 1
        case .draining: draining -= 1
        case .closed: return
        }
        if !hadAnswered { notBefore = now + backoff.next(using: &random) }
    }
}
