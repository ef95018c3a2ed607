/// One bit for each op of `hush.pushes`, by partition, index in its record, and offset; in pages of 65,536 offsets.
struct OffsetBits: ~Copyable {
    private typealias Page = UnsafeMutablePointer<UInt64>

    private static let pageBits = 16
    private static let pageWords = (1 << pageBits) / 64

    private var pages: [UInt64: Page] = [:]
    // Records come in order, so that one page serves many of them.
    private var lastKey = UInt64.max
    private var lastPage: Page?

    deinit {
        for page in pages.values { page.deallocate() }
    }

    private static func key(_ partition: Int32, _ offset: Int64, _ index: Int32) -> UInt64 {
        UInt64(truncatingIfNeeded: partition) << 48 | UInt64(truncatingIfNeeded: index & 0xFFFF) << 32
            | UInt64(truncatingIfNeeded: offset >> Int64(pageBits)) & 0xFFFF_FFFF
    }

    /// Sets a bit; false where it was set already.
    mutating func insert(_ partition: Int32, _ offset: Int64, _ index: Int32) -> Bool {
        let key = Self.key(partition, offset, index)
        let page: Page
        if key == lastKey, let lastPage {
            page = lastPage
        } else if let known = pages[key] {
            page = known
        } else {
            page = .allocate(capacity: Self.pageWords)
            page.initialize(repeating: 0, count: Self.pageWords)
            pages[key] = page
        }
        (lastKey, lastPage) = (key, page)
        let bit = Int(offset & Int64(1 << Self.pageBits - 1))
        let mask = UInt64(1) << UInt64(bit & 63)
        let isNew = page[bit >> 6] & mask == 0
        page[bit >> 6] |= mask
        return isNew
    }

    func contains(_ partition: Int32, _ offset: Int64, _ index: Int32) -> Bool {
        guard let page = pages[Self.key(partition, offset, index)] else { return false }
        let bit = Int(offset & Int64(1 << Self.pageBits - 1))
        return page[bit >> 6] & (UInt64(1) << UInt64(bit & 63)) != 0
    }

    /// Shows every bit that is set, page by page in the order of partition, index and offset.
    func forEach(_ body: (_ partition: Int32, _ offset: Int64, _ index: Int32) -> Void) {
        for (key, page) in pages.sorted(by: { $0.key < $1.key }) {
            let partition = Int32(truncatingIfNeeded: key >> 48)
            let index = Int32(truncatingIfNeeded: key >> 32 & 0xFFFF)
            let first = Int64(key & 0xFFFF_FFFF) << Int64(Self.pageBits)
            for word in 0..<Self.pageWords {
                var rest = page[word]
                while rest != 0 {
                    body(partition, first + Int64(word * 64 + rest.trailingZeroBitCount), index)
                    rest &= rest - 1
                }
            }
        }
    }
}
