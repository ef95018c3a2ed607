private import Glibc

/// Keys as RocksDB compares them: byte by byte, a prefix before what it begins.
enum KeyOrder {
    static func isLess(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        let order = compare(left, right, min(left.count, right.count))
        return order != 0 ? order < 0 : left.count < right.count
    }

    static func isEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        left.count == right.count && compare(left, right, left.count) == 0
    }

    static func starts(_ key: UnsafeRawBufferPointer, with prefix: UnsafeRawBufferPointer) -> Bool {
        key.count >= prefix.count && compare(key, prefix, prefix.count) == 0
    }

    private static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, _ count: Int) -> Int32
    {
        guard count > 0, let a = left.baseAddress, let b = right.baseAddress else { return 0 }
        return memcmp(a, b, count)
    }
}
