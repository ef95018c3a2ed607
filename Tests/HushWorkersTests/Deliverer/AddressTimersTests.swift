import HushCore
import Testing

@testable import HushWorkers

@Suite struct AddressTimersTests {
    @Test("times come in their order with the addresses they were set for, and not before they are there")
    func order() {
        let addresses = [
            "00000000000000000000000000000000", "0123456789abcdef0f1e2d3c4b5a6978", "ffffffffffffffffffffffffffffffff",
            "8000000000000001fedcba9876543210",
        ].map { Address(key: Bytes($0)) }
        let seconds: [Int64] = [30, 10, 40, 20]
        var timers = AddressTimers()
        for (second, address) in zip(seconds, addresses) { timers.add(Timestamp(seconds: second), address) }
        #expect(timers.first == Timestamp(seconds: 10))
        #expect(timers.take(Timestamp(seconds: 9))?.address == nil)
        var taken: [Address] = []
        for _ in 0..<4 { if let element = timers.take(Timestamp(seconds: 30)) { taken.append(element.address) } }
        #expect(taken == [addresses[1], addresses[3], addresses[0]])
        #expect(timers.count == 1)
        timers.removeAll()
        #expect(timers.first == nil)
    }
}
