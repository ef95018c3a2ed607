import Foundation
import HushAPNs
import HushCore
import HushSimulator
import Testing

@Suite("Provider tokens at the simulated APNs")
struct ProviderTokenVerifierTests {
    private static let now = Timestamp(seconds: 1_764_583_200)

    private let key: SigningKey
    private let verifier: ProviderTokenVerifier

    init() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "hush-token-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let files = try TestCertificates.write(
            into: directory.path, validFromSeconds: Self.now.seconds, validUntilSeconds: Self.now.seconds + 86_400)
        key = try SigningKey(file: files.tokenKeyFile)
        let pem = try Data(contentsOf: URL(filePath: files.tokenPublicKeyFile))
        verifier = ProviderTokenVerifier(
            key: try #require(SigningKey.parse(pem: Array(pem))), keyID: "KEY1", teamID: "TEAM1")
    }

    private func token(
        header: String = #"{"alg":"ES256","kid":"KEY1"}"#, claims: String? = nil, tampered: Bool = false
    ) throws -> Bytes {
        let claims = claims ?? #"{"iss":"TEAM1","iat":\#(Self.now.seconds)}"#
        let dot = [UInt8(ascii: ".")]
        let signed = Base64URL.encode(Array(header.utf8)) + dot + Base64URL.encode(Array(claims.utf8))
        var signature = try key.sign(signed)
        if tampered { signature[5] ^= 1 }
        return Bytes(Array("bearer ".utf8) + signed + dot + Base64URL.encode(signature))
    }

    @Test("a token of the key and team passes for an hour, and is expired then")
    func age() throws {
        let good = try token()
        #expect(verifier.check(good, now: Self.now) == nil)
        #expect(verifier.check(good, now: Self.now + .seconds(3600)) == nil)
        #expect(verifier.check(good, now: Self.now + .seconds(3601)) == "ExpiredProviderToken")
        #expect(verifier.check(good, now: Self.now - .seconds(60)) == nil)
        #expect(verifier.check(good, now: Self.now - .seconds(61)) == "InvalidProviderToken")
    }

    @Test("another algorithm, key, team, claim or signature is invalid")
    func invalid() throws {
        let bad = [
            try token(header: #"{"alg":"none","kid":"KEY1"}"#), try token(header: #"{"alg":"ES256","kid":"KEY2"}"#),
            try token(header: #"{"alg":"ES256"}"#), try token(claims: #"{"iss":"TEAM2","iat":1764583200}"#),
            try token(claims: #"{"iss":"TEAM1","iat":"1764583200"}"#), try token(claims: "[]"),
            try token(tampered: true), "bearer ", "bearer a.b", "bearer a.b.c",
        ]
        for authorization in bad {
            #expect(verifier.check(authorization, now: Self.now) == "InvalidProviderToken", "\(authorization)")
        }
    }

    @Test("no token, or another scheme, is missing")
    func missing() {
        #expect(verifier.check(nil, now: Self.now) == "MissingProviderToken")
        #expect(verifier.check("Basic abc", now: Self.now) == "MissingProviderToken")
    }
}
