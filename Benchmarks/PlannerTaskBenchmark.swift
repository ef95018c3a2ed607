import CLinux
import Foundation
import HushBase
import HushCore
import HushStream
import HushWorkers

/// What the planner's own code takes for an intent: its task on state in memory, without Kafka and disk.
///
/// The figure of one thread's CPU time, between commits; a profiler sees little else. Its numbers serve to compare two
/// builds: what an intent costs in all, the `planner` verb tells.
enum PlannerTaskBenchmark {
    static let recordsPerCommit = 5000

    static func run(_ arguments: Arguments) throws -> Int32 {
        let inputs = PlannerInputs(
            recipients: try arguments.number("recipients", or: 2000),
            intents: try arguments.number("intents", or: 50_000)
        )
        let stream = PlannerConfiguration.stream(slotName: "bench", partitionCount: 1, pushesPartitionCount: 1)
        let memory = InMemoryTask(stream)
        let task = PlannerApplication(PlannerConfiguration(build: "bench")).makeTask(partition: 0)
        try task.restored(memory.context)
        let start = WallClock.nowMillis()
        func input(_ topic: Topic) -> Int { Topic.plannerInputs.firstIndex(of: topic) ?? 0 }
        for recipient in 0..<inputs.recipients {
            for device in 0..<PlannerInputs.devicesPerRecipient {
                try memory.process(
                    task, input: input(.devices),
                    offset: Int64(recipient * PlannerInputs.devicesPerRecipient + device), appendMillis: start,
                    key: inputs.recipient(recipient), value: inputs.device(recipient, device))
            }
        }
        _ = try memory.commit(task)

        let intents = input(.intents)
        var spent = 0.0
        var sent = 0
        for first in stride(from: 0, to: inputs.intents, by: recordsPerCommit) {
            let numbers = first..<min(first + recordsPerCommit, inputs.intents)
            let records = numbers.map { (inputs.recipient($0), inputs.intent($0)) }
            let before = threadCPUMicros()
            for (number, (key, value)) in zip(numbers, records) {
                try memory.process(
                    task, input: intents, offset: Int64(number), appendMillis: start + Int64(number), key: key,
                    value: value)
            }
            spent += threadCPUMicros() - before
            sent += try memory.commit(task).count
        }
        let micros = String(format: "%.2f", spent / Double(inputs.intents))
        print("planner task: \(micros) µs CPU an intent (\(inputs.intents) intents, \(sent) records sent)")
        return 0
    }

    private static func threadCPUMicros() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
}
