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
    /// What the task has counted of its memory.
    var counted = 0

    init(_ address: Address, _ row: AddressRow) {
        self.address = address
        stateKey = AddressRows.key(address)
        state = AddressState(row: row)
    }

    /// Its memory, and that of its places in the task.
    var footprint: Int {
        Self.base + Footprint.array(stateKey.count) + address.key.footprint + state.footprint
    }

    private static let base =
        Footprint.dictionaryEntry
        + Footprint.object(
            MemoryLayout<AddressState>.stride + MemoryLayout<AddressSoftState?>.stride
                + MemoryLayout<OutgoingPush?>.stride + 64)

    /// Whether it can be read again from the store.
    func isIdle(_ now: Timestamp) -> Bool {
        before == nil && !isStale && tag == 0 && parkedOps == 0 && state.soft.isIdle(now)
    }
}
