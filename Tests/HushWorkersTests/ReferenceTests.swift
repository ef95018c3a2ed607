import Foundation
import HushCore
import HushStream
import HushWorkers
import Testing

@Suite("The reference pages say what the code does")
struct ReferenceTests {
    private func page(_ name: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: "docs/reference/\(name)"), encoding: .utf8)
    }

    @Test("every code of a dead letter is documented, and no other")
    func documentsDeadCodes() throws {
        let rows = try page("dead-letters.md").split(separator: "\n").map(String.init)
        let start = try #require(rows.firstIndex(of: "| code | meaning |"))
        #expect(Array(rows[(start + 2)...]) == DeadCode.allCases.map { "| `\($0.rawValue)` | \($0.meaning) |" })
    }

    @Test("the table of topics is the plan")
    func documentsTopics() throws {
        let plan = TopicPlan()
        let rows = try page("topics.md").split(separator: "\n").map(String.init).filter { $0.hasPrefix("| `hush.") }
        #expect(rows.count == Topic.allCases.count)
        for (topic, row) in zip(Topic.allCases, rows) {
            let definition = plan.definition(of: topic)
            func value(_ key: String) -> String { definition.configuration[key] ?? "" }
            let cells = row.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            #expect(cells[1] == "`\(topic.name)`")
            #expect(
                Array(cells[3...7]) == [
                    "\(definition.partitionCount)", value("cleanup.policy"), value("retention.ms"),
                    value("delete.retention.ms"), value("max.message.bytes"),
                ])
        }
    }

    @Test("asyncapi.yaml names every topic that others write or read, as the plan makes it")
    func asyncAPIAgrees() throws {
        let lines = try page("asyncapi.yaml").split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        for topic in [Topic.intents, .reads, .devices, .signals, .ledger, .dead] {
            let definition = TopicPlan().definition(of: topic)
            let start = try #require(lines.firstIndex(of: "address: \(topic.name)"), "\(topic.name)")
            let channel = lines[(start + 1)...].prefix { !$0.hasPrefix("address:") }
            #expect(channel.contains("partitions: \(definition.partitionCount)"), "\(topic.name)")
            for key in ["retention.ms", "max.message.bytes"] {
                #expect(channel.contains("\(key): \(definition.configuration[key] ?? "")"), "\(topic.name) \(key)")
            }
        }
    }

    @Test("the ledger's page knows every decision and every outcome")
    func documentsLedger() throws {
        let text = try page("ledger.md")
        for decision in PlanDecision.allCases { #expect(text.contains("`\(decision.name)`")) }
        for outcome in DeliveryOutcome.allCases { #expect(text.contains("`\(outcome.name)`")) }
    }
}
