import HushStream
import Testing

@Suite struct Murmur2Tests {
    @Test(
        "murmur2 gives the values of Kafka's Java client",
        arguments: [
            ("21", -973_932_308), ("foobar", -790_332_482), ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971), ("abc", 479_470_107),
        ] as [(String, Int32)])
    func hash(text: String, expected: Int32) {
        let hash = Array(text.utf8).withUnsafeBytes { Murmur2.hash($0) }
        #expect(Int32(bitPattern: hash) == expected)
    }

    @Test("a negative hash loses its sign bit before the remainder, as Java's toPositive does")
    func partition() {
        #expect(Murmur2.partition(of: Array("foobar".utf8), count: 12) == (Int32(-790_332_482) & 0x7fff_ffff) % 12)
        #expect(Murmur2.partition(of: Array("21".utf8), count: 7) == (Int32(-973_932_308) & 0x7fff_ffff) % 7)
        #expect(Murmur2.partition(of: [], count: 1) == 0)
    }
}
