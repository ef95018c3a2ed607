import Testing

@testable import HushStream

@Suite struct RetryingTests {
    private let passing = StreamFault.retriable(
        KafkaCause(operation: "t", code: 6, name: "NOT_LEADER_FOR_PARTITION", message: "the leader moves"))
    private let lasting = StreamFault.refused("no such topic")

    /// What comes of calls that fail with these faults one after the other, then answer; and how many there were.
    private func outcome(_ faults: [StreamFault], for limit: Duration) -> (Result<String, StreamFault>, tries: Int) {
        var tries = 0
        let result = Result { () throws(StreamFault) in
            try retrying(for: limit, every: .zero) { () throws(StreamFault) in
                tries += 1
                if tries <= faults.count { throw faults[tries - 1] }
                return "answer"
            }
        }
        return (result, tries)
    }

    @Test("a call is made again while what it says may pass, and its answer is given")
    func passes() {
        #expect(outcome([passing, passing], for: .seconds(600)) == (.success("answer"), 3))
    }

    @Test("what does not pass is thrown at once, and what may pass behind the limit")
    func fails() {
        #expect(outcome([passing, lasting], for: .seconds(600)) == (.failure(lasting), 2))
        #expect(outcome([passing], for: .zero) == (.failure(passing), 1))
    }
}
