/// A 64-bit fingerprint of contents, several times faster than FNV-1a: it takes eight bytes at a time into a product
/// whose halves it folds together. The same on every machine; no defence against who wants collisions.
struct Fingerprint {
    private(set) var value: UInt64 = 0x9e37_79b9_7f4a_7c15

    mutating func update(_ number: UInt64) {
        let product = (value ^ number).multipliedFullWidth(by: 0xa076_1d64_78bd_642f)
        value = (product.high ^ product.low) &+ 0x2d35_8dcc_aa6c_78a5
    }

    /// Mixes in the length as well, so that two pieces never pass for two others.
    mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            var index = 0
            while index + 8 <= bytes.count {
                update(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)))
                index += 8
            }
            var rest: UInt64 = 0
            while index < bytes.count {
                rest = rest << 8 | UInt64(bytes[index])
                index += 1
            }
            update(rest)
            update(UInt64(bytes.count))
        }
    }
}
