import HushBase
import Synchronization

/// The provider token of one credential: made once, shared by all connections of all threads.
final class ProviderToken: Sendable {
    /// A token as it goes into `authorization`. Versions only grow.
    struct Current: Sendable {
        var version: UInt32
        /// Counts the keys: a connection stays with the key of its first token.
        var keyVersion: UInt32 = 1
        /// `bearer ` and the token.
        var authorization: [UInt8]
    }

    private struct State {
        var schedule = TokenSchedule()
        var current: Current
        var key: SigningKey
        var keyID: String
    }

    private let teamID: String
    private let state: Mutex<State>

    /// Makes the first token, which shows that the key can sign.
    init(key: SigningKey, keyID: String, teamID: String, atSeconds now: Int64) throws(APNsConfigurationFault) {
        self.teamID = teamID
        var schedule = TokenSchedule()
        let issued = schedule.due(at: now) ?? now
        let token = try Self.make(key: key, keyID: keyID, teamID: teamID, issuedAt: issued)
        state = Mutex(
            State(schedule: schedule, current: Current(version: 1, authorization: token), key: key, keyID: keyID))
    }

    /// Signs with another key from now on; the first token shows that it can.
    func replace(key: SigningKey, keyID: String, atSeconds now: Int64) throws(APNsConfigurationFault) {
        var schedule = TokenSchedule()
        let issued = schedule.due(at: now) ?? now
        let token = try Self.make(key: key, keyID: keyID, teamID: teamID, issuedAt: issued)
        state.withLock { state in
            let (version, keyVersion) = (state.current.version + 1, state.current.keyVersion + 1)
            let current = Current(version: version, keyVersion: keyVersion, authorization: token)
            state = State(schedule: schedule, current: current, key: key, keyID: keyID)
        }
    }

    /// The token to use now; a new one when the old one's time is over.
    func current(atSeconds now: Int64) -> Current {
        state.withLock { state in
            if let issued = state.schedule.due(at: now) { renew(&state, issued) }
            return state.current
        }
    }

    /// APNs called the token of this version expired: the one to send the request again with, or nil where it is of no use.
    func expired(version: UInt32, atSeconds now: Int64) -> Current? {
        state.withLock { state in
            // Of the many answers to one old token the first renews it.
            if state.current.version == version {
                guard let issued = state.schedule.expired(at: now) else { return nil }
                renew(&state, issued)
                if state.current.version == version { return nil }
            }
            return state.current
        }
    }

    func tooMany(atSeconds now: Int64) {
        state.withLock { $0.schedule.tooMany(at: now) }
    }

    /// A key that signed once signs again; should OpenSSL fail all the same, the old token goes on until APNs refuses it.
    private func renew(_ state: inout State, _ issued: Int64) {
        guard let token = try? Self.make(key: state.key, keyID: state.keyID, teamID: teamID, issuedAt: issued) else {
            return
        }
        state.current.version += 1
        state.current.authorization = token
    }

    /// `bearer ` and a JSON Web Token (RFC 7519) as Apple's "Establishing a token-based connection to APNs" asks for.
    static func make(
        key: SigningKey, keyID: String, teamID: String, issuedAt: Int64
    ) throws(APNsConfigurationFault) -> [UInt8] {
        let header = "{\"alg\":\"ES256\",\"kid\":\"\(keyID)\"}"
        let claims = "{\"iss\":\"\(teamID)\",\"iat\":\(issuedAt)}"
        let signed = Base64URL.encode(Array(header.utf8)) + [UInt8(ascii: ".")] + Base64URL.encode(Array(claims.utf8))
        let signature = try key.sign(signed)
        return Array("bearer ".utf8) + signed + [UInt8(ascii: ".")] + Base64URL.encode(signature)
    }
}
