import Foundation
import HushBase
import HushCore
import HushLoad
import HushSimulator
import HushStream
import HushWorkers

/// A call of `hush load`: its options, and the trials that they ask for.
struct LoadCommand {
    private let invocation: Invocation
    private let kafka: KafkaConfiguration
    private let thresholds: [Threshold]
    private var options: LoadOptions
    private let rate: Double
    private let isJSONOutput: Bool

    init(_ invocation: Invocation, directory: String) throws {
        self.invocation = invocation
        kafka = try KafkaConfiguration(invocation.settings)
        let listed = invocation.text("threshold")?.split(separator: ",").map(String.init) ?? []
        let texts = listed.isEmpty && invocation.has("find-max") ? ["p99<1s"] : listed
        thresholds = try Self.asUsage { try texts.map { try Threshold($0) } }
        rate = try invocation.number("rate", in: 1...ArrivalSchedule.rateMax) ?? 500
        options = LoadOptions(schedule: try Self.schedule(invocation, rate), directory: directory)
        isJSONOutput = invocation.text("json") == "-"
        options.warmUp = try invocation.duration("warm-up") ?? .seconds(2)
        options.drain = try invocation.duration("drain") ?? .seconds(30)
        options.isDeliveryOnly = invocation.has("delivery-only")
        options.workers = try invocation.integer("workers", in: 1...LoadScale.workersMax)
        options.mix = try Self.mix(invocation, rate)
        options.faults = try Self.faults(invocation)
        options.program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        // What was set for this process is set for its workers; a load test has no hour to wait for a budget.
        options.workerArguments =
            ["--deliver.wakeup.burst=0", "--log.format=json"]
            + (try Self.passedOn(invocation.settings))
        if let place = invocation.text("apns") {
            options.hasAPNs = false
            options.workerArguments += ["--apns.production=\(place)", "--apns.sandbox=\(place)"]
        } else if options.workers == nil, !invocation.has("scale") {
            options.hasAPNs = false
        }
    }

    /// What is wrong with an option is a matter of the command line.
    private static func asUsage<Made>(_ make: () throws -> Made) throws -> Made {
        do {
            return try make()
        } catch let fault as LoadFault {
            throw UsageFault(fault.description)
        }
    }

    /// Settings for the workers. Those of the environment they have by themselves.
    private static func passedOn(_ settings: Settings) throws -> [String] {
        try settings.entries.compactMap { entry in
            switch entry.source {
            case .byDefault, .environment: return nil
            case .file, .argument:
                guard entry.shown != Settings.mask else {
                    throw UsageFault("\(entry.key) is a secret: give it by the environment, which the workers share")
                }
                return "--\(entry.key)=\(entry.shown)"
            }
        }
    }

    private static func schedule(_ invocation: Invocation, _ rate: Double) throws -> ArrivalSchedule {
        if let profile = invocation.text("profile") {
            return try asUsage { try ArrivalSchedule(profile: profile) }
        }
        let duration = try invocation.duration("duration") ?? .seconds(30)
        guard duration > .zero, duration.inSeconds * rate <= Double(ArrivalSchedule.itemsMax) else {
            throw UsageFault("--duration must be above zero, and a run have at most \(ArrivalSchedule.itemsMax) items")
        }
        let ramp = try invocation.duration("ramp") ?? .zero
        return ArrivalSchedule(rate: rate, seconds: duration.inSeconds, ramp: ramp.inSeconds)
    }

    private static func mix(_ invocation: Invocation, _ rate: Double) throws -> LoadMix {
        var mix = LoadMix()
        mix.reads = try invocation.number("reads", in: 0...1) ?? mix.reads
        mix.retracts = try invocation.number("retracts", in: 0...1) ?? mix.retracts
        mix.updates = try invocation.number("updates", in: 0...1) ?? mix.updates
        mix.duplicates = try invocation.number("duplicates", in: 0...1) ?? mix.duplicates
        mix.bad = try invocation.number("bad", in: 0...1) ?? mix.bad
        mix.hot = try invocation.number("hot", in: 0...1) ?? mix.hot
        mix.audiences = try invocation.number("audiences", in: 0...1) ?? mix.audiences
        mix.audienceSize = try invocation.integer("audience-size", in: 1...10_000_000) ?? mix.audienceSize
        mix.seed = UInt64(try invocation.integer("seed", in: 0...Int.max) ?? 1)
        mix.recipients = try invocation.integer("recipients", in: 1...10_000_000) ?? mix.recipients
        mix.urgent = invocation.has("urgent")
        // Two seconds of items, so that most have been delivered.
        mix.distance = max(10, Int(rate * 2))
        mix.run = "load-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))-"
        if let fault = mix.fault { throw UsageFault(fault) }
        return mix
    }

    private static func faults(_ invocation: Invocation) throws -> APNsFaults {
        var faults = APNsFaults()
        let latency = try invocation.duration("latency") ?? .milliseconds(40)
        faults.latency = latency...latency
        faults.logNormal = try invocation.number("latency-sigma", in: 0...3).map { .init(median: latency, sigma: $0) }
        faults.tooManyRequests = try invocation.number("too-many", in: 0...1) ?? 0
        faults.unavailable = try invocation.number("unavailable", in: 0...1) ?? 0
        faults.internalError = try invocation.number("error", in: 0...1) ?? 0
        faults.reset = try invocation.number("reset", in: 0...1) ?? 0
        faults.goAwayEvery = try invocation.integer("goaway-every", in: 1...1_000_000)
        faults.slowReaders = try slowReaders(invocation)
        if let text = invocation.text("stall") {
            let parts = text.split(separator: "/").compactMap { try? SettingText.duration(String($0)) }
            guard parts.count == 2, parts[0] > .zero, parts[0] < parts[1] else {
                throw UsageFault("--stall must be two durations, the first the shorter one, as 2s/30s")
            }
            faults.stall = APNsFaults.Stall(every: parts[1], lasts: parts[0])
        }
        return faults
    }

    private static func slowReaders(_ invocation: Invocation) throws -> APNsFaults.SlowReaders? {
        let bytes = try invocation.integer("slow-read", in: 1...1_000_000_000)
        let latency = try invocation.duration("slow-latency")
        guard let share = try invocation.number("slow-readers", in: 0...1) else {
            if bytes == nil, latency == nil { return nil }
            throw UsageFault("--slow-read and --slow-latency say how slow readers are: --slow-readers says how many")
        }
        return APNsFaults.SlowReaders(
            share: share, bytesPerSecond: bytes ?? 20_000, latency: latency ?? .milliseconds(500))
    }

    func run() throws -> ExitCode {
        if let list = invocation.text("scale") { return try scale(list) }
        let (result, tried) = try trials(options)
        if !tried.isEmpty { say(tried) }
        guard let result else {
            say("no rate held\n")
            return .failure
        }
        let title = "hush load: \(words(result))"
        return try tell(LoadReport(title: title, result: result, thresholds: thresholds))
    }

    private func words(_ result: LoadResult) -> String {
        let count = Double(result.schedule.count) / max(1e-9, result.schedule.duration.inSeconds)
        let workers = result.workers.map { ", workers of each stage: \($0)" } ?? ""
        return "\(Int(count.rounded())) items a second for \(SettingText.text(result.schedule.duration))\(workers)"
    }

    /// One run, or with `--find-max` as many as the search takes: the last that held, and a table of all.
    private func trials(_ options: LoadOptions) throws -> (result: LoadResult?, tried: String) {
        let isStopped = { StopSignal.isAsked }
        let run = try LoadRun(options, kafka: kafka, log: StreamLog(invocation.log))
        defer { run.stop() }
        try run.prepare(isStopped: isStopped)
        guard invocation.has("find-max") else {
            return (try run.run(options.schedule, show: show, isStopped: isStopped), "")
        }
        let seconds = (try invocation.duration("duration") ?? .seconds(30)).inSeconds
        let trials = try RateTrials.findMax(from: rate, seconds: seconds, thresholds, isStopped: isStopped) {
            try run.run($0, show: show, isStopped: isStopped)
        }
        return (trials.best, trials.text)
    }

    private func scale(_ list: String) throws -> ExitCode {
        guard let counts = LoadScale.counts(list) else {
            throw UsageFault("--scale must be numbers of workers by commas, as 1,2,4")
        }
        var table = LoadScale()
        for count in counts where !StopSignal.isAsked {
            var own = options
            own.workers = count
            own.directory = "\(options.directory)/\(count)"
            own.mix.run = "\(options.mix.run)w\(count)-"
            try FileManager.default.createDirectory(
                atPath: own.directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            table.take(workers: count, try trials(own).result, thresholds)
        }
        say(table.text)
        return table.holds ? .success : .threshold
    }

    private func show(_ progress: LoadRun.Progress) {
        let line = LoadReport.status(progress)
        if Terminal.isError, !isJSONOutput {
            FileHandle.standardError.write(Data("\r\u{1b}[K\(line)".utf8))
        } else if Int(progress.elapsed.inSeconds.rounded()) % 5 == 0 {
            FileHandle.standardError.write(Data("\(line)\n".utf8))
        }
    }

    private func say(_ text: String) {
        let output = isJSONOutput ? FileHandle.standardError : FileHandle.standardOutput
        if Terminal.isError { FileHandle.standardError.write(Data("\r\u{1b}[K".utf8)) }
        output.write(Data(text.utf8))
    }

    private func tell(_ report: LoadReport) throws -> ExitCode {
        say(report.text)
        let files: [(option: String, text: () -> String)] = [
            ("json", { report.json.text + "\n" }), ("html", { LoadPage.html(report) }),
            ("hgrm", { HistogramText.hgrm(report.result.tracker.histograms[.accept] ?? LatencyHistogram()) }),
        ]
        for (option, text) in files {
            guard let path = invocation.text(option) else { continue }
            if path == "-" {
                FileHandle.standardOutput.write(Data(text().utf8))
            } else {
                try text().write(toFile: path, atomically: true, encoding: .utf8)
            }
        }
        if !report.result.verdicts(thresholds).allSatisfy(\.holds) { return .threshold }
        return report.result.holds(thresholds) ? .success : .failure
    }
}
