/// A fast hash of short text under a secret, drawn anew for each run: ids come from outside, and nobody can aim at it.
///
/// Folded multiplications as in wyhash (public domain); 64 bits each, so two differently seeded ones make a key.
struct KeyedHash {
    private let first: UInt64
    private let second: UInt64

    init(_ random: inout some RandomNumberGenerator) {
        first = random.next()
        second = random.next() | 1
    }

    @inline(__always)
    func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = (left ^ first).multipliedFullWidth(by: right ^ second)
        return product.high ^ product.low
    }

    func hash(_ text: UnsafeRawBufferPointer, _ seed: UInt64) -> UInt64 {
        var state = mix(seed, UInt64(truncatingIfNeeded: text.count) &+ 0x9E37_79B9_7F4A_7C15)
        var at = 0
        while at + 8 <= text.count {
            state = mix(state, text.loadUnaligned(fromByteOffset: at, as: UInt64.self))
            at += 8
        }
        if at < text.count {
            var rest: UInt64 = 0
            for byte in text[at...] { rest = rest << 8 | UInt64(byte) }
            state = mix(state, rest ^ 0xA076_1D64_78BD_642F)
        }
        return state
    }
}
