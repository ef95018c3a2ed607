import Foundation
import HushCore

/// The records that the planner is measured with: two devices a recipient, and intents of about 370 bytes.
struct PlannerInputs {
    let recipients: Int
    let intents: Int
    /// When the intents were made, RFC 3339; within the dedupe window, so that none is stale.
    private let created: String
    private let expires: String

    init(recipients: Int, intents: Int) {
        self.recipients = recipients
        self.intents = intents
        func text(_ moment: Timestamp) -> String {
            var json = JSONWriter(reserving: 32)
            json.time(moment)
            return String(decoding: json.bytes, as: UTF8.self)
        }
        let now = Timestamp(millis: Int64(Date().timeIntervalSince1970 * 1000))
        created = text(now - .seconds(60))
        expires = text(now + .seconds(86_400))
    }

    /// The key of an intent and of its recipient's devices.
    func recipient(_ number: Int) -> [UInt8] {
        Array("recipient-\(Self.padded(number % recipients))".utf8)
    }

    func intent(_ number: Int) -> [UInt8] {
        let name = Self.padded(number % recipients)
        let order = Self.padded(number)
        let text =
            #"{"id":"order-\#(order)","recipient":"recipient-\#(name)","created":\#(created),"expires":\#(expires),"#
            + #""title":"Your parcel is on its way","body":"It leaves the depot at noon and is with you by five.","#
            + #""category":"parcel","thread":"orders","link":"app://orders/\#(order)","#
            + #""extras":{"order":"\#(order)","carrier":"yellow-vans"}}"#
        return Array(text.utf8)
    }

    /// The register of one of a recipient's two devices.
    func device(_ recipient: Int, _ device: Int) -> [UInt8] {
        let name = Self.padded(recipient)
        let token = String(repeating: "ab", count: 27) + Self.padded(recipient) + "0\(device)"
        return Array(
            (#"{"recipient":"recipient-\#(name)","device":"phone-\#(name)-\#(device)","token":"\#(token)","#
                + #""app":"com.example.app","acks":true,"install":"install-\#(name)-\#(device)"}"#).utf8)
    }

    static let devicesPerRecipient = 2

    private static func padded(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }
}
