package import HushAPNs
public import HushCore
import Synchronization

/// Judges the provider tokens of one team, and remembers the good ones, so that a signature is checked once.
public final class ProviderTokens: Sendable {
    /// A provider uses one token at a time, so few are remembered.
    private static let rememberedMax = 16

    private let verifier: ProviderTokenVerifier
    private let teamID: [UInt8]
    /// When each good token was issued, in seconds.
    private let remembered = Mutex<[Bytes: Int64]>([:])

    /// Takes the keys that may sign and whose they are.
    package init(verifier: ProviderTokenVerifier, teamID: String) {
        self.verifier = verifier
        self.teamID = Array(teamID.utf8)
    }

    /// The name of the reason for which a value of `authorization` is refused; nil where it is good.
    public func check(_ authorization: Bytes?, now: Timestamp) -> Bytes? {
        if let authorization, let issued = remembered.withLock({ $0[authorization] }) {
            return now.seconds - issued > ProviderTokenVerifier.ageMaxSeconds ? "ExpiredProviderToken" : nil
        }
        switch verifier.verify(authorization?.raw, atSeconds: now.seconds) {
        case .missing: return "MissingProviderToken"
        case .invalid: return "InvalidProviderToken"
        case .expired: return "ExpiredProviderToken"
        case .valid(_, let team, let issued):
            guard team == teamID, let authorization else { return "InvalidProviderToken" }
            remembered.withLock { remembered in
                if remembered.count >= Self.rememberedMax { remembered.removeAll() }
                remembered[authorization] = issued
            }
            return nil
        }
    }
}
