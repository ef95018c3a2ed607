import HushCore

/// What values take of memory, for caches that are bounded in bytes: near enough to add up, rounded up as malloc rounds.
enum Footprint {
    /// An array's storage: its header, its elements, and what malloc keeps of the block. None where nothing is in it.
    static func array(_ bytes: Int) -> Int {
        bytes == 0 ? 0 : (bytes + 32 + 8 + 15) & ~15
    }

    static func array<Element>(of type: Element.Type, _ count: Int) -> Int {
        array(count * MemoryLayout<Element>.stride)
    }

    /// An entry of a dictionary from names to objects, whose tables are between three eighths and three quarters full.
    static let dictionaryEntry = 32

    /// An object of a class with so many bytes of properties.
    static func object(_ bytes: Int) -> Int { (bytes + 16 + 8 + 15) & ~15 }
}

extension Bytes {
    var footprint: Int { Footprint.array(count) }
}

extension Recipient {
    /// Of all but the recipient's name, which its devices share.
    var footprint: Int {
        var bytes = Footprint.array(of: RegisteredDevice.self, devices.count)
        for device in devices {
            let registration = device.registration
            bytes += registration.device.footprint + registration.token.footprint + registration.app.footprint
            bytes += (registration.install?.footprint ?? 0) + device.address.key.footprint
            bytes += Footprint.array(of: Bytes.self, registration.tags.count)
            for tag in registration.tags { bytes += tag.footprint }
        }
        bytes += Footprint.array(of: DepartedDevice.self, departed.count)
        for device in departed { bytes += device.device.footprint }
        return bytes
    }
}

extension AddressState {
    /// Of what lies behind it, not of itself.
    var footprint: Int {
        var bytes = (row.lastOwner?.footprint ?? 0) + Footprint.array(of: PendingOp.self, row.ops.count)
        if let binding = row.binding {
            bytes += binding.owner.footprint + binding.device.footprint + (binding.install?.footprint ?? 0)
            bytes += binding.token.footprint + binding.app.footprint
        }
        for op in row.ops { bytes += op.id.footprint + (op.content?.json.footprint ?? 0) }
        if let inFlight = soft.inFlight {
            bytes += Footprint.array(of: InFlight.Part.self, inFlight.parts.count)
            bytes += Footprint.array(inFlight.apnsID.count)
        }
        return bytes
    }
}
