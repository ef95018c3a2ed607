import HushAPNs
public import HushCore

/// Makes pseudonyms of recipients' and devices' names: `hmac:` and the first 16 bytes of the name's HMAC-SHA-256, in
/// base64url. Of one thread at a time.
///
/// What a line repeats, and the next line of the same recipient, is made once.
public final class Pseudonyms {
    /// What each begins with.
    static let prefix = Array("hmac:".utf8)
    /// Bytes of the code that a pseudonym has: 2^64 names would be needed for two to meet.
    static let codeBytes = 16
    /// Of a pseudonym as text: 16 bytes are 22 digits.
    static let textBytes = 27

    /// Of the key.
    public let mark: Bytes
    private let authenticator: SHA256Authenticator
    private var recipient: (name: Bytes, text: Bytes) = (Bytes([]), Bytes([]))
    private var device: (name: Bytes, text: Bytes) = (Bytes([]), Bytes([]))

    public init(_ key: PseudonymKey) {
        mark = key.mark
        authenticator = SHA256Authenticator(key: key.bytes)
    }

    /// Of any name.
    public func pseudonym(of name: Bytes) -> Bytes {
        Bytes(Self.prefix + Base64URL.encode([UInt8](authenticator.code(of: name.raw).prefix(Self.codeBytes))))
    }

    /// The same, for recipients; the last one's is kept. Nobody stays nobody.
    func ofRecipient(_ name: Bytes) -> Bytes {
        if name.isEmpty { return name }
        if recipient.name != name { recipient = (name, pseudonym(of: name)) }
        return recipient.text
    }

    /// The same, for devices.
    func ofDevice(_ name: Bytes) -> Bytes {
        if device.name.isEmpty || device.name != name { device = (name, pseudonym(of: name)) }
        return device.text
    }

    /// Whether a text has the form of a pseudonym, of whatever key.
    public static func isOne(_ text: UnsafeRawBufferPointer) -> Bool {
        text.count == textBytes
            && prefix.withUnsafeBytes { $0.isEqual(to: UnsafeRawBufferPointer(rebasing: text[..<5])) }
    }
}
