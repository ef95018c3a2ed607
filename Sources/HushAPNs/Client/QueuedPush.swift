import HushBase

/// The requests of one `submit`: they stay in one place, for each copy would count five references.
final class PushBatch: Sendable {
    let requests: [PushRequest]
    let deadline: MonotonicTime

    init(_ requests: [PushRequest], deadline: MonotonicTime) {
        self.requests = requests
        self.deadline = deadline
    }
}

/// A part of a batch, for one loop thread.
struct PushRun: Sendable {
    let batch: PushBatch
    let range: Range<Int>
}

/// A request on its way through the client: its batch and its place there. It is moved many times.
struct QueuedPush: Sendable {
    /// How often a request is sent again for free, after which it is `notSent`: a peer that refuses for ever ends there.
    static let resendsMax: UInt8 = 8

    private let batch: PushBatch
    private let place: Int32
    var resends: UInt8 = 0
    /// It was sent again with a new token once; a second rejection is the answer.
    var hasNewToken = false

    init(_ batch: PushBatch, at place: Int) {
        precondition(batch.requests.indices.contains(place))
        self.batch = batch
        self.place = Int32(place)
    }

    var deadline: MonotonicTime { batch.deadline }

    var tag: UInt64 { batch.requests[Int(place)].tag }
    var route: Int { batch.requests[Int(place)].route }
    var payloadByteCount: Int { batch.requests[Int(place)].payload.count }

    /// Lends the request where it lies: to be handed on by value, even borrowed, it would be copied, with a retain for each
    /// of its fields.
    @inline(__always)
    func withRequest<R>(_ body: (UnsafePointer<PushRequest>) -> R) -> R {
        batch.requests.withUnsafeBufferPointer { requests in
            guard let first = requests.baseAddress else { preconditionFailure("a batch without requests") }
            return body(first + Int(place))
        }
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
