import HushBase

/// Why a connection came to its end.
enum ConnectionEnd: Hashable, Sendable {
    case connectTimeout
    case connectFailed(String)
    case pingTimeout
    case peerClosed
    case failed(String)
    /// It was retired (GOAWAY, renewed token, used-up stream ids) and its last stream is answered.
    case drained
    case dropped

    var text: String {
        switch self {
        case .connectTimeout: "no connection within the connect timeout"
        case .connectFailed(let reason): reason
        case .pingTimeout: "no answer to PING"
        case .peerClosed: "closed by the peer"
        case .failed(let reason): reason
        case .drained: "retired"
        case .dropped: "dropped"
        }
    }
}

/// The life of one connection as rules: what it may do, and what the passing of time asks for. No socket, no clock.
///
///     connecting ──▶ open ──▶ draining
///          └──────────┴──────────┴─────▶ closed
struct ConnectionLife {
    enum State: Hashable, Sendable {
        case connecting
        case open
        /// No new stream; it closes when the last one is answered.
        case draining
        case closed
    }

    enum Action: Hashable, Sendable {
        case none
        case ping
        case close(ConnectionEnd)
    }

    struct Limits: Sendable {
        var connectTimeout: Duration
        var pingInterval: Duration
        var pingTimeout: Duration
        var streamsMax: Int
        /// A connection is replaced before its stream ids (31 bits, odd ones) run out.
        var streamIDMax: Int32 = 1 << 30
        /// Apple allows one stream until a valid token was seen.
        var oneStreamUntilAccepted: Bool
    }

    static let allowed: [State: Set<State>] = [
        .connecting: [.open, .closed],
        .open: [.draining, .closed],
        .draining: [.closed],
        .closed: [],
    ]

    let limits: Limits
    private(set) var state = State.connecting
    private(set) var hasAnswered = false
    private let began: MonotonicTime
    private var lastBusy: MonotonicTime
    private var hasOpenedStreams = false
    private var lastReceived: MonotonicTime
    private var pingSent: MonotonicTime?
    private var peerStreamsMax: Int?
    private var tokenAccepted = false

    init(limits: Limits, at now: MonotonicTime) {
        self.limits = limits
        began = now
        lastBusy = now
        lastReceived = now
    }

    /// How long it has had no stream, as of the last `tick`.
    func idle(at now: MonotonicTime) -> Duration { now - lastBusy }

    /// How many more streams may be opened while `open` are.
    ///
    /// One before the peer's SETTINGS and, with tokens, before the first answer that did not reject the token.
    func allowance(open: Int) -> Int {
        guard state == .open else { return 0 }
        var most = min(peerStreamsMax ?? 1, limits.streamsMax)
        if limits.oneStreamUntilAccepted && !tokenAccepted { most = min(most, 1) }
        return max(0, most - open)
    }

    mutating func opened(at now: MonotonicTime) {
        change(to: .open)
        lastReceived = now
    }

    mutating func received(at now: MonotonicTime) {
        lastReceived = now
        pingSent = nil
    }

    mutating func settings(streamsMax: Int) {
        peerStreamsMax = streamsMax
    }

    /// An answer of the peer; anything but 403 shows that it took the token.
    mutating func answered(status: UInt16) {
        hasAnswered = true
        if status != 403 { tokenAccepted = true }
    }

    mutating func streamOpened(id: Int32) {
        hasOpenedStreams = true
        if id >= limits.streamIDMax { retire() }
    }

    /// No further streams here: GOAWAY, a wedged token, used-up ids.
    mutating func retire() {
        if state == .open { change(to: .draining) }
    }

    mutating func closed() {
        if state != .closed { change(to: .closed) }
    }

    /// What is due. A connection that is silent is asked by PING whether or not it has streams in flight:
    /// a frozen peer still acknowledges TCP.
    mutating func tick(at now: MonotonicTime, open: Int) -> Action {
        if open > 0 || hasOpenedStreams || state == .connecting { lastBusy = now }
        hasOpenedStreams = false
        switch state {
        case .connecting:
            return now - began >= limits.connectTimeout ? .close(.connectTimeout) : .none
        case .open, .draining:
            if state == .draining && open == 0 { return .close(.drained) }
            if let pingSent {
                return now - pingSent >= limits.pingTimeout ? .close(.pingTimeout) : .none
            }
            if now - lastReceived >= limits.pingInterval {
                pingSent = now
                return .ping
            }
            return .none
        case .closed:
            return .none
        }
    }

    private mutating func change(to next: State) {
        precondition(Self.allowed[state]?.contains(next) == true, "a connection cannot go from \(state) to \(next)")
        state = next
    }
}
