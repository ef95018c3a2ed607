import HushCore

/// A record of some partition, in one word: 15 bits of partition, 48 of offset, and one that its holder uses.
struct Place: Hashable {
    var raw: UInt64

    static let offsetMax: Int64 = (1 << 48) - 1

    init(_ partition: Int32, _ offset: Int64) {
        raw = UInt64(UInt32(bitPattern: partition)) << 48 | UInt64(bitPattern: offset) & UInt64(Self.offsetMax)
    }

    init(raw: UInt64) {
        self.raw = raw & ~(1 << 63)
    }

    var partition: Int32 { Int32(truncatingIfNeeded: raw >> 48 & 0x7FFF) }
    var offset: Int64 { Int64(raw & UInt64(Self.offsetMax)) }
}

/// A record of a planner input, in one word: 3 bits of topic, 13 of partition, 48 of offset.
struct CauseWord: Hashable {
    var raw: UInt64

    static let partitionMax: Int32 = (1 << 13) - 1

    init(_ topic: InputTopic, _ partition: Int32, _ offset: Int64) {
        raw =
            UInt64(topic.rawValue) << 61 | UInt64(UInt32(bitPattern: partition) & 0x1FFF) << 48
            | UInt64(bitPattern: offset) & UInt64(Place.offsetMax)
    }

    init(raw: UInt64) {
        self.raw = raw
    }

    var topic: InputTopic { InputTopic(rawValue: UInt8(raw >> 61)) ?? .intents }
    var partition: Int32 { Int32(truncatingIfNeeded: raw >> 48 & 0x1FFF) }
    var offset: Int64 { Int64(raw & UInt64(Place.offsetMax)) }
}
