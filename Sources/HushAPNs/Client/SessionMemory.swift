import CNghttp2
import Glibc

/// The memory of one nghttp2 session: blocks of few sizes that are used again, without a lock. Of one thread.
///
/// nghttp2 takes five blocks a stream and frees them in bursts of a thousand streams, far more than malloc keeps at hand:
/// with malloc every tenth nanosecond of the client went there. It outlives its session; what it took, it keeps until then.
final class SessionMemory {
    /// Blocks are of 64, 128, … 2048 bytes with their head; what is larger is malloc's.
    private static let smallestShift = 6
    private static let classCount = 6
    private static let headByteCount = 16
    private static let slabByteCount = 32 * 1024

    private struct Head {
        /// The class of its size, or `classCount` for a block of malloc's.
        var sizeClass: Int
        /// How many bytes may be used.
        var byteCount: Int
    }

    /// By class, the first of the blocks that are free; each holds the address of the next.
    private let free = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: SessionMemory.classCount)
    private var slabs: [UnsafeMutableRawPointer] = []
    @exclusivity(unchecked) private var rest: UnsafeMutableRawPointer?
    @exclusivity(unchecked) private var restByteCount = 0

    init() {
        free.initialize(repeating: nil, count: Self.classCount)
    }

    deinit {
        for slab in slabs { Glibc.free(slab) }
        free.deallocate()
    }

    /// The functions that nghttp2 calls; their context is this object, unretained.
    var functions: nghttp2_mem {
        nghttp2_mem(
            mem_user_data: Unmanaged.passUnretained(self).toOpaque(),
            malloc: { size, context in SessionMemory.with(context) { $0.take(size) } },
            free: { block, context in
                if let block { SessionMemory.with(context) { $0.giveBack(block) } }
            },
            calloc: { count, size, context in
                let (total, isTooMuch) = count.multipliedReportingOverflow(by: size)
                guard !isTooMuch, let block = SessionMemory.with(context, { $0.take(total) }) else { return nil }
                memset(block, 0, total)
                return block
            },
            realloc: { block, size, context in SessionMemory.with(context) { $0.resize(block, size) } })
    }

    @inline(__always)
    private static func with<R>(_ context: UnsafeMutableRawPointer?, _ body: (SessionMemory) -> R) -> R {
        guard let context else { preconditionFailure("nghttp2 lost its context") }
        return Unmanaged<SessionMemory>.fromOpaque(context)._withUnsafeGuaranteedRef(body)
    }

    /// A block of at least `size` bytes, aligned to 16; nil where the system has none.
    func take(_ size: Int) -> UnsafeMutableRawPointer? {
        let total = size + Self.headByteCount
        let sizeClass = max(0, Int.bitWidth - (total - 1).leadingZeroBitCount - Self.smallestShift)
        guard sizeClass < Self.classCount else {
            return head(of: malloc(total), Head(sizeClass: Self.classCount, byteCount: size))
        }
        if let block = free[sizeClass] {
            free[sizeClass] = block.load(as: UnsafeMutableRawPointer?.self)
            return block
        }
        let byteCount = 1 << (sizeClass + Self.smallestShift)
        return head(of: cut(byteCount), Head(sizeClass: sizeClass, byteCount: byteCount - Self.headByteCount))
    }

    func giveBack(_ block: UnsafeMutableRawPointer) {
        let start = block - Self.headByteCount
        let sizeClass = start.load(as: Head.self).sizeClass
        if sizeClass == Self.classCount { return Glibc.free(start) }
        block.storeBytes(of: free[sizeClass], as: UnsafeMutableRawPointer?.self)
        free[sizeClass] = block
    }

    func resize(_ block: UnsafeMutableRawPointer?, _ size: Int) -> UnsafeMutableRawPointer? {
        guard let block else { return take(size) }
        let old = (block - Self.headByteCount).load(as: Head.self).byteCount
        if size <= old { return block }
        guard let larger = take(size) else { return nil }
        larger.copyMemory(from: block, byteCount: old)
        giveBack(block)
        return larger
    }

    private func head(of start: UnsafeMutableRawPointer?, _ head: Head) -> UnsafeMutableRawPointer? {
        guard let start else { return nil }
        start.storeBytes(of: head, as: Head.self)
        return start + Self.headByteCount
    }

    private func cut(_ byteCount: Int) -> UnsafeMutableRawPointer? {
        if restByteCount < byteCount {
            guard let slab = malloc(Self.slabByteCount) else { return nil }
            slabs.append(slab)
            rest = slab
            restByteCount = Self.slabByteCount
        }
        let start = rest
        rest = start.map { $0 + byteCount }
        restByteCount -= byteCount
        return start
    }
}
