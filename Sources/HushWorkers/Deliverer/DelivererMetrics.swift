import HushBase
import HushCore

/// The deliverer's counters; slots of one process share them.
struct DelivererMetrics {
    let sent: Counter
    /// By `AnswerClass.rawValue`.
    private let answers: [Counter]
    private let notSent: Counter
    private let unknown: Counter
    /// By `DeliveryOutcome.rawValue`.
    private let ops: [Counter]

    init(_ metrics: Metrics) {
        func answer(_ name: String) -> Counter {
            metrics.counter("hush_push_answers_total", "What became of pushes, by what it asks for.", [("class", name)])
        }
        sent = metrics.counter("hush_pushes_total", "Pushes handed to the APNs client.")
        answers = AnswerClass.allCases.map { answer("\($0)") }
        notSent = answer("notSent")
        unknown = answer("unknown")
        ops = DeliveryOutcome.allCases.map { outcome in
            metrics.counter(
                "hush_delivered_ops_total", "Ops by their outcomes, final or on the way.",
                [("outcome", outcome.name.text)])
        }
    }

    func count(_ result: PushResult) {
        switch result {
        case .answered(let status, let reason, _, _):
            answers[Int(APNsReason.classify(status: status, reason: reason.raw).rawValue)].add()
        case .notSent: notSent.add()
        case .unknown: unknown.add()
        }
    }

    func count(_ line: DeliveryLine) {
        ops[Int(line.outcome.rawValue)].add(line.ops.count)
    }
}
