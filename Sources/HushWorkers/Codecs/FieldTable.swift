import HushCore

/// Finds which of a fixed set of names a piece of text is, without making a string of it.
///
/// - Complexity: one hash of length, first and last byte, and as a rule one comparison.
struct FieldTable<Field: CaseIterable & RawRepresentable> where Field.RawValue == String {
    private let fields: [Field]
    private let names: [[UInt8]]
    /// The index of a field, one up; 0 is a free slot.
    private var slots: [UInt8]

    init() {
        fields = Array(Field.allCases)
        names = fields.map { Array($0.rawValue.utf8) }
        slots = Array(repeating: 0, count: slotCount)
        precondition(fields.count < slotCount / 4, "a sparse table keeps its probes short")
        for (index, name) in names.enumerated() {
            var slot = name.withUnsafeBytes { firstSlot($0) }
            while slots[slot] != 0 { slot = (slot + 1) % slotCount }
            slots[slot] = UInt8(index + 1)
        }
    }

    func field(_ name: UnsafeRawBufferPointer) -> Field? {
        guard name.count > 0 else { return nil }
        var slot = firstSlot(name)
        while slots[slot] != 0 {
            let index = Int(slots[slot]) - 1
            if names[index].withUnsafeBytes({ $0.isEqual(to: name) }) { return fields[index] }
            slot = (slot + 1) % slotCount
        }
        return nil
    }
}

private let slotCount = 256

private func firstSlot(_ name: UnsafeRawBufferPointer) -> Int {
    (name.count &* 37 &+ Int(name[0]) &* 11 &+ Int(name[name.count - 1])) % slotCount
}
