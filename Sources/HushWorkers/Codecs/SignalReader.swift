import HushCore

enum SignalField: String, CaseIterable {
    case recipient, device, at, battery, charging, acks, hello
    case lowPower = "low_power"
    case backgroundRefresh = "background_refresh"
    case notBefore = "not_before"
}

/// Reads a record of `hush.signals`.
enum SignalReader {
    static func read(_ envelope: Envelope, _ fields: FieldTable<SignalField>) throws(DeadReason) -> Signal {
        var (recipient, device): (Bytes?, Bytes?)
        var reading = DeviceReading()
        var acks: [OpID] = []
        var hello: Signal.Hello?
        for value in envelope.data.children where !value.isNull {
            switch fields.field(value.key) {
            case .recipient: recipient = try value.identifier("recipient")
            case .device: device = try value.identifier("device")
            case .at, .battery, .charging, .lowPower, .backgroundRefresh, .notBefore:
                try value.read(fields.field(value.key), into: &reading)
            case .acks: acks = try value.acks()
            case .hello: hello = try value.hello()
            case nil: continue
            }
        }
        let owner = try envelope.recipient(recipient)
        guard let device else { throw missing("device") }
        return Signal(recipient: owner, device: device, reading: reading, acks: acks, hello: hello)
    }
}

extension JSONValue {
    /// Takes a field of what a phone saw; others leave the reading as it is.
    func read(_ field: SignalField?, into reading: inout DeviceReading) throws(DeadReason) {
        switch field {
        case .at: reading.at = try time("at")
        case .battery: reading.battery = try fraction("battery")
        case .charging: reading.charging = try boolean("charging")
        case .lowPower: reading.lowPower = try boolean("low_power")
        case .backgroundRefresh: reading.backgroundRefresh = try boolean("background_refresh")
        case .notBefore: reading.notBefore = try time("not_before")
        default: break
        }
    }

    /// Op ids such as `3:1207:0`.
    func acks() throws(DeadReason) -> [OpID] {
        var acks: [OpID] = []
        for child in try array("acks", countMax: InputLimits.acksMax) {
            guard case .string = child.kind, let op = OpID(child.text) else {
                throw wrong("acks", "must hold op ids such as \"3:1207:0\"")
            }
            acks.append(op)
        }
        return acks
    }

    func hello() throws(DeadReason) -> Signal.Hello {
        guard case .object = kind else { throw wrong("hello", "must be an object") }
        return Signal.Hello(shown: try entries("shown"), gone: try entries("gone"))
    }

    /// Pairs of id and revision.
    private func entries(_ list: StaticString) throws(DeadReason) -> [Signal.Entry] {
        guard let value = self[list], !value.isNull else { return [] }
        var entries: [Signal.Entry] = []
        for child in try value.array(list, countMax: InputLimits.helloEntriesMax) {
            var parts = child.children
            guard case .array = child.kind, child.count == 2, let id = parts.next(), let revision = parts.next() else {
                throw wrong(list, "must hold pairs of id and revision")
            }
            entries.append(
                Signal.Entry(
                    id: try id.identifier(list), revision: try revision.integer(list, 1...Standing.everyRevision)))
        }
        return entries
    }
}
