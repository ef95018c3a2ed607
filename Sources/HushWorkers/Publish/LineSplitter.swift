/// Cuts a stream of bytes into lines, and bounds what it holds.
public struct LineSplitter: Sendable {
    public enum Line: Hashable, Sendable {
        case line([UInt8])
        /// A line longer than the limit; its bytes are gone.
        case tooLong
    }

    private let bytesMax: Int
    private var pending: [UInt8] = []
    private var isTooLong = false
    /// The number of the line handed out last, from 1.
    public private(set) var number = 0

    public init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    /// Takes the next bytes, and hands out the lines that end in them, without their ends (`\n` or `\r\n`).
    public mutating func take(_ bytes: UnsafeRawBufferPointer, _ body: (Line, Int) -> Void) {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            append(rest[..<end])
            emit(body)
            rest = rest[(end + 1)...]
        }
        append(rest)
    }

    /// Hands out a last line without an end.
    public mutating func finish(_ body: (Line, Int) -> Void) {
        if !pending.isEmpty || isTooLong { emit(body) }
    }

    private mutating func append(_ bytes: Slice<UnsafeRawBufferPointer>) {
        guard !isTooLong, pending.count + bytes.count <= bytesMax + 1 else {
            isTooLong = isTooLong || !bytes.isEmpty
            pending.removeAll(keepingCapacity: true)
            return
        }
        pending.append(contentsOf: bytes)
    }

    private mutating func emit(_ body: (Line, Int) -> Void) {
        number += 1
        if pending.last == UInt8(ascii: "\r") { pending.removeLast() }
        body(isTooLong || pending.count > bytesMax ? .tooLong : .line(pending), number)
        pending.removeAll(keepingCapacity: true)
        isTooLong = false
    }
}
