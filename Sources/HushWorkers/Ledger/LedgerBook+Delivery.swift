public import HushCore

extension LedgerBook {
    /// Writes a deliver line and shows its bytes; its key is the recipient as `shown`. `final` is true where its ops have no
    /// further line.
    public func write(_ line: DeliveryLine, at now: Timestamp, _ send: (UnsafeRawBufferPointer) -> Void) {
        var json = begin(at: now)
        json.member("outcome", line.outcome.name)
        json.member("final", line.isFinal)
        json.member("device", line.device.map { shown(device: $0) })
        json.member("attempt", line.attempt)
        if let apnsID = line.apnsID {
            json.raw(",\"apns_id\":\"")
            json.raw(apnsID)
            json.byte(UInt8(ascii: "\""))
        }
        json.member("status", line.status)
        json.member("reason", line.reason)
        json.member("gate", line.gate?.name)
        json.member("until", line.until)
        json.member("ops")
        let recipient = shown(recipient: line.recipient)
        json.array(line.ops) { json, part in
            json.raw("{\"op\":")
            json.op(part.op)
            json.member("kind", part.kind.name)
            json.member("id", part.id)
            json.member("recipient", recipient)
            json.member("cause", part.cause)
            json.member("trace", part.trace)
            json.byte(UInt8(ascii: "}"))
        }
        end(&json, send)
    }
}
