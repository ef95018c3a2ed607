/// Checks provider tokens as APNs does: an ES256 JSON Web Token of a known key, not older than an hour.
package struct ProviderTokenVerifier: Sendable {
    package enum Verdict: Hashable, Sendable {
        case valid(keyID: [UInt8], teamID: [UInt8], issuedAtSeconds: Int64)
        /// No `authorization`, or it is no bearer token.
        case missing
        /// It is no token, of an unknown key, or its signature is wrong.
        case invalid
        /// Too old, or from the future by more than the skew.
        case expired
    }

    package static let ageMaxSeconds: Int64 = 3600
    package static let skewMaxSeconds: Int64 = 60

    private let keys: [(keyID: [UInt8], key: SigningKey)]

    /// The known keys by their ids, as `TestCertificates.tokenPublicKeyFile` holds one.
    package init(keys: [(keyID: [UInt8], key: SigningKey)]) {
        self.keys = keys
    }

    /// Judges the value of `authorization`, nil where there is none. Costs about 0.1 ms: remember the good ones.
    package func verify(_ authorization: [UInt8]?, atSeconds now: Int64) -> Verdict {
        let scheme = Array("bearer ".utf8)
        guard let authorization, authorization.count > scheme.count else { return .missing }
        // The scheme's name is case-insensitive (RFC 9110 §11.1).
        guard authorization.prefix(scheme.count).map({ $0 >= 0x41 && $0 <= 0x5a ? $0 | 0x20 : $0 }) == scheme else {
            return .missing
        }
        let parts = authorization.dropFirst(scheme.count).split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]), let claims = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else { return .invalid }
        let head = FlatObject(parsing: header)
        let body = FlatObject(parsing: claims)
        guard head.strings[Array("alg".utf8)] == Array("ES256".utf8), let keyID = head.strings[Array("kid".utf8)],
            let teamID = body.strings[Array("iss".utf8)], let issued = body.integers[Array("iat".utf8)],
            let key = keys.first(where: { $0.keyID == keyID })?.key
        else { return .invalid }
        let signed = Array(parts[0]) + [UInt8(ascii: ".")] + Array(parts[1])
        guard key.verify(signature, of: signed) else { return .invalid }
        if now - issued > Self.ageMaxSeconds || issued - now > Self.skewMaxSeconds { return .expired }
        return .valid(keyID: keyID, teamID: teamID, issuedAtSeconds: issued)
    }
}
