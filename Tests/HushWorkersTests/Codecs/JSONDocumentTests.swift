import Foundation
import HushCore
import HushWorkers
import Testing

@Suite("JSON documents")
struct JSONDocumentTests {
    private func fault(_ bytes: [UInt8], _ document: JSONDocument = JSONDocument()) -> JSONFault? {
        bytes.withUnsafeBytes { bytes -> JSONFault? in
            do throws(JSONFault) {
                _ = try document.parse(bytes)
                return nil
            } catch {
                return error
            }
        }
    }

    @Test(
        "what is no JSON object is refused with what is wrong",
        arguments: [
            ("", JSONFault.empty), (" \n", .empty), ("[1]", .notObject), ("1", .notObject), ("\"x\"", .notObject),
            ("{\"a\":1,}", .syntax), ("{\"a\" 1}", .syntax), ("{\"a\":[1,]}", .syntax), ("{\"a\":nulx}", .syntax),
            ("{\"a\":nullx}", .syntax), ("{\"a\":1} {\"b\":2}", .syntax), ("{\"a\":1} x", .syntax),
            ("{\"a\":1", .syntax),
            ("{1:2}", .syntax), ("{\"a\":\"\n\"}", .syntax), ("{\"a\":\"\\x\"}", .syntax),
            ("{\"a\":\"\\ud800\"}", .syntax),
            ("{\"a\":01}", .number), ("{\"a\":-}", .number), ("{\"a\":1.}", .number), ("{\"a\":1e999}", .number),
            ("{\"a\":1\(String(repeating: "0", count: 309))}", .number),
            ("{\"a\":00018446744073709551616}", .number), ("{\"a\":NaN}", .syntax), ("{\"a\":'b'}", .syntax),
            ("\u{feff}{}", .syntax),
        ])
    func refuses(text: String, expected: JSONFault) {
        #expect(fault(Array(text.utf8)) == expected)
    }

    @Test("malformed UTF-8 is refused wherever it stands")
    func refusesMalformedUTF8() {
        for bad in [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]] as [[UInt8]] {
            #expect(fault(Array("{\"a\":\"".utf8) + bad + Array("\"}".utf8)) == .notUTF8)
        }
    }

    @Test("nesting is bounded, and the bound itself is allowed")
    func boundsDepth() {
        func nested(_ depth: Int) -> [UInt8] {
            Array(
                (String(repeating: "{\"a\":", count: depth - 1) + "{}" + String(repeating: "}", count: depth - 1)).utf8)
        }
        let document = JSONDocument(depthMax: 8)
        #expect(fault(nested(7), document) == nil)
        #expect(fault(nested(9), document) == .tooDeep)
        #expect(fault(nested(100_000)) == .tooDeep)
    }

    @Test("a document above the limit is refused, and the next one parses")
    func boundsLength() {
        let document = JSONDocument(bytesMax: 64)
        #expect(fault(Array("{\"a\":\"\(String(repeating: "x", count: 80))\"}".utf8), document) == .tooLong)
        #expect(fault(Array("{\"a\":1}".utf8), document) == nil)
    }

    @Test("values come in order, with their kinds, and strings unescaped")
    func readsValues() throws {
        let text =
            #"{"n":null,"t":true,"f":false,"i":-9223372036854775808,"u":18446744073709551615,"d":1.5e2,"#
            + #""s":"a\u00e9\n\ud83d\ude00","l":[1,[2],{"x":{}}],"z":0}"#
        let document = JSONDocument()
        try Array(text.utf8).withUnsafeBytes { bytes in
            let root = try document.parse(bytes)
            let names = root.children.map { String(decoding: $0.key, as: UTF8.self) }
            #expect(names == ["n", "t", "f", "i", "u", "d", "s", "l", "z"])
            #expect(root["n"]?.isNull == true)
            if case .boolean(true)? = root["t"]?.kind {} else { Issue.record("t is true") }
            if case .boolean(false)? = root["f"]?.kind {} else { Issue.record("f is false") }
            if case .integer(.min)? = root["i"]?.kind {} else { Issue.record("i is exact") }
            if case .huge(.max)? = root["u"]?.kind {} else { Issue.record("u is exact") }
            if case .real(150)? = root["d"]?.kind {} else { Issue.record("d is a real") }
            #expect(root["s"].map { Array($0.text) } == Array("aé\n😀".utf8))
            #expect(root["l"]?.count == 3)
            #expect(root["l"]?.children.map(\.count) == [0, 1, 1])
            #expect(root["absent"] == nil)
        }
    }

    @Test("whole numbers beyond 64 bits are the nearest doubles; digits in strings, fractions and exponents stay")
    func widensIntegers() throws {
        let text =
            #"{"a":18446744073709551616,"b":-9223372036854775809,"c":"18446744073709551616\\\"99999999999999999999","#
            + #""d":[0.12345678901234567890123,1e-00000000000000000000001,99999999999999999999],"e":18446744073709551615}"#
        let document = JSONDocument()
        try Array(text.utf8).withUnsafeBytes { bytes in
            let root = try document.parse(bytes)
            if case .real(18_446_744_073_709_551_616.0)? = root["a"]?.kind {} else { Issue.record("a is 2^64") }
            if case .real(-9_223_372_036_854_775_808.0)? = root["b"]?.kind {} else { Issue.record("b is -2^63") }
            #expect(
                root["c"].map { Array($0.text) } == Array(#"18446744073709551616\"99999999999999999999"#.utf8))
            var reals: [Double] = []
            for child in try #require(root["d"]).children {
                if case .real(let number) = child.kind { reals.append(number) }
            }
            #expect(reals == [0.12345678901234568, 0.1, 1e20])
            if case .huge(.max)? = root["e"]?.kind {} else { Issue.record("e is exact") }
        }
    }

    @Test("of repeated members the last counts")
    func lastMemberCounts() throws {
        let document = JSONDocument()
        try Array(#"{"a":1,"b":2,"a":3}"#.utf8).withUnsafeBytes { bytes in
            let root = try document.parse(bytes)
            if case .integer(3)? = root["a"]?.kind {} else { Issue.record("the last a counts") }
            #expect(root.count == 3)
        }
    }

    @Test("what we take, Foundation takes too, on mutated documents")
    func agreesWithFoundation() {
        var random = SeededRandom(seed: 41)
        let seeds = [
            #"{"id":"order-42","recipient":"ada","badge":3,"extras":{"a":[1,2.5,null,true]}}"#,
            #"{"s":"\u00e9\ud83d\ude00","n":-12.5e-3,"deep":[[[{"x":[]}]]]}"#,
        ]
        let document = JSONDocument()
        var (taken, refused) = (0, 0)
        for round in 0..<6000 {
            var bytes = Array(seeds[round % seeds.count].utf8)
            for _ in 0..<Int.random(in: 0...3, using: &random) { mutate(&bytes, &random) }
            if fault(bytes, document) == nil {
                taken += 1
                #expect(
                    (try? JSONSerialization.jsonObject(with: Data(bytes))) is [String: Any],
                    "\(String(decoding: bytes, as: UTF8.self))")
            } else {
                refused += 1
            }
        }
        #expect(taken > 1000 && refused > 1000)
    }
}
