import HushAPNs
import HushBase
import HushCore
import HushKit
import HushSimulator
import HushWorkers

/// The simulated APNs without a network: judges each push by Apple's rules, and answers at once or when it is told to.
final class VirtualAPNs: PushTransport {
    /// What becomes of a push that APNs would take.
    enum Fate: Equatable {
        case accept
        /// Delivered, but its answer never comes back.
        case takeAndLoseAnswer
        /// Neither delivered nor answered.
        case lose
        /// Answered when `release` is called; delivered then.
        case hold
        /// Refused, though the token is good: a 410 with this timestamp.
        case unregister(at: Timestamp)
    }

    let wakeUp: WakeUp
    let capacity = 1000
    let isHalted = false
    var fate = Fate.accept
    /// What left, in order, whatever became of it.
    private(set) var requests: [PushRequest] = []
    /// What was delivered, in order.
    private(set) var accepted: [AcceptedPush] = []
    /// Reasons of what was refused.
    private(set) var refused: [Bytes] = []
    private var service: APNsService
    private var held: [PushRequest] = []
    private var answers: [PushAnswer] = []
    private var undelivered: [AcceptedPush] = []
    private let reader = PayloadReader()
    private let now: () -> Timestamp

    init(topics: Set<Bytes>, now: @escaping () -> Timestamp) throws {
        wakeUp = try WakeUp()
        service = APNsService(rules: APNsRules(topics: topics, provider: nil))
        self.now = now
    }

    func submit(_ batch: [PushRequest]) -> Int {
        for request in batch {
            requests.append(request)
            if fate == .hold { held.append(request) } else { take(request, fate) }
        }
        return batch.count
    }

    func drain(into answers: inout [PushAnswer]) {
        answers = self.answers
        self.answers = []
    }

    func resume() {}

    func dropConnections() {
        for request in held { answers.append(PushAnswer(tag: request.tag, outcome: .unknown)) }
        held = []
    }

    /// From now on pushes to this token are answered 410.
    func bury(_ token: Bytes, at: Timestamp) {
        service.bury(token, at: at)
    }

    /// Takes what was held.
    func release(_ fate: Fate = .accept) {
        let requests = held
        held = []
        for request in requests { take(request, fate) }
    }

    /// Hands out what phones are to get.
    func deliveries() -> [AcceptedPush] {
        defer { undelivered = [] }
        return undelivered
    }

    private func take(_ request: PushRequest, _ fate: Fate) {
        if fate == .lose {
            answers.append(PushAnswer(tag: request.tag, outcome: .unknown))
            return
        }
        if case .unregister(let at) = fate {
            answers.append(
                PushAnswer(
                    tag: request.tag,
                    outcome: .answered(
                        status: 410, reason: Array("Unregistered".utf8), retryAfterSeconds: nil,
                        timestampMillis: at.millis)))
            return
        }
        let (reply, push) = service.receive(simulated(request), now: now())
        if let push {
            accepted.append(push)
            undelivered.append(push)
        }
        guard fate == .accept, case .answer(let reason, _, let timestamp, let retryAfter, _) = reply else {
            answers.append(PushAnswer(tag: request.tag, outcome: .unknown))
            return
        }
        if let reason { refused.append(reason.name) }
        answers.append(
            PushAnswer(
                tag: request.tag,
                outcome: .answered(
                    status: reason?.status ?? 200, reason: reason?.name.raw ?? [], retryAfterSeconds: retryAfter,
                    timestampMillis: timestamp)))
    }

    /// The header fields as the client writes them.
    private func simulated(_ request: PushRequest) -> SimulatedRequest {
        var headers: [SimulatedRequest.Header] = [
            .init(":method", "POST"), .init(":path", Bytes(Array("/3/device/".utf8) + request.token)),
            .init("apns-topic", Bytes(request.topic)),
            .init("apns-push-type", request.kind == .alert ? "alert" : "background"),
            .init("apns-priority", Bytes("\(request.priority)")), .init("apns-id", Bytes(request.apnsID)),
        ]
        if let expiration = request.expiration { headers.append(.init("apns-expiration", Bytes("\(expiration)"))) }
        if let collapseID = request.collapseID { headers.append(.init("apns-collapse-id", Bytes(collapseID))) }
        return SimulatedRequest(headers: headers, body: request.payload, payload: reader.read(request.payload))
    }
}
