import Foundation
import HushBase
import HushCore
import HushSimulator
import Synchronization

extension Verb {
    static let simulate = Verb(
        name: "simulate", summary: "a fleet of phones with phones' faults, in virtual time", operands: "",
        help: """
            Runs the rules of planner, deliverer and app against phones that are offline, locked, force-quit, low on power,
            reinstalled or handed on, and an APNs that stores one push, loses, doubles, delays and refuses some. No Kafka, no
            sockets: a day of 200 phones takes seconds, and a seed repeats it. The exit code is 0 only where every screen of
            the way hush is right at the end and nothing happened that must not; else the shortest story of the first violation is told.
            """,
        options: [
            Option(name: "seed", value: "N", doc: "which fleet (default 1)"),
            Option(name: "seeds", value: "A..B", doc: "many fleets, on all cores"),
            Option(name: "phones", value: "N", doc: "phones in a fleet (default 200)"),
            Option(name: "hours", value: "N", doc: "how long intents come (default 24)"),
            Option(name: "intents-per-day", value: "N", doc: "intents for each person and day (default 20; chat 80)"),
            Option(name: "reads", value: "SHARE", doc: "share of notifications that are read (default 0.3)"),
            Option(name: "fleet", value: "KIND", doc: "calm (default) or chat: bursts of 40 in an hour"),
            Option(
                name: "throttle", value: "on|off", doc: "whether iOS wakes an app at most 3 times an hour (default on)"),
            Option(name: "compare", value: "WAYS", doc: "crt,hush: the same fleet in both, in one table"),
            Option(name: "way", value: "WAY", doc: "hush (default) or crt"),
            Option(name: "household", value: "N", doc: "only this household of the fleet, and its story"),
            Option(name: "threads", value: "N", doc: "default: one a core"),
            Option(name: "json", value: nil, doc: "the last line on stdout is the report as one JSON object"),
        ]
    ) { invocation in
        let options = try simulateOptions(invocation)
        let seeds = try simulateSeeds(invocation)
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let threads = try invocation.integer("threads", in: 1...256) ?? cores
        StopSignal.install()
        let isLive = Terminal.isOutput && !invocation.has("json")
        var outcomes: [FleetOutcome] = []
        for way in try simulateWays(invocation) {
            var own = options
            own.way = way
            let outcome = try FleetRun.run(
                own, seeds: seeds, threads: threads,
                progress: { done, all, violations in
                    guard isLive, all >= 100, done % max(1, all / 200) == 0 || done == all else { return }
                    let words = "\r\(way.rawValue): \(done) of \(all), \(violations) violations"
                    FileHandle.standardError.write(Data((done == all ? words + "\n" : words).utf8))
                },
                isStopped: { StopSignal.isAsked })
            outcomes.append(outcome)
        }
        let report = FleetReport(outcomes)
        let words = invocation.has("json") ? FileHandle.standardError : FileHandle.standardOutput
        func say(_ text: String) { words.write(Data(text.utf8)) }
        say(report.text)
        let failed = outcomes.first { !$0.isGood }
        if let outcome = failed, let first = outcome.violations.first { say(story(outcome, first)) }
        if invocation.has("json") { print(report.json.text) }
        return failed == nil && !StopSignal.isAsked ? .success : .failure
    }

    private static func story(_ outcome: FleetOutcome, _ first: FleetViolation) -> String {
        var text = "\n"
        for violation in outcome.violations.prefix(10) {
            text += "seed \(violation.seed), household \(violation.household)"
            text +=
                "\(violation.phone.map { ", phone \($0)" } ?? ""): \(violation.kind.rawValue): \(violation.detail)\n"
        }
        var options = outcome.options
        options.seed = first.seed
        options.household = first.household
        let trace = FleetRun.trace(options, household: first.household)
        text += "\nagain: hush simulate \(options.arguments)\n\nwhat it takes:\n"
        for line in trace.inputs { text += "  \(line)\n" }
        text += "\nwhat happened:\n"
        for line in trace.lines { text += "  \(line)\n" }
        return text
    }

    private static func simulateOptions(_ invocation: Invocation) throws -> FleetOptions {
        var options = FleetOptions()
        options.phones = try invocation.integer("phones", in: 1...100_000) ?? 200
        options.hours = try invocation.integer("hours", in: 1...72) ?? 24
        if let text = invocation.text("fleet") {
            guard let kind = FleetOptions.Kind(rawValue: text) else { throw UsageFault("--fleet must be calm or chat") }
            options.kind = kind
        }
        let intents = try invocation.integer("intents-per-day", in: 1...1000)
        options.intentsPerDay = intents ?? (options.kind == .chat ? 80 : 20)
        options.reads = try invocation.number("reads", in: 0...1) ?? 0.3
        if let text = invocation.text("throttle") {
            guard text == "on" || text == "off" else { throw UsageFault("--throttle must be on or off") }
            options.isThrottled = text == "on"
        }
        options.household = try invocation.integer("household", in: 0...100_000)
        if invocation.has("compare") { options.faults.keepComparable() }
        return options
    }

    private static func simulateSeeds(_ invocation: Invocation) throws -> ClosedRange<UInt64> {
        guard let text = invocation.text("seeds") else {
            let seed = UInt64(try invocation.integer("seed", in: 0...Int.max) ?? 1)
            return seed...seed
        }
        let ends = text.components(separatedBy: "..").compactMap { UInt64($0) }
        guard ends.count == 2, ends[0] <= ends[1], ends[1] - ends[0] < 1_000_000 else {
            throw UsageFault("--seeds must be two whole numbers, as 1..200, of at most a million seeds")
        }
        return ends[0]...ends[1]
    }

    private static func simulateWays(_ invocation: Invocation) throws -> [FleetOptions.Way] {
        guard let text = invocation.text("compare") ?? invocation.text("way") else { return [.hush] }
        return try text.components(separatedBy: ",").map { name in
            guard let way = FleetOptions.Way(rawValue: name) else {
                throw UsageFault("a way is crt or hush, not \"\(name)\"")
            }
            return way
        }
    }
}
