/// The hash by which Kafka's Java client chooses a record's partition.
///
/// Bit for bit that of `org.apache.kafka.common.utils.Utils.murmur2`, for every producer of a topic must agree on where a
/// key lives.
public enum Murmur2 {
    public static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        let m: UInt32 = 0x5bd1_e995
        let length = bytes.count
        var h: UInt32 = 0x9747_b28c ^ UInt32(truncatingIfNeeded: length)
        var index = 0
        while index + 4 <= length {
            var k = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self))
            k &*= m
            k ^= k >> 24
            k &*= m
            h &*= m
            h ^= k
            index += 4
        }
        let rest = length - index
        if rest > 2 { h ^= UInt32(bytes[index + 2]) << 16 }
        if rest > 1 { h ^= UInt32(bytes[index + 1]) << 8 }
        if rest > 0 {
            h ^= UInt32(bytes[index])
            h &*= m
        }
        h ^= h >> 13
        h &*= m
        h ^= h >> 15
        return h
    }

    /// The partition of a key, as Java's `toPositive(murmur2(key)) % count`.
    public static func partition(of key: UnsafeRawBufferPointer, count: Int32) -> Int32 {
        precondition(count > 0, "a topic has at least one partition")
        return Int32(hash(key) & 0x7fff_ffff) % count
    }

    public static func partition(of key: [UInt8], count: Int32) -> Int32 {
        key.withUnsafeBytes { partition(of: $0, count: count) }
    }
}
