import HushAPNs
import Testing

@Suite struct SHA256AuthenticatorTests {
    /// Test cases 1, 2 and 6 of RFC 4231; the last key is longer than a block of SHA-256.
    static let known: [([UInt8], String, String)] = [
        (
            Array(repeating: 0x0b, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            Array(repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ]

    @Test("the codes of RFC 4231 come out, from one context used again and again", arguments: known)
    func matches(key: [UInt8], text: String, expected: String) {
        let authenticator = SHA256Authenticator(key: key)
        let first = authenticator.code(of: Array(text.utf8))
        #expect(first.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() == expected)
        #expect(authenticator.code(of: []) != first)
        #expect(authenticator.code(of: Array(text.utf8)) == first)
    }
}
