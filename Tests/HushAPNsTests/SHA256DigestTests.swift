import HushAPNs
import Testing

@Suite struct SHA256DigestTests {
    static let known: [(String, String)] = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ]

    @Test("the digests of FIPS 180-4 come out, from one context used again and again", arguments: known)
    func matches(text: String, expected: String) {
        let digest = SHA256Digest()
        for _ in 0..<3 {
            for byte in text.utf8 { digest.update([byte]) }
            #expect(hex(digest.finish()) == expected)
        }
        digest.update(Array(text.utf8))
        #expect(hex(digest.finish()) == expected)
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
