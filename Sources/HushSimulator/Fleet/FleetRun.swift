public import HushBase
import HushCore
import Synchronization

/// What came of a run: of one way of serving the fleet, over all seeds.
public struct FleetOutcome: Sendable {
    public var options: FleetOptions
    public var seeds: ClosedRange<UInt64>
    public internal(set) var counts = FleetCounts()
    /// In the order of seeds and households; the first few of many.
    public internal(set) var violations: [FleetViolation] = []
    public internal(set) var violationCount = 0

    public var isGood: Bool { violationCount == 0 }
}

/// Runs fleets on all cores: one seed household by household, many seeds fleet by fleet.
public enum FleetRun {
    static let violationsKept = 100

    /// Runs every seed. `progress` is told how many parts of how many are done, from any thread, one call at a time;
    /// `isStopped` is asked before each part, and what is done until then counts. Throws where no thread can be had.
    public static func run(
        _ options: FleetOptions, seeds: ClosedRange<UInt64>, threads: Int,
        progress: @escaping @Sendable (_ done: Int, _ of: Int, _ violations: Int) -> Void = { _, _, _ in },
        isStopped: @escaping @Sendable () -> Bool = { false }
    ) throws(SystemFault) -> FleetOutcome {
        let work = Work(options, seeds)
        let running = min(max(threads, 1), work.parts)
        var others: [NamedThread] = []
        defer { for other in others { other.join() } }
        for number in 0..<running {
            others.append(
                try NamedThread.start(name: "fleet-\(number)", stackBytes: 8 << 20) {
                    work.run(progress: progress, isStopped: isStopped)
                })
        }
        for other in others { other.join() }
        others.removeAll()
        return work.outcome
    }

    /// One household again, with all that happened written down.
    public static func trace(_ options: FleetOptions, household: Int) -> FleetTrace {
        FleetTrace(options, household: household)
    }

    private final class Work: Sendable {
        private struct State {
            var next = 0
            var done = 0
            var outcome: FleetOutcome
        }

        let parts: Int
        private let options: FleetOptions
        private let seeds: ClosedRange<UInt64>
        private let households: [Int]?
        private let state: Mutex<State>

        init(_ options: FleetOptions, _ seeds: ClosedRange<UInt64>) {
            self.options = options
            self.seeds = seeds
            var first = options
            first.seed = seeds.lowerBound
            households = seeds.count == 1 ? FleetScript.households(first) : nil
            parts = households?.count ?? seeds.count
            state = Mutex(State(outcome: FleetOutcome(options: options, seeds: seeds)))
        }

        var outcome: FleetOutcome {
            state.withLock { state in
                state.outcome.violations.sort { ($0.seed, $0.household) < ($1.seed, $1.household) }
                return state.outcome
            }
        }

        func run(progress: (Int, Int, Int) -> Void, isStopped: () -> Bool) {
            let reader = PayloadReader()
            while !isStopped() {
                let part = state.withLock { state in
                    defer { state.next += 1 }
                    return state.next
                }
                if part >= parts { return }
                var own = options
                var counts = FleetCounts()
                var violations: [FleetViolation] = []
                if let households {
                    own.seed = seeds.lowerBound
                    Self.run(own, part, households[part], reader, &counts, &violations)
                } else {
                    own.seed = seeds.lowerBound + UInt64(part)
                    for (number, phones) in FleetScript.households(own).enumerated() {
                        Self.run(own, number, phones, reader, &counts, &violations)
                    }
                }
                state.withLock { state in
                    state.done += 1
                    state.outcome.counts.add(counts)
                    state.outcome.violationCount += violations.count
                    let room = FleetRun.violationsKept - state.outcome.violations.count
                    state.outcome.violations += violations.prefix(max(0, room))
                    progress(state.done, parts, state.outcome.violationCount)
                }
            }
        }

        private static func run(
            _ options: FleetOptions, _ number: Int, _ phones: Int, _ reader: PayloadReader,
            _ counts: inout FleetCounts, _ violations: inout [FleetViolation]
        ) {
            if let only = options.household, only != number { return }
            let script = FleetScript(options, household: number, phones: phones)
            let household = FleetHousehold(options, number: number, script, reader: reader)
            household.run()
            counts.add(household.counts)
            violations += household.violations
        }
    }
}
