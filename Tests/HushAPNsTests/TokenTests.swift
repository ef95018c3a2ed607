import Testing

@testable import HushAPNs

@Suite struct TokenTests {
    /// The begin of a slot of the clock.
    private static let slot: Int64 = 1_764_585_000 - 1_764_585_000 % 2700

    @Test("instances that start at any time of a slot claim the same iat", arguments: [60, 61, 1000, 2700, 2759])
    func sharedSlot(offset: Int64) {
        var schedule = TokenSchedule()
        #expect(schedule.due(at: Self.slot + offset) == Self.slot)
    }

    @Test("a token is renewed by the time of issue: at the next slot, 46 minutes after its iat at the latest")
    func renewal() {
        var schedule = TokenSchedule()
        #expect(schedule.due(at: Self.slot + 2600) == Self.slot)
        #expect(schedule.due(at: Self.slot + 2759) == nil)
        #expect(schedule.due(at: Self.slot + 2760) == Self.slot + 2700)
        #expect(schedule.due(at: Self.slot + 2761) == nil)
    }

    @Test("no token's age ever reaches an hour, and none is made within 20 minutes of a forced one")
    func bounds() {
        for start in stride(from: Int64(60), to: 2760, by: 97) {
            for expiry in stride(from: Int64(0), to: 5400, by: 211) {
                var schedule = TokenSchedule()
                var issued = schedule.due(at: Self.slot + start) ?? 0
                var forcedAt: Int64?
                for now in stride(from: Self.slot + start, to: Self.slot + start + 12_000, by: 60) {
                    let due = schedule.due(at: now)
                    if let due { issued = due }
                    if let forced = forcedAt, due != nil { #expect(now - forced >= 1200) }
                    if due != nil { forcedAt = nil }
                    if now >= Self.slot + start + expiry, forcedAt == nil, let new = schedule.expired(at: now) {
                        issued = new
                        forcedAt = now
                    }
                    #expect(now - issued < 3600)
                    #expect(now - issued >= 0)
                }
            }
        }
    }

    @Test("a token made lately is not replaced, whatever APNs says; nor after it said: too many")
    func noStorm() {
        var schedule = TokenSchedule()
        let start = Self.slot + 100
        #expect(schedule.due(at: start) == Self.slot)
        #expect(schedule.expired(at: start + 1199) == nil)
        schedule.tooMany(at: start + 600)
        #expect(schedule.expired(at: start + 1200) == nil)
        #expect(schedule.expired(at: start + 1800) == start + 1800)
        #expect(schedule.expired(at: start + 1801) == nil)
    }

    @Test("after \"too many\" the old token goes on beyond its slot, as long as it is good for")
    func tooMany() {
        var schedule = TokenSchedule()
        #expect(schedule.due(at: Self.slot + 100) == Self.slot)
        schedule.tooMany(at: Self.slot + 2750)
        #expect(schedule.due(at: Self.slot + 2760) == nil)
        #expect(schedule.due(at: Self.slot + 3539) == nil)
        #expect(schedule.due(at: Self.slot + 3540) == Self.slot + 2700)
    }

    @Test("one token serves all, and the first of many rejections renews it")
    func shared() throws {
        let directory = try TestDirectory()
        let key = try SigningKey(file: directory.certificates.tokenKeyFile)
        let token = try ProviderToken(key: key, keyID: "HUSHTEST01", teamID: "TEAM123456", atSeconds: Self.slot + 60)
        let first = token.current(atSeconds: Self.slot + 70)
        #expect(token.current(atSeconds: Self.slot + 2000).authorization == first.authorization)
        #expect(token.expired(version: first.version, atSeconds: Self.slot + 70) == nil)
        let second = try #require(token.expired(version: first.version, atSeconds: Self.slot + 1300))
        #expect(second.version == first.version + 1)
        let again = try #require(token.expired(version: first.version, atSeconds: Self.slot + 1301))
        #expect(again.authorization == second.authorization)
    }

    @Test("our tokens pass our check, and others fail for their reason")
    func verification() throws {
        let directory = try TestDirectory()
        let key = try SigningKey(file: directory.certificates.tokenKeyFile)
        let verifier = ProviderTokenVerifier(keys: [(Array("HUSHTEST01".utf8), key)])
        let token = try ProviderToken.make(key: key, keyID: "HUSHTEST01", teamID: "TEAM123456", issuedAt: 1000)
        #expect(
            verifier.verify(token, atSeconds: 4600)
                == .valid(keyID: Array("HUSHTEST01".utf8), teamID: Array("TEAM123456".utf8), issuedAtSeconds: 1000))
        #expect(verifier.verify(token, atSeconds: 4601) == .expired)
        #expect(verifier.verify(token, atSeconds: 939) == .expired)
        #expect(verifier.verify(nil, atSeconds: 1000) == .missing)
        #expect(verifier.verify(Array("basic abc".utf8), atSeconds: 1000) == .missing)
        #expect(verifier.verify(Array("bearer a.b".utf8), atSeconds: 1000) == .invalid)
        var forged = token
        forged[forged.count - 20] = forged[forged.count - 20] == 0x41 ? 0x42 : 0x41
        #expect(verifier.verify(forged, atSeconds: 1000) == .invalid)
        let other = try ProviderToken.make(key: key, keyID: "OTHER00001", teamID: "TEAM123456", issuedAt: 1000)
        #expect(verifier.verify(other, atSeconds: 1000) == .invalid)
    }

    @Test(
        "base64url without padding (RFC 4648 §10)",
        arguments: [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"), ("\u{3ff}~", "z79-"),
        ])
    func base64(text: String, expected: String) {
        #expect(Base64URL.encode(Array(text.utf8)) == Array(expected.utf8))
        #expect(Base64URL.decode(expected.utf8) == Array(text.utf8))
    }

    @Test("what is no base64url is refused", arguments: ["A", "Zg==", "Zh", "a+b/", "Zm9 "])
    func notBase64(text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }
}
