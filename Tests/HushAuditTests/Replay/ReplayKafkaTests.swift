import Foundation
import HushBase
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

    private func snapshot(_ keeper: SnapshotKeeper) throws -> SnapshotKeeper.Report {
        _ = try keeper.begin(at: Timestamp(millis: 1_796_000_000_000))
        let deadline = ContinuousClock.now + .seconds(60)
        while keeper.last?.state == .running, ContinuousClock.now < deadline { usleep(5000) }
        return try #require(keeper.last)
    }

    private func keeper(_ planner: PlannedTopics.RunningPlanner) -> SnapshotKeeper {
        SnapshotKeeper(
            home: planner.home, stream: planner.stream, policy: Policy(), build: "test", metrics: Metrics(),
            log: Log("test", to: .standardError(level: .error, format: .json)))
    }

    @Test("a snapshot of a worker that plans on is whole, and a replay of what comes behind it needs no older input")
    func ofRunningWorker() throws {
        let state = topics.newDirectory()
        defer { try? FileManager.default.removeItem(atPath: state) }
        var path = ""
        try topics.withPlanner(state: state) { planner in
            try topics.send(records(0..<300))
            try planner.waitUntilRead(306)
            try topics.deleteInputs()
            try topics.send(records(300..<600))
            try planner.waitUntilRead(307)
            let taken = try snapshot(keeper(planner))
            #expect(taken.state == .done, "\(taken.reason)")
            #expect(taken.partitions == [0, 1])
            path = taken.path
            try topics.send(records(600..<900))
            try planner.waitUntilRead(906)
        }
        #expect(path.hasPrefix(state + "/snapshots/"))
        let report = try replay { $0.stateDirectory = path }
        #expect(report.verdict == .same && report.doubts.isEmpty, "\(report.text(isWhatIf: false))")
        #expect((300..<600).contains(report.inputs), "\(report.inputs)")
        #expect(report.pushesFound == report.pushesReplayed && report.pushesFound >= report.inputs)

        // What lacks a partition that its manifest names, or is of a later build, is refused.
        try FileManager.default.removeItem(atPath: path + "/planner/1")
        #expect(throws: ReplayFault.directory("\(path) lacks partition 1 of its snapshot")) {
            try replay { $0.stateDirectory = path }
        }
        try #"{"format":2}"#.write(toFile: path + "/snapshot.json", atomically: true, encoding: .utf8)
        #expect(
            throws: ReplayFault.directory("\(path)/snapshot.json is of format 2, and this build reads format 1")
        ) { try replay { $0.stateDirectory = path } }
    }

    @Test("without whole partitions there is no snapshot; what ends early or was killed leaves nothing under its name")
    func refusedSnapshots() throws {
        let state = topics.newDirectory()
        defer { try? FileManager.default.removeItem(atPath: state) }
        let files = FileManager.default
        try topics.withPlanner(state: state) { planner in
            try topics.send(records(0..<30))
            try planner.waitUntilRead(36)
            // A killed worker's half: the next one removes it, and touches nothing else.
            let half = state + "/snapshots/2026-12-01T000000.000Z.part/planner/0"
            try files.createDirectory(atPath: half, withIntermediateDirectories: true)
            let stopping = keeper(planner)
            #expect(try files.contentsOfDirectory(atPath: stopping.directory) == [])
            stopping.close()
            let ended = try snapshot(stopping)
            #expect(ended.state == .failed && ended.reason.contains("the process ends"))
            #expect(try files.contentsOfDirectory(atPath: stopping.directory) == [])

            let keeper = keeper(planner)
            let first = try snapshot(keeper)
            #expect(first.state == .done, "\(first.reason)")
            // The same name again: what is there stays as it is.
            let again = try snapshot(keeper)
            #expect(again.state == .failed)
            #expect(
                try files.contentsOfDirectory(atPath: keeper.directory) == [
                    first.path.split(separator: "/").last.map(String.init)
                ])
            for number in 1..<SnapshotKeeper.countMax {
                try files.createDirectory(atPath: "\(keeper.directory)/\(number)", withIntermediateDirectories: true)
            }
            #expect(throws: SnapshotKeeper.Refusal.full("16 snapshots are in \(keeper.directory): remove some")) {
                try keeper.begin(at: Timestamp(millis: 1_796_000_001_000))
            }
        }
        let home = try StateHome(directory: state)
        let stream = PlannerConfiguration.stream(slotName: "s0", partitionCount: 2, pushesPartitionCount: 2)
        let idle = keeper(
            .init(
                slot: try StreamSlot(stream, kafka: topics.kafka, home: home, log: .silent) {
                    PlannerApplication(PlannerConfiguration(build: "test"))
                }, home: home, stream: stream))
        #expect(throws: SnapshotKeeper.Refusal.waiting("no partition of the planner is worked on here")) {
            try idle.begin(at: Timestamp(millis: 1_796_000_002_000))
        }
        let task = try InMemoryTask(stream, partition: 1, home: home)
        #expect(throws: SnapshotKeeper.Refusal.waiting("planner/1 not whole yet: partitions are moving or restored")) {
            try idle.begin(at: Timestamp(millis: 1_796_000_002_000))
        }
        try task.close()
    }

    @Test("a range by time is compared alone: what came before is replayed for the state, what comes after is left")
    func range() throws {
        let (state, snapshot) = (topics.newDirectory(), topics.newDirectory())
        defer { for path in [state, snapshot] { try? FileManager.default.removeItem(atPath: path) } }
        try topics.plan(records(0..<60), state: state)
        // Behind all that is there, and before what a slot that is yet to be started will write.
        let middle = Timestamp(millis: WallClock.nowMillis() + 1)
        try topics.plan(records(60..<100), state: state)
        try StateSnapshot.take(state, to: snapshot)
        let end = Timestamp(millis: WallClock.nowMillis() + 1)

        let later = try replay { $0.from = middle }
        #expect(later.verdict == .same, "\(later.text(isWhatIf: false))")
        #expect(later.inputs == 40 && later.linesRecorded == 40 && later.pushesFound == 40)
        let earlier = try replay { $0.to = middle }
        #expect(earlier.verdict == .same, "\(earlier.text(isWhatIf: false))")
        #expect(earlier.inputs == 66 && earlier.pushesFound == earlier.pushesReplayed)
        // Each of the 40 later ones makes room; the 30 that made room before are not told.
        let other = try replay {
            $0.from = middle
            $0.policy.livePerRecipientMax = 5
            $0.isWhatIf = true
        }
        #expect(other.changes == [DecisionChange(recorded: nil, replayed: .evicted): 40])

        func refusal(_ change: (inout ReplayScope) -> Void) -> String? {
            #expect(throws: ReplayFault.self) { try replay(change) }?.description
        }
        let none = refusal { $0.from = end }
        #expect(none?.hasPrefix("nothing was decided from \(end.rfc3339), as far as ") == true, "\(none ?? "")")
        #expect(
            refusal {
                $0.from = middle
                $0.stateDirectory = snapshot
            } == "all that was decided from \(middle.rfc3339) is in the state already: begin with an older one")
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
