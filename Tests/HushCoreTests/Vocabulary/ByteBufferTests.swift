import Testing

@testable import HushCore

@Suite("Byte buffers and fingerprints")
struct ByteBufferTests {
    @Test("a buffer holds what was appended, however small it began")
    func appends() {
        var buffer = ByteBuffer(reserving: 0)
        var expected: [UInt8] = []
        for length in 0..<40 {
            let piece = [UInt8](repeating: UInt8(length), count: length)
            buffer.append(piece)
            buffer.append(0xff)
            expected += piece + [0xff]
        }
        let (bytes, count) = (buffer.bytes, buffer.count)
        #expect(bytes == expected)
        #expect(count == expected.count)
        buffer.truncate(to: 3)
        let (left, shown) = (buffer.bytes, buffer.withUnsafeBytes { [UInt8]($0) })
        #expect(left == [0xff, 1, 0xff])
        #expect(shown == left)
    }

    @Test("bytes are equal where each is, whatever their length")
    func equality() {
        for length in 0..<40 {
            let bytes = (0..<length).map { UInt8($0) }
            #expect(Bytes(bytes) == Bytes(bytes))
            #expect(Bytes(bytes) != Bytes(bytes + [0]))
            for index in bytes.indices {
                var other = bytes
                other[index] ^= 0x80
                #expect(Bytes(bytes) != Bytes(other))
            }
        }
    }

    @Test(
        "a fingerprint is the same on every machine and in every version, for marks keep it",
        arguments: [
            ("", 0x6b5a_766b_d2e9_41fa), (#"{"title":"t"}"#, 0x88ef_0afb_ccf3_defb),
            ("12345678", 0x88fa_6c5e_57dd_b5a9),
        ] as [(String, UInt64)])
    func fingerprint(text: String, value: UInt64) {
        var fingerprint = Fingerprint()
        fingerprint.update(Array(text.utf8))
        #expect(fingerprint.value == value)
    }
}
