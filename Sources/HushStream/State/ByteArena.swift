/// Room for bytes that are all forgotten at once: what is copied in stays where it is until `clear`.
struct ByteArena: ~Copyable {
    private static let chunkBytes = 256 << 10
    private var chunks: [UnsafeMutableRawBufferPointer] = []
    private var chunk = 0
    private var used = 0
    /// Bytes copied in since `clear`.
    private(set) var bytes = 0

    deinit {
        for chunk in chunks { chunk.deallocate() }
    }

    mutating func copy(_ source: UnsafeRawBufferPointer) -> UnsafeRawPointer {
        let target = reserve(source.count)
        if let base = source.baseAddress { target.copyMemory(from: base, byteCount: source.count) }
        return UnsafeRawPointer(target)
    }

    private mutating func reserve(_ count: Int) -> UnsafeMutableRawPointer {
        bytes += count
        while chunk < chunks.count {
            if used + count <= chunks[chunk].count, let base = chunks[chunk].baseAddress {
                defer { used += count }
                return base + used
            }
            chunk += 1
            used = 0
        }
        let fresh = UnsafeMutableRawBufferPointer.allocate(byteCount: max(Self.chunkBytes, count), alignment: 16)
        chunks.append(fresh)
        chunk = chunks.count - 1
        used = count
        return fresh.baseAddress.unsafelyUnwrapped
    }

    /// Forgets everything; keeps up to `retained` bytes of room.
    mutating func clear(retained: Int = 4 << 20) {
        var room = 0
        chunks.removeAll { chunk in
            room += chunk.count
            if room <= retained { return false }
            chunk.deallocate()
            return true
        }
        chunk = 0
        used = 0
        bytes = 0
    }
}
