public import HushBase
import Synchronization

/// What the slots of a process say of their credentials: which are paused, and why. For probes and metrics.
public final class CredentialBoard: Sendable {
    /// A credential in an environment.
    public struct Place: Hashable, Sendable, CustomStringConvertible {
        public var credential: String
        public var environment: String

        public var description: String { "\(credential)/\(environment)" }
    }

    private struct Seat {
        var gauge: Gauge
        /// By slot.
        var reasons: [Int: String] = [:]
    }

    private let seats: Mutex<[Place: Seat]>
    private let slots = Atomic(0)

    public init(_ metrics: Metrics, routes: [DelivererConfiguration.Route]) {
        var seats: [Place: Seat] = [:]
        for route in routes where seats[route.place] == nil {
            let gauge = metrics.gauge(
                "hush_credential_paused", "Slots that pause the pushes of a credential.",
                [("credential", route.place.credential), ("environment", route.place.environment)])
            gauge.set(0)
            seats[route.place] = Seat(gauge: gauge)
        }
        self.seats = Mutex(seats)
    }

    /// A number for a slot that is about to tell.
    func join() -> Int { slots.add(1, ordering: .relaxed).newValue }

    /// A slot pauses a credential for a reason; nil: no more.
    func set(_ place: Place, slot: Int, _ reason: String?) {
        seats.withLock { seats in
            seats[place]?.reasons[slot] = reason
            guard let seat = seats[place] else { return }
            seat.gauge.set(seat.reasons.count)
        }
    }

    /// A slot is gone.
    func leave(slot: Int) {
        for place in seats.withLock({ Array($0.keys) }) { set(place, slot: slot, nil) }
    }

    /// The reason for which each credential is paused, nil where it is not; by name.
    public var standing: [(place: Place, reason: String?)] {
        seats.withLock { seats in
            seats.map { ($0.key, $0.value.reasons.values.min()) }.sorted { $0.0.description < $1.0.description }
        }
    }
}

extension DelivererConfiguration.Route {
    var place: CredentialBoard.Place {
        CredentialBoard.Place(credential: credential, environment: "\(environment)")
    }
}
