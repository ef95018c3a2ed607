/// The name of a notification in a phone's notification centre, and its `apns-collapse-id`: the same on every path and
/// at every repeat, so that a later one replaces the earlier.
public enum StableIdentifier {
    /// APNs' limit on `apns-collapse-id`, in bytes.
    public static let bytesMax = 64

    /// `hush.` and the id where that fits, else `hush#` and the SHA-256 of the id in base64url without padding.
    public static func of(_ id: Bytes) -> Bytes {
        let plain = Array("hush.".utf8) + id.raw
        if plain.count <= bytesMax { return Bytes(plain) }
        return Bytes(Array("hush#".utf8) + base64URL(SHA256.digest(id.raw)))
    }

    /// Whether an identifier has the form of ours.
    public static func isOurs(_ identifier: Bytes) -> Bool {
        identifier.raw.starts(with: "hush.".utf8) || identifier.raw.starts(with: "hush#".utf8)
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static func base64URL(_ data: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        for start in stride(from: 0, to: data.count, by: 3) {
            let group = data[start..<min(start + 3, data.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for sextet in 0...group.count {
                text.append(alphabet[Int(bits >> UInt32(18 - 6 * sextet) & 63)])
            }
        }
        return text
    }
}

/// The owner tag of a payload: it tells an app whose push this is, against mistakes; it is no secret.
public enum OwnerTag {
    /// 64-bit FNV-1a of the recipient's bytes, as 16 lower-case hex digits.
    public static func of(_ recipient: Bytes) -> Bytes {
        Bytes(Hex.encode(FNV1a.hash(recipient.raw)))
    }
}
