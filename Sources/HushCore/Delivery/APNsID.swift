/// The `apns-id` of a push: a version 8 UUID (RFC 9562) that spells the first op in it and the attempt, so that APNs'
/// answers, its delivery logs and our ledger can be joined by eye.
///
/// Sixteen bits of partition and thirty-two of the offset's head, twelve and sixteen of its tail, then sixteen bits each
/// of index and attempt. Larger numbers wrap; no decision rests on this id.
public enum APNsID {
    /// 36 lower-case characters.
    public static func text(_ op: OpID, attempt: Int32) -> [UInt8] {
        let offset = UInt64(bitPattern: op.offset)
        let high =
            UInt64(UInt16(truncatingIfNeeded: op.partition)) << 48 | (offset >> 28 & 0xffff_ffff) << 16
            | 0x8000 | (offset >> 16 & 0xfff)
        let low =
            0x8000_0000_0000_0000 | (offset & 0xffff) << 32 | UInt64(UInt16(truncatingIfNeeded: op.index)) << 16
            | UInt64(UInt16(truncatingIfNeeded: attempt))
        let digits = Hex.encode(high) + Hex.encode(low)
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, digit) in digits.enumerated() {
            if index == 8 || index == 12 || index == 16 || index == 20 { text.append(UInt8(ascii: "-")) }
            text.append(digit)
        }
        return text
    }
}
