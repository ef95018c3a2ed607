import Foundation
import HushBase
import Testing

@testable import HushStream

@Suite(.enabled(if: KafkaRig.isThere, "needs a real Kafka: scripts/test"), .serialized)
struct StreamSlotTests {
    @Test("every record is copied once, in order, and counted")
    func copies() throws {
        let rig = try KafkaRig("copy")
        defer { rig.remove() }
        try rig.produce(0..<1000)
        let slot = try rig.slot()
        try slot.start()
        #expect(rig.wait { slot.status.recordsIn == 1000 })
        try rig.produce(1000..<1500)
        #expect(rig.wait { slot.status.recordsIn == 1500 })
        slot.stop()
        #expect(slot.join() == nil)
        try rig.expectCopied(1500)
    }
}
