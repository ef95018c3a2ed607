import HushAPNs
public import HushBase
public import HushCore

/// The key under which recipients and devices stand in the ledger as pseudonyms. It is never written or shown.
public struct PseudonymKey: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// As many bytes as the code has; a file must hold no more than `bytesMax`, or it is not what was meant.
    public static let bytesMin = 32
    static let bytesMax = 4096

    let bytes: [UInt8]
    /// Tells keys apart in order lines: half of the code of no bytes at all, in hex.
    public let mark: Bytes

    /// - Throws: `BadValue` where there are too few bytes, or too many.
    public init(_ bytes: [UInt8]) throws(BadValue) {
        guard bytes.count >= Self.bytesMin else {
            throw BadValue(
                "has \(bytes.count) bytes, and a key must have \(Self.bytesMin) at least: openssl rand -hex 32 makes one"
            )
        }
        guard bytes.count <= Self.bytesMax else {
            throw BadValue("has \(bytes.count) bytes: a key has \(Self.bytesMax) at most")
        }
        self.bytes = bytes
        mark = Bytes(Hex.encode(SHA256Authenticator(key: bytes).code(of: []).prefix(8)))
    }

    /// The key as it is set; nil where names stand in clear.
    /// - Throws: `SettingsFault` where the file cannot be read, or holds no key.
    public init?(_ settings: Settings) throws(SettingsFault) {
        let path = settings[HushSettings.pseudonymKeyFile]
        if path.isEmpty { return nil }
        let key = HushSettings.pseudonymKeyFile.definition.key
        let bytes: [UInt8]
        do throws(SystemFault) {
            bytes = try SmallFile.read(path)
        } catch {
            throw SettingsFault(["\(key): \(path) cannot be read: \(error)"])
        }
        do throws(BadValue) {
            try self.init(bytes)
        } catch {
            throw SettingsFault(["\(key): \(path) \(error)"])
        }
    }

    public var description: String { "pseudonym key \(mark)" }
    /// So that no dump shows the bytes.
    public var customMirror: Mirror { Mirror(self, children: ["mark": mark]) }
}
