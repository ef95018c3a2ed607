package import HushAPNs
public import HushCore
import HushKit
import Synchronization

/// Checks provider tokens: JSON Web Tokens signed with ES256, as in Apple's "Establishing a token-based connection to
/// APNs".
public final class ProviderTokenVerifier: Sendable {
    /// Good tokens that are remembered, so that the signature is checked once; a provider uses one at a time.
    private static let rememberedMax = 16

    private let key: SigningKey
    private let keyID: Bytes
    private let teamID: Bytes
    /// When each was issued.
    private let remembered = Mutex<[Bytes: Timestamp]>([:])

    /// Takes the one key that may sign, by its id, for one team.
    package init(key: SigningKey, keyID: Bytes, teamID: Bytes) {
        self.key = key
        self.keyID = keyID
        self.teamID = teamID
    }

    /// The name of the reason for which a value of `authorization` is refused; nil where it is good.
    public func check(_ authorization: Bytes?, now: Timestamp) -> Bytes? {
        guard let authorization, authorization.raw.starts(with: "bearer ".utf8) else { return "MissingProviderToken" }
        let known = remembered.withLock { $0[authorization] }
        guard let issued = known ?? issueTime(authorization) else { return "InvalidProviderToken" }
        if known == nil {
            remembered.withLock { remembered in
                if remembered.count >= Self.rememberedMax { remembered.removeAll() }
                remembered[authorization] = issued
            }
        }
        if issued > now + APNsRules.providerTokenSkewMax { return "InvalidProviderToken" }
        return issued + APNsRules.providerTokenAgeMax < now ? "ExpiredProviderToken" : nil
    }

    /// The `iat` of a token that is well formed and signed by the key; nil of any other.
    private func issueTime(_ authorization: Bytes) -> Timestamp? {
        let token = authorization.raw.dropFirst("bearer ".utf8.count)
        let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64URL.decode(parts[2]), header["alg"] == "ES256", header["kid"] == .string(keyID),
            claims["iss"] == .string(teamID), let issuedSeconds = claims["iat"]?.integer
        else { return nil }
        let signed = Array(token.prefix(parts[0].count + 1 + parts[1].count))
        return key.verify(signature, of: signed) ? Timestamp(seconds: issuedSeconds) : nil
    }

    private static func object(_ part: ArraySlice<UInt8>) -> PayloadValue? {
        Base64URL.decode(part).flatMap { PayloadReader().read($0) }
    }
}
