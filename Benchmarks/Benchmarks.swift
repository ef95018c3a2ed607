import Foundation

/// Measurements, and the processes that scripts/ run to prove things; `hush-benchmarks VERB --name value …`.
@main
struct Benchmarks {
    /// One line a verb.
    static let verbs: [(name: String, run: @Sendable (Arguments) throws -> Int32)] = [
        ("copy", { try CopyProcess.run($0) }),
        ("planner", { try PlannerBenchmark.run($0) }),
        ("planner-task", { try PlannerTaskBenchmark.run($0) }),
        ("audit", { try AuditBenchmark.run($0) }),
        ("apns", { try APNsClientBenchmark.run($0) }),
        ("deliverer", { try DelivererBenchmark.run($0) }),
        ("simulated-apns", { try DelivererBenchmark.serve($0) }),
        ("apns-server", { try APNsClientBenchmark.serve($0) }),
    ]

    static func main() {
        let words = CommandLine.arguments.dropFirst()
        guard let verb = words.first, let chosen = verbs.first(where: { $0.name == verb }) else {
            complain("hush-benchmarks: one of \(verbs.map(\.name).joined(separator: ", "))")
            exit(64)
        }
        do {
            exit(try chosen.run(Arguments(words.dropFirst())))
        } catch {
            complain("hush-benchmarks \(verb): \(error)")
            exit(error is UsageError ? 64 : 1)
        }
    }

    private static func complain(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }
}
