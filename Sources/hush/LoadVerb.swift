import Foundation
import HushBase
import HushCore
import HushLoad
import HushSimulator
import HushStream
import HushWorkers

extension Verb {
    static let load = Verb(
        name: "load", summary: "a load test: open-loop rates, thresholds, reports", operands: "",
        help: """
            Registers people with a device each, and sends intents, reads, retracts, updates, duplicates and broken records at
            the rate that was asked for, whatever becomes of those before. Every latency counts from when its item was meant to
            be sent. With --workers N it starts N planners and N deliverers of this program against a simulated APNs, on a real
            Kafka (kafka.bootstrap) whose topics are there and on which no other hush runs; without it, workers that run already
            are loaded, and acceptance is taken from the ledger. --apns HOST:PORT has the workers push to another APNs on this
            machine, which hush apns can be.

            Thresholds are figures with a limit: p50, p99, p99.9, mean, max of intent to accept; the same of clear (read to
            accept), plan (intent to plan line), deliver (plan line to outcome), audience (to each of its devices), as
            clear.p99<2s; unanswered, lag, rate. Ends with 0, with 99 where a threshold does not hold, and with 1 where it did
            not keep up or could not run.
            """,
        options: loadOptions
    ) { invocation in
        StopSignal.install()
        let directory = FileManager.default.temporaryDirectory.appending(path: "hush-load-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: directory) }
        do {
            return try LoadCommand(invocation, directory: directory).run()
        } catch let fault as LoadFault {
            FileHandle.standardError.write(Data("hush load: \(fault)\n".utf8))
            return .failure
        }
    }

    private static let loadOptions = [
        Option(name: "rate", value: "N", doc: "items a second (default 500)"),
        Option(name: "duration", value: "DURATION", doc: "how long (default 30s)"),
        Option(name: "ramp", value: "DURATION", doc: "rise to the rate for so long before (default 0)"),
        Option(name: "profile", value: "STEPS", doc: "in the place of these: 500/10s,500..2000/30s,2000/60s"),
        Option(name: "warm-up", value: "DURATION", doc: "items of so long are not measured (default 2s)"),
        Option(name: "drain", value: "DURATION", doc: "how long the rest may take at the end (default 30s)"),
        Option(name: "threshold", value: "LIST", doc: "what must hold, by commas, as p99<1s,unanswered<=0"),
        Option(name: "workers", value: "N", doc: "start N planners and N deliverers"),
        Option(
            name: "find-max", value: nil, doc: "search the highest rate that holds (default p99<1s), from --rate up"),
        Option(name: "scale", value: "LIST", doc: "the same load with so many workers each, as 1,2,4; with --find-max"),
        Option(
            name: "delivery-only", value: nil, doc: "write hush.pushes in the planner's place; only new notifications"),
        Option(
            name: "apns", value: "HOST:PORT",
            doc: "where workers push to; apns.ca.file and its key as hush run has them"),
        Option(name: "recipients", value: "N", doc: "people with a device each (default 10000)"),
        Option(name: "seed", value: "N", doc: "which items and faults (default 1)"),
        Option(name: "reads", value: "SHARE", doc: "share of items that are reads (default 0.15)"),
        Option(name: "retracts", value: "SHARE", doc: "share of retracts (default 0.02)"),
        Option(name: "updates", value: "SHARE", doc: "share of updates (default 0.03)"),
        Option(name: "duplicates", value: "SHARE", doc: "share of duplicates (default 0.05)"),
        Option(name: "bad", value: "SHARE", doc: "share of broken records (default 0.001)"),
        Option(name: "hot", value: "SHARE", doc: "share of notifications for a hundredth of the people (default 0.1)"),
        Option(name: "audiences", value: "SHARE", doc: "share of notifications for an audience (default 0)"),
        Option(name: "audience-size", value: "N", doc: "people of an audience (default 100)"),
        Option(name: "urgent", value: nil, doc: "mark notifications urgent, which no wake-up budget holds"),
        Option(name: "latency", value: "DURATION", doc: "APNs answers after so long (default 40ms)"),
        Option(name: "latency-sigma", value: "N", doc: "log-normal around --latency, as 0.5"),
        Option(name: "too-many", value: "SHARE", doc: "share of pushes that APNs answers 429"),
        Option(name: "unavailable", value: "SHARE", doc: "share answered 503 with Retry-After"),
        Option(name: "error", value: "SHARE", doc: "share answered 500"),
        Option(name: "reset", value: "SHARE", doc: "share whose stream is reset, half of them delivered"),
        Option(name: "goaway-every", value: "N", doc: "GOAWAY after so many streams of a connection"),
        Option(name: "slow-readers", value: "SHARE", doc: "share of connections whose peer reads slowly"),
        Option(name: "slow-read", value: "N", doc: "how many bytes a second such a peer reads (default 20000)"),
        Option(name: "slow-latency", value: "DURATION", doc: "its answers take so long at least (default 500ms)"),
        Option(name: "stall", value: "D/D", doc: "APNs stalls for the first at the end of each second, as 2s/30s"),
        Option(name: "json", value: "FILE", doc: "the report as a JSON object; - for standard output"),
        Option(name: "hgrm", value: "FILE", doc: "intent to accept as HdrHistogram's percentile table"),
        Option(name: "html", value: "FILE", doc: "the report as a page with plots"),
    ]
}

extension ExitCode {
    /// A threshold does not hold, as k6 has it.
    static let threshold = ExitCode(rawValue: 99)
}
