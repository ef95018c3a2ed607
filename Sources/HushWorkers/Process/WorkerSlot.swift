import HushAPNs
import HushStream

/// A slot of either stage, with what must be closed behind it.
protocol WorkerSlot: Sendable {
    var status: SlotStatus { get }
    var inFlight: Int { get }
    func start() throws(StreamFault)
    func stop()
    /// Waits for the end, closes what the slot used, and tells why it ended; nil where it was asked to.
    func join() -> StreamFault?
}

struct PlannerSlot: WorkerSlot {
    let slot: StreamSlot<PlannerApplication>

    var status: SlotStatus { slot.status }
    var inFlight: Int { 0 }
    func start() throws(StreamFault) { try slot.start() }
    func stop() { slot.stop() }
    func join() -> StreamFault? { slot.join() }
}

struct DelivererSlot: WorkerSlot {
    let slot: StreamSlot<DelivererApplication>
    let client: APNsClient

    /// What an answer that is on its way when a slot ended may still take.
    static let closeLimit = Duration.seconds(1)

    var status: SlotStatus { slot.status }
    var inFlight: Int { client.inFlight }
    func start() throws(StreamFault) { try slot.start() }
    func stop() { slot.stop() }

    func join() -> StreamFault? {
        let fault = slot.join()
        client.close(deadline: Self.closeLimit)
        return fault
    }
}
