import HushCore
import Testing

@Suite("Bytes, times and names")
struct VocabularyTests {
    @Test("ids that differ only by Unicode form are two ids")
    func unicodeForms() {
        let composed = Bytes("caf\u{e9}")
        let decomposed = Bytes("cafe\u{301}")
        #expect("caf\u{e9}" == "cafe\u{301}")
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
    }

    @Test("bytes order as memcmp does")
    func byteOrder() {
        let sorted: [Bytes] = ["", "B", "a", "aa", "b", "\u{e9}"]
        #expect(sorted.reversed().sorted() == sorted)
    }

    @Test("times saturate instead of overflowing")
    func timeEnds() {
        #expect(Timestamp.distantFuture + .seconds(1) == .distantFuture)
        #expect(Timestamp.distantPast - .seconds(1) == .distantPast)
        #expect(Timestamp(seconds: .max) == .distantFuture)
        #expect(Timestamp(millis: 1500) + .milliseconds(-600) == Timestamp(millis: 900))
        #expect(Timestamp(millis: 1500) - Timestamp(millis: 500) == .seconds(1))
    }

    @Test(
        "seconds round down",
        arguments: [(0, 0), (999, 0), (1000, 1), (-1, -1), (-1000, -1), (-1001, -2)] as [(Int64, Int64)])
    func seconds(millis: Int64, seconds: Int64) {
        #expect(Timestamp(millis: millis).seconds == seconds)
    }

    @Test("an op id reads back what it wrote, and nothing else")
    func opID() {
        #expect(OpID("3:1207:0") == OpID(partition: 3, offset: 1207, index: 0))
        #expect(OpID(partition: 3, offset: 1207, index: 0).description == "3:1207:0")
        for wrong: Bytes in [
            "", "3:1207", "3:1207:0:1", "3::0", "a:1:2", "-1:2:3", "1:-2:3", "1::3", "1:99999999999999999999:3",
        ] {
            #expect(OpID(wrong) == nil)
        }
    }

    @Test("versions compare by time, then partition, then offset")
    func versions() {
        func version(_ at: Int64, _ partition: Int32, _ offset: Int64) -> BindingVersion {
            BindingVersion(at: Timestamp(millis: at), partition: partition, offset: offset)
        }
        #expect(version(1, 9, 9) < version(2, 0, 0))
        #expect(version(2, 0, 9) < version(2, 1, 0))
        #expect(version(2, 1, 0) < version(2, 1, 1))
    }

    @Test("SHA-256 gives the digests of FIPS 180-4's examples")
    func sha256() {
        let cases: [(String, String)] = [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                String(repeating: "a", count: 1_000),
                "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
            ),
        ]
        for (text, expected) in cases {
            #expect(String(decoding: Hex.encode(SHA256.digest(Array(text.utf8))), as: UTF8.self) == expected)
        }
        var pieces = SHA256()
        for byte in Array("abc".utf8) { pieces.update([byte]) }
        #expect(pieces.finish() == SHA256.digest(Array("abc".utf8)))
    }

    @Test("FNV-1a gives its published values")
    func fnv() {
        #expect(FNV1a.hash([]) == 0xcbf2_9ce4_8422_2325)
        #expect(FNV1a.hash(Array("a".utf8)) == 0xaf63_dc4c_8601_ec8c)
        #expect(FNV1a.hash(Array("foobar".utf8)) == 0x8594_4171_f739_67e8)
    }

    @Test("one token in two worlds or two apps is three addresses, and the parts do not run together")
    func addresses() {
        let all = [
            Address(app: "com.example.app", environment: .production, token: "aa"),
            Address(app: "com.example.app", environment: .sandbox, token: "aa"),
            Address(app: "com.example.ap", environment: .production, token: "paa"),
        ]
        #expect(Set(all).count == 3)
        #expect(all.allSatisfy { $0.key.count == 32 })
        #expect(all[0] == Address(app: "com.example.app", environment: .production, token: "aa"))
    }
}

@Suite("The JSON writer")
struct JSONWriterTests {
    @Test("strings leave in raw UTF-8 with the shortest escapes")
    func strings() {
        let cases: [(Bytes, String)] = [
            ("", #""""#),
            ("plain", #""plain""#),
            ("Grüße 👋", #""Grüße 👋""#),
            ("a\"b\\c/d", #""a\"b\\c/d""#),
            ("\u{8}\t\n\u{c}\r\u{1}\u{1f}\u{7f}", #""\b\t\n\f\r\u0001\u001f"# + "\u{7f}\""),
        ]
        for (text, expected) in cases {
            var writer = JSONWriter()
            writer.string(text)
            #expect(String(decoding: writer.bytes, as: UTF8.self) == expected)
        }
    }

    @Test("every byte is escaped or not, wherever in a text it stands")
    func escapes() {
        for byte in UInt8(0)...127 {
            for place in 0..<20 {
                var raw = [UInt8](repeating: UInt8(ascii: "x"), count: 20)
                raw[place] = byte
                var writer = JSONWriter()
                writer.string(Bytes(raw))
                let isEscaped = byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
                #expect((writer.bytes.count > 22) == isEscaped)
                #expect(writer.bytes.contains(UInt8(ascii: "\\")) == isEscaped)
            }
        }
        var writer = JSONWriter()
        writer.string("\u{80}\u{a2}\u{dc}\u{ff}\u{22c2}\u{1f4a9}")
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "\"\u{80}\u{a2}\u{dc}\u{ff}\u{22c2}\u{1f4a9}\"")
    }

    @Test("numbers are exact at both ends of 64 bits")
    func numbers() {
        var writer = JSONWriter()
        for value in [Int64.min, -1, 0, 7, 9_007_199_254_740_993, .max] {
            writer.integer(value)
            writer.byte(UInt8(ascii: " "))
        }
        writer.integer(UInt64.max)
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == "-9223372036854775808 -1 0 7 9007199254740993 9223372036854775807 18446744073709551615")
    }
}
