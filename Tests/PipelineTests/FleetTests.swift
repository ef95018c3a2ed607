import HushCore
import HushSimulator
import HushWorkers
import Synchronization
import Testing

/// Fleets of phones with phones' faults in virtual time; `hush simulate` runs more and larger ones.
@Suite("Fleets")
struct FleetTests {
    @Test("200 small fleets end right, and nothing happens that must not")
    func endsRight() throws {
        let outcome = try FleetRun.run(Self.options(phones: 5), seeds: 1...200, threads: 2)
        #expect(outcome.violations == [])
        #expect(outcome.counts.screensRight == 1000)
        #expect(outcome.counts.createsLost == 0)
        // What is stored is nearly always replaced before, by the delete of what expires.
        for fault in FleetFault.allCases where fault != .storedExpired {
            #expect(outcome.counts[fault] > 0, "\(fault.name)")
        }
    }

    @Test("chat fleets end right, and stay within the wake-up budget", arguments: [false, true])
    func chat(isThrottled: Bool) throws {
        var options = Self.options(phones: 6)
        options.kind = .chat
        options.intentsPerDay = 80
        options.isThrottled = isThrottled
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

    @Test("each rule that is left out is noticed, and a short story tells it again", arguments: BrokenRule.allCases)
    func broken(rule: BrokenRule) throws {
        var options = Self.options(phones: 20)
        options.broken = rule
        let found = Mutex(false)
        let outcome = try FleetRun.run(
            options, seeds: 1...100, threads: 2,
            progress: { _, _, violations in found.withLock { $0 = violations > 0 } },
            isStopped: { found.withLock { $0 } })
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
