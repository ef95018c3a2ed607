/// 64-bit FNV-1a: small and the same everywhere; no defence against who wants collisions.
public struct FNV1a: Sendable {
    public private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    public init() {}

    @inlinable
    public static func hash(_ bytes: [UInt8]) -> UInt64 {
        var hash = FNV1a()
        hash.update(bytes)
        return hash.value
    }

    public mutating func update(_ bytes: [UInt8]) {
        var value = value
        for byte in bytes {
            value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        self.value = value
    }

    /// Mixes in a number as its eight bytes, lowest first.
    public mutating func update(_ number: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            value = (value ^ (number >> shift & 0xff)) &* 0x0000_0100_0000_01b3
        }
    }
}
