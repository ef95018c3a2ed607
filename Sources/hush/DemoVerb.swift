import Foundation
import HushBase
import HushCore
import HushSimulator

extension Verb {
    static let demo = Verb(
        name: "demo", summary: "runs the whole path in this process and judges the result", operands: "",
        help: """
            Producers, a planner and a deliverer with two slots each, a simulated APNs in some trouble and simulated phones
            of two dialects, on a broker in this process. At the end every screen is compared with what the inputs alone say
            it must show. The exit code is 0 only where all are right and nothing happened that must not.

            The embedded broker is librdkafka's mock cluster, which is no exactly-once; --bootstrap takes a real Kafka on which
            no other hush runs.
            """,
        options: [
            Option(name: "seed", value: "N", doc: "which world (default 7); the same seed makes the same inputs"),
            Option(name: "recipients", value: "N", doc: "people (default 200)"),
            Option(name: "intents", value: "N", doc: "creates, updates and retracts (default 5000)"),
            Option(name: "duplicates", value: "SHARE", doc: "share of intents that are sent twice (default 0.1)"),
            Option(name: "reads", value: "SHARE", doc: "share of notifications that are read (default 0.3)"),
            Option(name: "over", value: "DURATION", doc: "the time that they are spread over (default 15s)"),
            Option(name: "time-limit", value: "DURATION", doc: "when the demo gives up on what is wrong (default 55s)"),
            Option(name: "calm", value: nil, doc: "an APNs without trouble"),
            Option(
                name: "faults", value: nil,
                doc: "phones in trouble too: away, not woken, force-quit; pushes and acknowledgements lost, late, twice"
            ),
            Option(name: "latency", value: "DURATION", doc: "how long an answer of APNs takes (default 2 to 20ms)"),
            Option(name: "bootstrap", value: "HOST:PORT", doc: "use a real Kafka"),
            Option(
                name: "without-workers", value: nil,
                doc: "the world alone, for hush run elsewhere; it logs how its APNs is reached; needs --bootstrap"),
            Option(name: "push-log", value: "FILE", doc: "append a JSON line for each accepted push to FILE"),
            Option(name: "json", value: nil, doc: "the last line on stdout is the report as one JSON object"),
        ]
    ) { invocation in
        let directory = FileManager.default.temporaryDirectory.appending(path: "hush-demo-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var options = try demoOptions(invocation, directory: directory)
        if let pushLog = try invocation.text("push-log").map({ try appending(to: $0) }) {
            // A disk that fills ends the lines, not the demo.
            options.onPushLine = { try? pushLog.write(contentsOf: Data($0)) }
        }
        StopSignal.install()
        let isJSON = invocation.has("json")
        // With --json the words go to stderr, so that a script reads stdout alone.
        let words = isJSON ? FileHandle.standardError : FileHandle.standardOutput
        func say(_ text: String) {
            if !text.isEmpty { try? words.write(contentsOf: Data(text.utf8)) }
        }
        let isLive = !isJSON && Terminal.isOutput && ProcessInfo.processInfo.environment["TERM"] != "dumb"
        var view = DemoView(isLive: isLive, isColored: isLive && Terminal.wantsColor)
        let demo = try Demo(options, log: invocation.log)
        if !options.hasWorkers { invocation.tellAddress(of: demo.apns) }
        say(DemoView.opening(options, phones: demo.phoneCount))
        let report = try demo.run(show: { say(view.frame($0)) }, isStopped: { StopSignal.isAsked })
        say(view.verdict(report))
        if isJSON { print(report.json.text) }
        return report.isGood ? .success : .failure
    }

    private static func demoOptions(_ invocation: Invocation, directory: String) throws -> DemoOptions {
        var options = DemoOptions(directory: directory)
        options.workload.seed = UInt64(try invocation.integer("seed", in: 0...Int.max) ?? 7)
        options.workload.recipients = try invocation.integer("recipients", in: 1...100_000) ?? 200
        options.workload.intents = try invocation.integer("intents", in: 1...1_000_000) ?? 5000
        options.workload.duplicates = try invocation.number("duplicates", in: 0...1) ?? 0.1
        options.workload.reads = try invocation.number("reads", in: 0...1) ?? 0.3
        if let over = try invocation.duration("over") { options.workload.duration = over }
        if let limit = try invocation.duration("time-limit") { options.timeLimit = limit }
        if invocation.has("calm") {
            let latency = options.faults.latency
            options.faults = APNsFaults()
            options.faults.latency = latency
        }
        if invocation.has("faults") {
            if !invocation.has("calm") { options.faults = Demo.harsherFaults }
            options.trouble = WorldTrouble()
        }
        if let latency = try invocation.duration("latency") { options.faults.latency = latency...latency }
        options.hasWorkers = !invocation.has("without-workers")
        if !options.hasWorkers, !invocation.has("bootstrap") {
            throw UsageFault("--without-workers needs --bootstrap: nobody else reaches the embedded broker")
        }
        if let bootstrap = invocation.text("bootstrap") {
            options.bootstrap = bootstrap
            // What an earlier demo left in the topics belongs to other people.
            let run = String(UInt64.random(in: 0...UInt64.max), radix: 36)
            options.workload.recipientPrefix = "demo-\(run)-"
        }
        return options
    }
}
