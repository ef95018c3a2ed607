import Foundation
import HushBase
import HushSimulator
import Testing

@Suite("The demo", .serialized)
struct DemoTests {
    /// A small world in a hurry; half of its time is for workers to start on a busy machine.
    private static func run(_ change: (inout DemoOptions) -> Void = { _ in }) throws -> DemoReport {
        let directory = FileManager.default.temporaryDirectory.appending(path: "hush-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        var options = DemoOptions(directory: directory.path)
        options.workload.seed = 7
        options.workload.recipients = 20
        options.workload.intents = 400
        options.workload.duration = .seconds(3)
        change(&options)
        return try Demo(options, log: .silent).run(show: { _ in })
    }

    @Test("every screen ends as the inputs say, through an APNs in trouble", .timeLimit(.minutes(3)))
    func right() throws {
        let report = try Self.run { options in
            options.timeLimit = .seconds(120)
            options.faults.tooManyRequests = 0.05
            options.faults.unavailable = 0.05
        }
        #expect(report.isGood, "\(report.json)")
        #expect(report.intents == 400)
        #expect(report.screens == report.screensRight)
        #expect(report.duplicatesDropped > 0 && report.readsBeforeCreate > 0 && report.retried > 0)
    }

    @Test("every screen ends right where phones are away and pushes are lost", .timeLimit(.minutes(3)))
    func troubled() throws {
        let report = try Self.run(Self.trouble)
        Self.expectTrouble(report)
    }

    @Test(
        "every screen ends right in all that trouble on a real Kafka", .timeLimit(.minutes(3)),
        .enabled(if: bootstrap != nil, "needs a real Kafka: scripts/test"))
    func troubledOnKafka() throws {
        let report = try Self.run { options in
            Self.trouble(&options)
            options.bootstrap = Self.bootstrap
            options.workload.recipientPrefix = "demo-\(UUID().uuidString)-"
        }
        Self.expectTrouble(report)
    }

    private static let bootstrap = ProcessInfo.processInfo.environment["HUSH_TEST_KAFKA"]

    /// Shares and spells are so large that two hundred pushes meet each fault; a slow machine sends more.
    private static func trouble(_ options: inout DemoOptions) {
        options.timeLimit = .seconds(150)
        options.faults = Demo.harsherFaults
        options.faults.goAwayEvery = 100
        options.trouble = WorldTrouble()
        options.trouble.spells = [.offline: 0.5, .locked: 0.3, .forceQuit: 0.2, .starved: 0.3, .off: 0.2]
        options.trouble.lengths = 0.3...1
        (options.trouble.lost, options.trouble.late, options.trouble.ackLost) = (0.1, 0.1, 0.1)
    }

    private static func expectTrouble(_ report: DemoReport) {
        #expect(report.isGood, "\(report.json)")
        for fault: FleetFault in [.offline, .forceQuit, .lost, .late, .ackLost, .stored, .held] {
            #expect(report.troubles[fault] ?? 0 > 0, "\(fault.name)")
        }
        #expect(report.wakeUpsPerDeviceHour > 0 && report.readToClearP99 > .zero)
    }

    @Test("phones that merge wrongly are found out", .timeLimit(.minutes(3)))
    func wrong() throws {
        let report = try Self.run { options in
            options.timeLimit = .seconds(40)
            options.filter = BrokenMerging.ignoringRetracts
        }
        #expect(!report.isGood)
        #expect(report.screensRight < report.screens)
    }
}
