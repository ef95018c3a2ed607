import HushAPNs
import Synchronization

/// What a client reported.
final class EventLog: Sendable {
    private let events = Mutex<[APNsEvent]>([])

    @Sendable func add(_ event: APNsEvent) {
        events.withLock { $0.append(event) }
    }

    func details(_ kind: APNsEvent.Kind) -> [String] {
        events.withLock { $0.filter { $0.kind == kind }.map(\.detail) }
    }
}
