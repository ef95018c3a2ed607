import HushCore

/// The ids of all marks of a recipient, by their hashes: an id that is not here has no mark, and need not be looked for.
///
/// Two ids may have one hash, and a mark may have been dropped since: what is here may still have no mark.
struct KnownIDs {
    /// Of a recipient with more marks it is not known which ids it lacks.
    static let countMax = 256

    /// Open addressing; 0 is free. A power of two, at most half full.
    private var slots: [Int] = Array(repeating: 0, count: 16)
    private var count = 0

    var footprint: Int { Footprint.array(of: Int.self, slots.count) }

    func contains(_ id: Bytes) -> Bool {
        let hash = id.raw.withUnsafeBytes(Self.hash)
        return slots[slot(of: hash)] == hash
    }

    mutating func insert(_ id: Bytes) -> Bool {
        id.raw.withUnsafeBytes { insert($0) }
    }

    /// False where it is full; an id is then missing.
    mutating func insert(_ id: UnsafeRawBufferPointer) -> Bool {
        let hash = Self.hash(id)
        let slot = slot(of: hash)
        if slots[slot] == hash { return true }
        guard count < Self.countMax else { return false }
        slots[slot] = hash
        count += 1
        if count * 2 > slots.count { grow() }
        return true
    }

    /// Where a hash is, or the free place for it.
    private func slot(of hash: Int) -> Int {
        let mask = slots.count - 1
        var slot = hash & mask
        while slots[slot] != 0, slots[slot] != hash { slot = (slot + 1) & mask }
        return slot
    }

    private mutating func grow() {
        let hashes = slots
        slots = Array(repeating: 0, count: hashes.count * 2)
        for hash in hashes where hash != 0 { slots[slot(of: hash)] = hash }
    }

    /// Seeded anew in every process, so that nobody can aim ids at one place; never 0.
    private static func hash(_ id: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: id)
        let hash = hasher.finalize()
        return hash == 0 ? 1 : hash
    }
}
