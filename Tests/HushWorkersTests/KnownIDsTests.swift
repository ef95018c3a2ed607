import HushCore
import Testing

@testable import HushWorkers

@Suite struct KnownIDsTests {
    @Test("an id that was taken in is known, and the others are not")
    func contains() {
        var ids = KnownIDs()
        for number in 0..<250 {
            #expect(!ids.contains(Bytes("id-\(number)")))
            #expect(ids.insert(Bytes("id-\(number)")))
        }
        for number in 0..<250 { #expect(ids.contains(Bytes("id-\(number)"))) }
        for number in 250..<1000 { #expect(!ids.contains(Bytes("id-\(number)"))) }
        #expect(!ids.contains(""))
    }

    @Test("what is full says so, and still takes what it has")
    func full() {
        var ids = KnownIDs()
        for number in 0..<KnownIDs.countMax { #expect(ids.insert(Bytes("id-\(number)"))) }
        #expect(!ids.insert("one more"))
        #expect(ids.insert("id-0"))
        #expect(!ids.contains("one more"))
    }
}
