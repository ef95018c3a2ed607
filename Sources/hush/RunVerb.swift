import Foundation
import HushBase
import HushWorkers

extension Verb {
    static let run = Verb(
        name: "run", summary: "runs the workers: planner, deliverer, or both", operands: "",
        help: """
            Takes part in the consumer groups of its stages until SIGTERM or SIGINT, which drain what is under way, commit,
            and leave. Metrics, /livez and /readyz are on the admin port. Topics must exist (hush topics create).
            Ends with 1 where it cannot go on, and with 70 where a call into Kafka's client hangs.
            """,
        options: [
            Option(
                name: "stage", value: "STAGES", doc: "plan, deliver, or plan,deliver (the default)",
                setting: HushSettings.stages.definition.key)
        ]
    ) { invocation in
        StopSignal.install()
        let process = try WorkerProcess(invocation.settings, log: invocation.log)
        let failure = try process.run(
            started: {
                invocation.log.info(
                    "the workers run",
                    [
                        "version": .text(Build.version), "kafka": .text(invocation.settings[HushSettings.bootstrap]),
                        "admin_port": .integer(Int64(process.adminPort ?? 0)),
                    ])
            }, isStopped: { StopSignal.isAsked })
        guard let failure else {
            invocation.log.info("the workers ended")
            return .success
        }
        invocation.log.error("the workers cannot go on", ["reason": .text(failure)])
        return .failure
    }
}
