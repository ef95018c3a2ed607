import HushCore

/// What is to happen at which time: a binary heap; equal times keep their order.
struct EventQueue<Event> {
    /// Small, for the heap moves it about; the event stays in its slot.
    private struct Entry {
        var at: Int64
        var number: Int
        var slot: Int

        func isBefore(_ other: Entry) -> Bool { (at, number) < (other.at, other.number) }
    }

    private var heap: [Entry] = []
    private var slots: [Event?] = []
    private var free: [Int] = []
    private(set) var added = 0

    var isEmpty: Bool { heap.isEmpty }
    var nextAt: Timestamp? { heap.first.map { Timestamp(millis: $0.at) } }

    mutating func add(_ event: Event, at: Timestamp) {
        let slot = free.popLast() ?? slots.count
        if slot == slots.count { slots.append(event) } else { slots[slot] = event }
        heap.append(Entry(at: at.millis, number: added, slot: slot))
        added += 1
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            if !heap[child].isBefore(heap[parent]) { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func take() -> (at: Timestamp, event: Event)? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        free.append(first.slot)
        guard let event = slots[first.slot].take() else { return nil }
        return (Timestamp(millis: first.at), event)
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].isBefore(heap[least]) { least = child }
            }
            if least == parent { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
