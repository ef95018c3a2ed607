import HushCore
import Testing

@testable import HushWorkers

@Suite struct KnownIDsTests {
    @Test("an id that was taken in is known, and the others are not")
    func contains() {
        var ids = KnownIDs()
        var found: [Bool] = []
        var inserted: [Bool] = []
        for number in 0..<250 {
            found.append(ids.contains(Bytes("id-\(number)")))
            inserted.append(ids.insert(Bytes("id-\(number)")))
        }
        #expect(!found.contains(true))
        #expect(!inserted.contains(false))
        for number in 0..<250 { #expect(ids.contains(Bytes("id-\(number)"))) }
        for number in 250..<1000 { #expect(!ids.contains(Bytes("id-\(number)"))) }
        #expect(!ids.contains(""))
    }

    @Test("what is full says so, and still takes what it has")
    func full() {
        var ids = KnownIDs()
        let inserted = (0..<KnownIDs.countMax).map { ids.insert(Bytes("id-\($0)")) }
        #expect(!inserted.contains(false))
        let more = ids.insert("one more")
        #expect(!more)
        let again = ids.insert("id-0")
        #expect(again)
        #expect(!ids.contains("one more"))
    }
}
