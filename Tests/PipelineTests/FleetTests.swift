import HushCore
import HushSimulator
import HushWorkers
import Testing

/// Fleets of phones with phones' faults in virtual time; `hush simulate` runs more and larger ones.
@Suite("Fleets")
struct FleetTests {
    @Test("40 small fleets end right, and nothing happens that must not")
    func endsRight() throws {
        let outcome = try FleetRun.run(Self.options(phones: 12), seeds: 1...40, threads: 2)
        #expect(outcome.violations == [])
        #expect(outcome.counts.screensRight == 480)
        #expect(outcome.counts.createsLost == 0)
        for spell in FleetFaults.Spell.allCases { #expect(outcome.counts.faults[spell.name] ?? 0 > 0) }
        for fault in ["APNs loses a push", "a push comes late", "a push comes twice", "deliverers die"] {
            #expect(outcome.counts.faults[fault] ?? 0 > 0, "\(fault)")
        }
    }

    @Test("chat fleets end right")
    func chat() throws {
        var options = Self.options(phones: 6)
        options.kind = .chat
        options.intentsPerDay = 80
        options.isThrottled = false
        let outcome = try FleetRun.run(options, seeds: 1...4, threads: 2)
        #expect(outcome.violations == [])
    }

    @Test("a seed tells the same story on one thread and on two")
    func repeats() throws {
        let reports = try [1, 2].map { threads in
            FleetReport([try FleetRun.run(Self.options(phones: 20), seeds: 9...9, threads: threads)]).json
        }
        #expect(reports[0] == reports[1])
        let other = FleetReport([try FleetRun.run(Self.options(phones: 20), seeds: 10...10, threads: 1)]).json
        #expect(reports[0] != other)
    }

    @Test("each rule that is left out is noticed", arguments: [BrokenRule.ownerTag, .repeats, .tombstones])
    func broken(rule: BrokenRule) throws {
        var options = Self.options(phones: 40)
        options.broken = rule
        let outcome = try FleetRun.run(options, seeds: 1...10, threads: 2)
        #expect(outcome.violationCount > 0)
    }

    @Test("the story of a violation is short, and tells the violation again")
    func story() throws {
        var options = Self.options(phones: 40)
        options.broken = .ownerTag
        let outcome = try FleetRun.run(options, seeds: 1...10, threads: 2)
        let first = try #require(outcome.violations.first)
        options.seed = first.seed
        let trace = FleetRun.trace(options, household: first.household)
        #expect(trace.violations.contains { $0.kind == first.kind })
        #expect(trace.inputs.count < 20)
        #expect(trace.lines.contains { $0.contains("***") })
    }

    @Test("what a message decodes to is what its record decodes to")
    func messages() throws {
        var options = WorkloadOptions()
        options.recipients = 5
        options.intents = 100
        let world = World(Workload(options), seed: 1)
        let decoder = InputDecoder()
        let now = Timestamp(millis: 1_764_583_200_000)
        var topics: Set<InputTopic> = []
        while !world.isOver {
            for message in world.play(until: .seconds(100), eventsMax: 10, now: now) {
                topics.insert(message.topic)
                let decoded = try message.key.raw.withUnsafeBytes { key in
                    try message.value.raw.withUnsafeBytes { value in
                        try decoder.decode(InputMessage(topic: message.topic, key: key, value: value))
                    }
                }
                #expect(decoded.event == message.event)
            }
        }
        #expect(topics == [.intents, .reads, .devices, .signals])
    }

    private static func options(phones: Int) -> FleetOptions {
        var options = FleetOptions()
        options.phones = phones
        return options
    }
}
