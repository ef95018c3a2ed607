import HushCore

/// Times at which addresses want to be looked at, earliest first: a binary heap.
struct AddressTimers {
    /// As small as can be, for a large audience leaves a time for each of its addresses.
    struct Element {
        var at: Timestamp
        private let high: UInt64
        private let low: UInt64

        /// The address is one of a record's key: 32 lower-case hex digits.
        init(at: Timestamp, _ address: Address) {
            self.at = at
            high = Self.number(address.key.raw.prefix(16))
            low = Self.number(address.key.raw.dropFirst(16))
        }

        var address: Address { Address(key: Bytes(Hex.encode(high) + Hex.encode(low))) }

        /// The digit a stands for ten.
        private static let tenLess = UInt8(ascii: "a") - 10

        private static func number(_ digits: ArraySlice<UInt8>) -> UInt64 {
            digits.reduce(0) { number, digit in
                number << 4 | UInt64(digit <= UInt8(ascii: "9") ? digit - UInt8(ascii: "0") : digit - Self.tenLess)
            }
        }
    }

    private var heap: [Element] = []

    var first: Timestamp? { heap.first?.at }
    var count: Int { heap.count }

    mutating func add(_ at: Timestamp, _ address: Address) {
        // An array doubles; this one is the largest that a task has.
        if heap.count == heap.capacity { heap.reserveCapacity(heap.count + max(heap.count / 4, 1024)) }
        heap.append(Element(at: at, address))
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
