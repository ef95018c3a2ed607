/// SplitMix64: the same numbers for the same seed everywhere.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}

/// Changes, removes, doubles or adds one byte, as a rule one that JSON's grammar cares about.
func mutate(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
    let telling = Array("{}[]\",:\\0123456789eE+-.tfnu \n\u{0}é".utf8)
    guard !bytes.isEmpty else { return bytes.append(telling.randomElement(using: &random)!) }
    let index = Int.random(in: 0..<bytes.count, using: &random)
    switch Int.random(in: 0..<5, using: &random) {
    case 0: bytes[index] = telling.randomElement(using: &random)!
    case 1: bytes.remove(at: index)
    case 2: bytes.insert(bytes[index], at: index)
    case 3: bytes.insert(telling.randomElement(using: &random)!, at: index)
    default: bytes[index] = UInt8.random(in: 0...255, using: &random)
    }
}
