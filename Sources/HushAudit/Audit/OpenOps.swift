/// The ops that were planned and have no final outcome yet, and outcomes that came before their plan line was read.
///
/// Ops are known by 128 bits of a keyed hash. An entry goes when both sides were seen, so the table is as large as what
/// is open at one time: 32 bytes an op at a load of 0.35 to 0.7. It is split into shards, which grow one by one.
struct OpenOps: ~Copyable {
    struct Key: Hashable {
        /// Of cause, notification and kind.
        var what: UInt64
        /// Of the device.
        var device: UInt64
    }

    struct Entry {
        var key: Key
        /// The ledger line: of the plan, or of an early outcome.
        var place: Place
        var cause: CauseWord
        /// The outcome came first.
        var isEarly: Bool
    }

    /// What became of an op that was told.
    enum Change {
        /// It waits for its other side.
        case added
        /// Its other side was there: it is through.
        case matched
        /// It stood there already.
        case repeated
    }

    private struct Slot {
        var what: UInt64
        var device: UInt64
        /// With the bit of `isEarly` on top; 0 in `what` and `device` where the slot is free.
        var place: UInt64
        var cause: UInt64

        static let free = Slot(what: 0, device: 0, place: 0, cause: 0)
        static let early: UInt64 = 1 << 63

        var isFree: Bool { what == 0 && device == 0 }
    }

    private struct Shard {
        var slots: UnsafeMutableBufferPointer<Slot>
        var count = 0

        init(capacity: Int) {
            slots = .allocate(capacity: capacity)
            slots.initialize(repeating: .free)
        }
    }

    private static let shardCount = 64
    private static let firstCapacity = 1024

    private var shards: [Shard]

    init() {
        shards = (0..<Self.shardCount).map { _ in Shard(capacity: Self.firstCapacity) }
    }

    deinit {
        for shard in shards { shard.slots.deallocate() }
    }

    /// Takes in that an op was planned, or (`isFinal`) has its outcome.
    mutating func take(_ key: Key, place: Place, cause: CauseWord, isFinal: Bool) -> Change {
        let key = key.what == 0 && key.device == 0 ? Key(what: 1, device: 0) : key
        let number = Int(key.what >> 58)
        let index = Self.find(key, in: shards[number].slots)
        if !shards[number].slots[index].isFree {
            let isEarly = shards[number].slots[index].place & Slot.early != 0
            guard isEarly != isFinal else { return .repeated }
            remove(at: index, from: number)
            return .matched
        }
        shards[number].slots[index] = Slot(
            what: key.what, device: key.device, place: place.raw | (isFinal ? Slot.early : 0), cause: cause.raw)
        shards[number].count += 1
        if shards[number].count * 10 > shards[number].slots.count * 7 { grow(number) }
        return .added
    }

    /// Shows every entry, in no order.
    func forEach(_ body: (Entry) -> Void) {
        for shard in shards {
            for slot in shard.slots where !slot.isFree {
                body(
                    Entry(
                        key: Key(what: slot.what, device: slot.device), place: Place(raw: slot.place),
                        cause: CauseWord(raw: slot.cause), isEarly: slot.place & Slot.early != 0))
            }
        }
    }

    /// The slot of a key, or the free one where it would stand. The shard is chosen by the highest bits, the slot by
    /// lower ones of both halves.
    private static func find(_ key: Key, in slots: UnsafeMutableBufferPointer<Slot>) -> Int {
        let mask = slots.count - 1
        var index = home(key.what, key.device, mask)
        while !slots[index].isFree, slots[index].what != key.what || slots[index].device != key.device {
            index = (index + 1) & mask
        }
        return index
    }

    private static func home(_ what: UInt64, _ device: UInt64, _ mask: Int) -> Int {
        Int(truncatingIfNeeded: what ^ device) & mask
    }

    /// Closes the gap behind a removed entry, so that no search ends too early.
    private mutating func remove(at start: Int, from number: Int) {
        let slots = shards[number].slots
        let mask = slots.count - 1
        var gap = start
        var next = (gap + 1) & mask
        while !slots[next].isFree {
            let home = Self.home(slots[next].what, slots[next].device, mask)
            if (next &- home) & mask >= (next &- gap) & mask {
                slots[gap] = slots[next]
                gap = next
            }
            next = (next + 1) & mask
        }
        slots[gap] = .free
        shards[number].count -= 1
    }

    private mutating func grow(_ number: Int) {
        let old = shards[number]
        var grown = Shard(capacity: old.slots.count * 2)
        grown.count = old.count
        for slot in old.slots where !slot.isFree {
            grown.slots[Self.find(Key(what: slot.what, device: slot.device), in: grown.slots)] = slot
        }
        old.slots.deallocate()
        shards[number] = grown
    }
}
