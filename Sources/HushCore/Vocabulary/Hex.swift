/// Lower-case hexadecimal.
public enum Hex {
    public static func encode(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digit(byte >> 4))
            text.append(digit(byte & 15))
        }
        return text
    }

    /// The 16 digits of a number, leading zeros kept.
    public static func encode(_ number: UInt64) -> [UInt8] {
        (0..<16).map { digit(UInt8(truncatingIfNeeded: number >> (60 - 4 * UInt64($0))) & 15) }
    }

    /// Whether every byte is a hex digit of either case.
    public static func isHex(_ text: [UInt8]) -> Bool {
        text.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
            default: false
            }
        }
    }

    /// The digit of a value below 16.
    public static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
