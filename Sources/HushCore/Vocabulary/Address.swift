/// APNs' two worlds; a token belongs to one of them.
public enum PushEnvironment: UInt8, Hashable, Sendable, CaseIterable {
    case production
    case sandbox

    public var name: Bytes { self == .production ? "production" : "sandbox" }
}

/// How an app reads its pushes; see the table in docs/concepts.
public enum Dialect: UInt8, Hashable, Sendable, CaseIterable {
    case hush
    case crt
    case pushwoosh
    case airship

    public var name: Bytes {
        switch self {
        case .hush: "hush"
        case .crt: "crt"
        case .pushwoosh: "pushwoosh"
        case .airship: "airship"
        }
    }
}

/// Where a device is reached: the key of `hush.pushes` and the deliverer's unit of order.
///
/// 32 lower-case hex digits: the first 128 bits of SHA-256 over app topic, environment and lower-cased token, joined by
/// a zero byte, so that two device ids with one token meet in one place.
public struct Address: Hashable, Comparable, Sendable {
    public var key: Bytes

    /// Takes a key as it stands in a record; the caller has checked it.
    @inlinable
    public init(key: Bytes) {
        self.key = key
    }

    /// Hashes where a device is reached; the token in lower-case hex, as `Registration.token` is.
    public init(app: Bytes, environment: PushEnvironment, token: Bytes) {
        var digest = SHA256()
        digest.update(app.raw)
        digest.update([0])
        digest.update(environment.name.raw)
        digest.update([0])
        digest.update(token.raw)
        key = Bytes(Hex.encode(digest.finish().prefix(16)))
    }

    @inlinable
    public static func < (left: Address, right: Address) -> Bool { left.key < right.key }
}
