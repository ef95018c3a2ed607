/// Bytes on their way out: memory that grows to what is needed and is used again.
struct OutputBuffer: ~Copyable {
    private var memory: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init() {
        memory = .allocate(byteCount: 4096, alignment: 16)
    }

    deinit {
        memory.deallocate()
    }

    var isEmpty: Bool { count == 0 }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if memory.count - count < bytes.count { grow(toHold: count + bytes.count) }
        UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    /// Forgets the bytes and keeps the memory.
    mutating func removeAll() {
        count = 0
    }

    /// Lends the bytes from `start` on.
    func withBytes<R>(from start: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        body(UnsafeRawBufferPointer(rebasing: memory[start..<count]))
    }

    private mutating func grow(toHold byteCount: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(byteCount, 2 * memory.count), alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
        memory.deallocate()
        memory = larger
    }
}
