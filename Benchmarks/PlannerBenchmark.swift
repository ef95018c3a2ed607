import Foundation
import HushAudit
import HushCore
import HushStream
import HushWorkers

/// CPU per intent of the planner beside the least that librdkafka can do: read one record, write as many, of the same
/// bytes, in transactions as large.
///
/// Two devices a recipient, so that an intent makes two pushes, a plan line and a mark's changelog. Both take the whole
/// process, librdkafka's threads included, from the first poll to the last commit, on the same topic of the same broker.
enum PlannerBenchmark {
    static let samplesPerTopic = 500

    static func run(_ arguments: Arguments) throws -> Int32 {
        let inputs = PlannerInputs(
            recipients: try arguments.number("recipients", or: 10_000),
            intents: try arguments.number("intents", or: 200_000))
        let topics = try BenchmarkTopics(
            bootstrap: try arguments.text("bootstrap"), partitions: Int32(try arguments.number("partitions", or: 4)))
        let directory = FileManager.default.temporaryDirectory.path + "/hush-planner-\(topics.prefix)"
        // Best effort: a leftover in the temporary directory harms nobody.
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let home = try StateHome(directory: directory)

        let devices = inputs.recipients * PlannerInputs.devicesPerRecipient
        try topics.produce(to: .devices, count: devices) { number in
            let (recipient, device) = number.quotientAndRemainder(dividingBy: PlannerInputs.devicesPerRecipient)
            return (inputs.recipient(recipient), inputs.device(recipient, device))
        }
        _ = try BenchmarkTopics.run(try slot(topics, home), until: devices)
        try topics.produce(to: .intents, count: inputs.intents) { (inputs.recipient($0), inputs.intent($0)) }

        let (status, spent, time) = try BenchmarkTopics.run(try slot(topics, home), until: inputs.intents)
        let planner = spent / Double(inputs.intents)
        try replay(topics, inputs.intents, time, planner)
        let perTransaction = inputs.intents / max(1, Int(status.transactions))
        let pushes = try topics.samples(of: .pushes, count: samplesPerTopic)
        let values = [
            pushes, pushes, try topics.samples(of: .ledger, count: samplesPerTopic),
            try topics.samples(of: .plannerMarks, count: samplesPerTopic),
        ]
        let copy = try CopyLoop.run(
            kafka: topics.kafka, name: topics.name("copy"), input: topics.name(Topic.intents.name),
            output: topics.copies, partitions: topics.partitions, values: values, recordsPerTransaction: perTransaction)
        guard copy.inputs == inputs.intents else {
            throw ChildProcess.Fault(description: "the copy loop read \(copy.inputs) of \(inputs.intents) records")
        }
        report(planner, copy, status, values, inputs)
        return 0
    }

    private static func slot(_ topics: BenchmarkTopics, _ home: StateHome) throws -> StreamSlot<PlannerApplication> {
        var stream = topics.own(
            PlannerConfiguration.stream(
                slotName: "bench", partitionCount: topics.partitions, pushesPartitionCount: topics.partitions))
        // The second slot takes over at once: nobody waits for the first one's session.
        stream.isStaticMember = false
        return try StreamSlot(stream, kafka: topics.kafka, home: home, log: .silent) {
            PlannerApplication(PlannerConfiguration(build: "bench"))
        }
    }

    /// Decides all that the planner decided again, its registrations too; `time` and `micros` are the planner's own.
    private static func replay(
        _ topics: BenchmarkTopics, _ intents: Int, _ time: Duration, _ micros: Double
    ) throws {
        let work = FileManager.default.temporaryDirectory.path + "/hush-replay-\(topics.prefix)"
        var scope = ReplayScope(policy: Policy(), workDirectory: work)
        scope.names = TopicNames(prefix: topics.name(""))
        let (before, start) = (CopyLoop.cpuMicros(), ContinuousClock.now)
        let report = try ReplayRun(topics.kafka, scope).run()
        let (spent, taken) = (CopyLoop.cpuMicros() - before, ContinuousClock.now - start)
        guard report.verdict == .same else { throw ChildProcess.Fault(description: report.text(isWhatIf: false)) }
        func rate(_ count: Int, _ time: Duration) -> Int { count * 1000 / max(1, Int(time / .milliseconds(1))) }
        print(
            "replay: \(report.inputs) inputs, \(report.linesReplayed) lines and \(report.pushesFound) pushes the same, "
                + "\(rate(report.inputs, taken)) inputs a second, "
                + String(format: "%.2f µs CPU/input; ", spent / Double(report.inputs))
                + "the planner took \(rate(intents, time)) intents a second, "
                + String(format: "%.2f µs each (aim: at least as fast)", micros))
    }

    private static func report(
        _ planner: Double, _ copy: CopyLoop.Result, _ status: SlotStatus, _ values: [[[UInt8]]], _ inputs: PlannerInputs
    ) {
        func text(_ number: Double) -> String { String(format: "%.2f", number) }
        let sizes = values.map { samples in samples.reduce(0) { $0 + $1.count } / max(1, samples.count) }
        let outputs = Double(status.recordsOut) / Double(inputs.intents)
        print(
            "planner: \(inputs.intents) intents of \(inputs.intent(0).count) bytes to \(inputs.recipients) recipients, "
                + "\(text(outputs)) records out each, \(status.transactions) transactions; "
                + "copy loop: \(sizes) bytes out each, \(copy.transactions) transactions")
        print(
            "planner: hush \(text(planner)) µs CPU/intent, librdkafka copy loop \(text(copy.cpuMicrosPerInput)) µs, "
                + "ratio \(text(planner / copy.cpuMicrosPerInput)) (aim: at most 3), "
                + "beyond librdkafka \(text(planner - copy.cpuMicrosPerInput)) µs")
    }
}
