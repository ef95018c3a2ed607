import Testing

@testable import HushStream

@Suite struct RecordHuntTests {
    @Test(
        "wherever the one record stands that Kafka refuses, it is found alone, and all others are committed",
        arguments: 0..<20)
    func finds(guilty: Int) throws {
        var hunt = RecordHunt()
        var next = 0
        var rounds = 0
        while next < 20 {
            rounds += 1
            try #require(rounds < 100)
            let taken = next..<min(20, next + min(hunt.recordsMax, 20))
            let isAside = hunt.found?.place.offset == Int64(guilty)
            if taken.contains(guilty), !isAside {
                let last = RecordHunt.Place(input: 0, partition: 1, offset: Int64(taken.upperBound - 1))
                let verdict = hunt.refused(records: taken.count, last: last, reason: "too large")
                #expect(verdict == (taken.count == 1 ? .found : .halved))
            } else {
                next = taken.upperBound
                hunt.committed()
            }
        }
        #expect(hunt.found == nil)
        #expect(rounds < 20)
    }

    @Test("a refusal without a record, or again where the record was kept aside, is nobody's: the slot must stop")
    func hopeless() {
        var hunt = RecordHunt()
        #expect(hunt.refused(records: 0, last: nil, reason: "") == .hopeless)
        let place = RecordHunt.Place(input: 0, partition: 0, offset: 7)
        #expect(hunt.refused(records: 1, last: place, reason: "") == .found)
        #expect(hunt.refused(records: 1, last: place, reason: "") == .hopeless)
    }
}
