import Foundation
import HushBase
import HushWorkers

extension Verb {
    static let topics = Verb(
        name: "topics", summary: "makes or verifies the topics", operands: "create|check",
        help: """
            create makes the topics that are missing and commits the first offsets of the workers' groups where they
            have none; what is there already is checked and never changed. Run it before the first worker.
            check compares partitions, timestamps, cleanup and retention with the settings (hush config topics).
            Both print what is wrong, and how to mend it, and end with 1 where something is.
            """,
        options: [Option(name: "timeout", value: "DURATION", doc: "how long to wait for the brokers (30s)")]
    ) { invocation in
        guard let action = invocation.operands.first, invocation.operands.count == 1 else {
            throw UsageFault("hush topics takes create or check")
        }
        let timeout = try invocation.duration("timeout") ?? .seconds(30)
        switch action {
        case "create":
            let outcome = try TopicSetup.create(invocation.settings, timeout: timeout, log: invocation.log)
            for name in outcome.created { print("created \(name)") }
            for (group, count) in outcome.committed.sorted(by: { $0.key < $1.key }) where count > 0 {
                print("committed the first offsets of \(count) partitions for \(group)")
            }
            return report(outcome.problems)
        case "check":
            return report(try TopicSetup.check(invocation.settings, timeout: timeout, log: invocation.log))
        default:
            throw UsageFault("hush topics takes create or check, and not \(action)")
        }
    }

    private static func report(_ problems: [String]) -> ExitCode {
        for problem in problems { print(problem) }
        if problems.isEmpty { print("all \(Topic.allCases.count) topics are as they must be") }
        return problems.isEmpty ? .success : .failure
    }
}
