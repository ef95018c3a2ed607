import HushBase

/// A request on its way through the client: moved many times, so the request itself stays in one place.
struct QueuedPush: Sendable {
    private final class Box: Sendable {
        let request: PushRequest

        init(_ request: PushRequest) {
            self.request = request
        }
    }

    /// How often a request is sent again for free, after which it is `notSent`: a peer that refuses for ever ends there.
    static let resendsMax = 8

    private let box: Box
    let deadline: MonotonicTime
    var resends = 0
    /// It was sent again with a new token once; a second rejection is the answer.
    var hasNewToken = false

    init(request: PushRequest, deadline: MonotonicTime) {
        box = Box(request)
        self.deadline = deadline
    }

    /// Lent, not copied: a copy counts five references.
    var request: PushRequest {
        _read { yield box.request }
    }
}

/// Requests of one route that wait for a stream: first those that come back, then the others in order.
struct PushQueue {
    private var returned: [QueuedPush] = []
    private var waiting: [QueuedPush] = []
    private var head = 0

    var count: Int { returned.count + waiting.count - head }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ push: QueuedPush) {
        waiting.append(push)
    }

    /// Puts a request that certainly was not taken before all others.
    mutating func giveBack(_ push: QueuedPush) {
        returned.append(push)
    }

    mutating func popFirst() -> QueuedPush? {
        if let push = returned.popLast() { return push }
        guard head < waiting.count else { return nil }
        let push = waiting[head]
        head += 1
        if head == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 4096 {
            waiting.removeFirst(head)
            head = 0
        }
        return push
    }

    /// Takes out what has reached its deadline; of those that wait the first have the earliest.
    mutating func takeLate(at now: MonotonicTime) -> [QueuedPush] {
        var late = returned.filter { $0.deadline <= now }
        if !late.isEmpty { returned.removeAll { $0.deadline <= now } }
        while head < waiting.count, waiting[head].deadline <= now {
            late.append(waiting[head])
            head += 1
        }
        if head == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            head = 0
        }
        return late
    }

    mutating func takeAll() -> [QueuedPush] {
        let all = returned + waiting[head...]
        returned.removeAll()
        waiting.removeAll(keepingCapacity: true)
        head = 0
        return all
    }
}
