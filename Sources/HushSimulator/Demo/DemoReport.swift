public import HushCore

/// What came of a demo: the counts, and the verdict.
public struct DemoReport: Hashable, Sendable {
    public var seed: UInt64 = 0
    /// Creates, updates and retracts that were published, repeats not counted.
    public var intents = 0
    /// Repeats that were published.
    public var duplicates = 0
    /// Inputs that the planner dropped as known.
    public var duplicatesDropped = 0
    public var reads = 0
    /// Creates that came after their read, and were never shown.
    public var readsBeforeCreate = 0
    /// Pushes that waited at a gate.
    public var held = 0
    /// Pushes that went again after a refusal or no answer.
    public var retried = 0
    /// Pushes that APNs accepted.
    public var pushes = 0
    /// Background pushes that woke an app, over phones and the demo's time.
    public var wakeUpsPerDeviceHour = 0.0
    /// What 99 of 100 did not exceed from a read or retract until a screen that showed it did no more.
    public var readToClearP99: Duration = .zero
    /// How often each thing went wrong with phones and their pushes.
    public var troubles: [FleetFault: Int] = [:]
    public var screens = 0
    public var screensRight = 0
    /// What must not happen at all, by name; only what did.
    public var violations: [Violation] = []
    public var elapsed: Duration = .zero

    public struct Violation: Hashable, Sendable {
        public var name: Bytes
        public var count: Int
    }

    public init() {}

    /// Whether every screen shows what it must, and nothing happened that must not.
    public var isGood: Bool { screensRight == screens && violations.isEmpty }

    /// Notes what must not happen, where it did.
    mutating func violate(_ name: Bytes, _ count: Int) {
        if count > 0 { violations.append(Violation(name: name, count: count)) }
    }

    /// One JSON object, without a newline.
    public var json: Bytes {
        var json = JSONWriter()
        json.raw("{\"seed\":")
        json.integer(seed)
        let counts: [(Bytes, Int)] = [
            ("intents", intents), ("duplicates", duplicates), ("duplicates_dropped", duplicatesDropped),
            ("reads", reads), ("reads_before_create", readsBeforeCreate), ("held", held), ("retried", retried),
            ("pushes", pushes), ("screens", screens), ("screens_right", screensRight),
            ("violations", violations.reduce(0) { $0 + $1.count }),
        ]
        for (name, count) in counts {
            json.byte(UInt8(ascii: ","))
            json.string(name)
            json.byte(UInt8(ascii: ":"))
            json.integer(count)
        }
        if !violations.isEmpty {
            json.raw(",\"violated\":{")
            for (index, violation) in violations.enumerated() {
                if index > 0 { json.byte(UInt8(ascii: ",")) }
                json.string(violation.name)
                json.byte(UInt8(ascii: ":"))
                json.integer(violation.count)
            }
            json.byte(UInt8(ascii: "}"))
        }
        if !troubles.isEmpty {
            json.raw(",\"troubles\":{")
            for (index, fault) in FleetFault.allCases.filter({ troubles[$0] != nil }).enumerated() {
                if index > 0 { json.byte(UInt8(ascii: ",")) }
                json.string(Bytes(fault.name))
                json.byte(UInt8(ascii: ":"))
                json.integer(troubles[fault] ?? 0)
            }
            json.byte(UInt8(ascii: "}"))
        }
        json.raw(",\"wakeups_per_device_hour\":")
        json.raw(Array(FleetReport.decimal(wakeUpsPerDeviceHour, 1).utf8))
        json.raw(",\"read_to_clear_p99_ms\":")
        json.integer(readToClearP99.wholeMillis)
        json.raw(",\"seconds\":")
        json.raw(Array(FleetReport.decimal(Double(elapsed.wholeMillis / 100) / 10, 1).utf8))
        json.byte(UInt8(ascii: "}"))
        return Bytes(json.bytes)
    }
}
