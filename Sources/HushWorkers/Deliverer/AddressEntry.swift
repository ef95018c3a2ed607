import HushCore

/// An address in memory: its state, and what of it belongs to the transaction under way.
final class AddressEntry {
    let address: Address
    let stateKey: [UInt8]
    var state: AddressState
    /// The soft state at the beginning of the transaction; nil where the transaction has not touched the address.
    var before: AddressSoftState?
    var isRowChanged = false
    /// The row is not what is committed, and is to be read again.
    var isStale = false
    /// What leaves once the transaction is committed.
    var planned: OutgoingPush?
    /// The tag of the push under way; 0 for none.
    var tag: UInt64 = 0
    /// When a timer is set for; later timers of it are void.
    var wakeAt = Timestamp.distantFuture
    /// The ops counted as parked by a breaker.
    var parkedOps = 0

    init(_ address: Address, _ row: AddressRow) {
        self.address = address
        stateKey = AddressRows.key(address)
        state = AddressState(row: row)
    }

    /// Whether it can be read again from the store.
    func isIdle(_ now: Timestamp) -> Bool {
        before == nil && !isStale && tag == 0 && parkedOps == 0 && state.soft.isIdle(now)
    }
}

/// Times at which addresses want to be looked at, earliest first: a binary heap.
struct AddressTimers {
    struct Element {
        var at: Timestamp
        var address: Address
    }

    private var heap: [Element] = []

    var first: Timestamp? { heap.first?.at }
    var count: Int { heap.count }

    mutating func add(_ at: Timestamp, _ address: Address) {
        heap.append(Element(at: at, address: address))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            if heap[parent].at <= heap[child].at { break }
            heap.swapAt(parent, child)
            child = parent
        }
    }

    /// Takes the earliest where its time has come.
    mutating func take(_ now: Timestamp) -> Element? {
        guard let first = heap.first, first.at <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var child = 2 * parent + 1
            if child >= heap.count { break }
            if child + 1 < heap.count, heap[child + 1].at < heap[child].at { child += 1 }
            if heap[parent].at <= heap[child].at { break }
            heap.swapAt(parent, child)
            parent = child
        }
        return first
    }

    mutating func removeAll() {
        heap.removeAll()
    }
}
