import HushBase
import Testing

@testable import HushStream

@Suite("When an input stands still")
struct StallRuleTests {
    /// One look at an input, so many seconds after the start.
    struct Look: Sendable {
        var second: Int64
        var position: Int64 = 5
        var end: Int64? = 9
        var interruptions: Int64 = 0
        /// Left out where the slot waits for a reason, or has not the partition.
        var isThere = true

        static func at(
            _ second: Int64, position: Int64 = 5, end: Int64? = 9, interruptions: Int64 = 0
        ) -> Look {
            Look(second: second, position: position, end: end, interruptions: interruptions)
        }

        static func away(_ second: Int64) -> Look { Look(second: second, isThere: false) }
    }

    private static let place = StallRule.Place(slot: "s-0", topic: "in", partition: 3)

    private func moment(_ second: Int64) -> MonotonicTime { MonotonicTime(nanos: second * 1_000_000_000) }

    /// Whether each look found the input standing, under a limit of 100 s.
    private func verdicts(_ looks: [Look]) -> [Bool] {
        var rule = StallRule(limit: .seconds(100))
        return looks.map { look in
            let sample = StallRule.Sample(
                place: Self.place, position: look.position, interruptions: look.interruptions, end: look.end)
            return !rule.observe(look.isThere ? [sample] : [], at: moment(look.second)).isEmpty
        }
    }

    @Test(
        "an input that stands for the limit, with something to take all the time, has stalled, and not a moment before",
        arguments: [
            ("it stands", [.at(0), .at(40), .at(80), .at(99), .at(100), .at(140)], [4, 5]),
            ("a record was taken", [.at(0), .at(40), .at(80, position: 6), .at(120, position: 6)], []),
            ("a record was taken after it stalled", [.at(0), .at(50), .at(100), .at(101, position: 6)], [2]),
            ("there is nothing to take", [.at(0, end: 5), .at(50, end: 5), .at(100, end: 5), .at(150, end: 5)], []),
            // The last stable offset stands before an open transaction, however far the high watermark is beyond.
            ("an open transaction", [.at(0, end: 5), .at(50, end: 5), .at(100, end: 5), .at(140)], []),
            ("something came late", [.at(0, end: 5), .at(50), .at(100), .at(149), .at(150)], [4]),
            ("the end was behind for once", [.at(0), .at(50, end: 5), .at(100), .at(149), .at(199), .at(200)], [5]),
            ("no broker answers", [.at(0, end: nil), .at(50, end: nil), .at(100, end: nil), .at(150, end: nil)], []),
            (
                "the brokers were away for a while",
                [.at(0), .at(50), .at(90, end: nil), .at(130), .at(180), .at(229), .at(230)], [6]
            ),
            ("the brokers went away after it stalled", [.at(0), .at(50), .at(100), .at(110, end: nil)], [2]),
            ("the slot waits for a reason", [.at(0), .at(50), .away(90), .at(100), .at(149), .at(199), .at(200)], [6]),
            (
                "it waited, or aborted, between two looks",
                [.at(0), .at(50), .at(100, interruptions: 1), .at(150, interruptions: 1)], []
            ),
            (
                "aborts again and again take it back to where it was",
                (0..<9).map { .at($0 * 30, interruptions: $0) }, []
            ),
            ("the process stood still itself", [.at(0), .at(40), .at(400), .at(440), .at(490), .at(500)], [5]),
            ("a seek took it back", [.at(0), .at(50), .at(90, position: 2), .at(130, position: 2)], []),
        ] as [(String, [Look], [Int])])
    func cases(name: String, looks: [Look], stalled: [Int]) {
        let found = verdicts(looks)
        #expect(found.indices.filter { found[$0] } == stalled, "\(name)")
    }

    @Test("a stall names slot, topic and partition, how long it lasts, and how far behind it is")
    func words() throws {
        var rule = StallRule(limit: .seconds(100))
        let other = StallRule.Place(slot: "s-0", topic: "in", partition: 4)
        func look(_ second: Int64) -> [Stall] {
            rule.observe(
                [
                    StallRule.Sample(place: Self.place, position: 5, interruptions: 0, end: 1209),
                    StallRule.Sample(place: other, position: second, interruptions: 0, end: 1209),
                ], at: moment(second))
        }
        for second in [0, 45, 90] { #expect(look(Int64(second)) == []) }
        let stall = try #require(look(112).first)
        #expect(stall == Stall(slot: "s-0", topic: "in", partition: 3, lasting: .seconds(112), lag: 1204))
        #expect("\(stall)" == "nothing was taken of in-3 for 112 s, and it is 1204 behind")
    }

    @Test("the end of an input is asked for only where it stands where it stood")
    func asksSeldom() {
        var rule = StallRule(limit: .seconds(100))
        var sample = StallRule.Sample(place: Self.place, position: 5, interruptions: 0)
        #expect(!rule.stands(sample))
        _ = rule.observe([sample], at: moment(0))
        #expect(rule.stands(sample))
        sample.position = 6
        #expect(!rule.stands(sample))
        sample.position = 5
        sample.interruptions = 1
        #expect(!rule.stands(sample))
        _ = rule.observe([], at: moment(10))
        sample.interruptions = 0
        #expect(!rule.stands(sample))
    }
}
