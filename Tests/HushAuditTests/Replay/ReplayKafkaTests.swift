import Foundation
import HushCore
import HushStream
import HushWorkers
import Testing

@testable import HushAudit

private let bootstrap = ProcessInfo.processInfo.environment["HUSH_TEST_KAFKA"]

/// Replays on a real broker, on topics of their own.
@Suite("Replay on Kafka", .serialized, .enabled(if: bootstrap != nil, "needs a real Kafka: scripts/test"))
struct ReplayKafkaTests {
    private let topics: PlannedTopics

    init() throws {
        topics = try PlannedTopics("replay", bootstrap)
    }

    private func replay(_ change: (inout ReplayScope) -> Void = { _ in }) throws -> ReplayReport {
        var scope = ReplayScope(policy: Policy(), workDirectory: topics.newDirectory())
        scope.names = TopicNames(prefix: topics.prefix)
        scope.patience = .seconds(60)
        change(&scope)
        let report = try ReplayRun(topics.kafka, scope).run()
        #expect(!FileManager.default.fileExists(atPath: scope.workDirectory))
        return report
    }

    private func records(_ numbers: Range<Int>) -> [(Topic, String, String)] {
        let people = (0..<6).map { "p\($0)" }
        let devices = people.map { name -> (Topic, String, String) in
            (
                .devices, name,
                #"{"recipient":"\#(name)","device":"d","token":"aa0\#(name.dropFirst())","app":"com.example.hush"}"#
            )
        }
        return (numbers.lowerBound == 0 ? devices : [])
            + numbers.map { number in
                let name = people[number % people.count]
                return (.intents, name, #"{"id":"n\#(number)","recipient":"\#(name)","title":"t"}"#)
            }
    }

    @Test("what a planner wrote is replayed the same, other settings show what they would change, nothing is written")
    func same() throws {
        #expect(throws: ReplayFault.self) { try replay() }
        try topics.plan(records(0..<120))
        let ends = try TopicAdmin(topics.kafka).offsets(of: topics.prefix + Topic.pushes.name).map(\.end)
        let report = try replay()
        let pushes = try RecordReader(topics.kafka, topics: [topics.prefix + Topic.pushes.name]).readToEnd().count
        #expect(report.verdict == .same, "\(report.text(isWhatIf: false))")
        #expect(report.inputs == 126 && report.linesReplayed == 126)
        #expect(report.pushesReplayed == pushes && report.pushesFound == pushes && pushes > 100)
        let other = try replay {
            $0.policy.livePerRecipientMax = 5
            $0.isWhatIf = true
        }
        #expect(
            other.changes == [DecisionChange(recorded: nil, replayed: .evicted): 90], "\(other.text(isWhatIf: true))")
        #expect(try TopicAdmin(topics.kafka).offsets(of: topics.prefix + Topic.pushes.name).map(\.end) == ends)
    }

    @Test("a replay begins where a stopped worker's state ends")
    func fromState() throws {
        let (state, snapshot) = (topics.newDirectory(), topics.newDirectory())
        defer { for path in [state, snapshot] { try? FileManager.default.removeItem(atPath: path) } }
        try topics.plan(records(0..<60), state: state)
        #expect(try StateSnapshot.take(state, to: snapshot) == [0, 1])
        #expect(throws: ReplayFault.self) { try StateSnapshot.take(state, to: snapshot) }
        try topics.plan(records(60..<100), state: state)
        let report = try replay { $0.stateDirectory = snapshot }
        #expect(report.verdict == .same, "\(report.text(isWhatIf: false))")
        #expect(report.inputs == 40 && report.pushesFound == 40)
    }

    @Test("what a replay makes goes to topics under its prefix, and is what is in production's")
    func toTopics() throws {
        try topics.plan(records(0..<30))
        let to = topics.prefix + "again."
        let report = try replay { $0.toPrefix = to }
        #expect(report.verdict == .same)
        func values(_ prefix: String) throws -> [[UInt8]?] {
            try RecordReader(topics.kafka, topics: [prefix + Topic.pushes.name]).readToEnd().map(\.value).sorted {
                ($0 ?? []).lexicographicallyPrecedes($1 ?? [])
            }
        }
        #expect(try values(to) == values(topics.prefix))
        #expect(try values(to).count == report.pushesReplayed)
    }
}
