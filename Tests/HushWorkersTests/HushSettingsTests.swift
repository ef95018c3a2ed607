import Foundation
import HushBase
import HushCore
import HushStream
import Testing

@testable import HushWorkers

@Suite struct HushSettingsTests {
    @Test("the reference page is the table")
    func reference() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        let page = try String(contentsOf: root.appendingPathComponent("docs/reference/settings.md"), encoding: .utf8)
        #expect(page == SettingsReference.markdown(), "run: hush config --markdown >docs/reference/settings.md")
    }

    @Test("the defaults make the default policy")
    func defaults() throws {
        #expect(try Policy(Settings(table: HushSettings.table)) == Policy())
    }

    @Test("every setting of the rules reaches the policy")
    func policy() throws {
        let values = [
            "planner.life.default": "1d", "planner.life.max": "2d", "planner.dedupe.window": "5d",
            "planner.live.max": "3",
            "planner.devices.max": "4", "planner.slice.max": "12", "planner.slice.rate": "13",
            "planner.audiences.max": "14", "planner.slice.waiting": "15",
            "deliver.battery.low": "0.5", "deliver.hold.probe": "1m",
            "deliver.hold.max": "2m", "deliver.hint.max": "3m", "deliver.reading.max": "4m", "deliver.ops.max": "5",
            "deliver.quiet.max": "5m", "deliver.repeat.intervals": "1m,2m", "deliver.retry.base": "2s",
            "deliver.retry.max": "3s", "deliver.parked.max": "6", "deliver.wakeup.burst": "7",
            "deliver.wakeup.hourly": "8", "deliver.wakeup.wait": "9s", "deliver.wakeup.prompt": "10s",
            "deliver.rest": "11s",
        ]
        let keys = HushSettings.table.definitions.map(\.key).filter {
            $0.hasPrefix("planner.") || $0.hasPrefix("deliver.")
        }
        #expect(Set(values.keys) == Set(keys))
        var loader = SettingsLoader(table: HushSettings.table)
        for (key, value) in values { loader.addArgument(key, value) }
        let policy = try Policy(loader.load())
        var expected = Policy()
        expected.lifeDefault = .seconds(86_400)
        expected.lifeMax = .seconds(2 * 86_400)
        expected.dedupeWindow = .seconds(5 * 86_400)
        expected.livePerRecipientMax = 3
        expected.devicesPerRecipientMax = 4
        expected.sliceOpsMax = 12
        expected.sliceRate = 13
        expected.audiencesMax = 14
        expected.sliceWaitingMax = 15
        expected.batteryLow = 0.5
        expected.holdProbe = .seconds(60)
        expected.holdMax = .seconds(120)
        expected.hintMax = .seconds(180)
        expected.readingAgeMax = .seconds(240)
        expected.opsPerAddressMax = 5
        expected.quietMax = .seconds(300)
        expected.repeatIntervals = [.seconds(60), .seconds(120)]
        expected.retryBase = .seconds(2)
        expected.retryMax = .seconds(3)
        expected.opsParkedMax = 6
        expected.wakeUpBurst = 7
        expected.wakeUpsPerHour = 8
        expected.createBudgetWaitMax = .seconds(9)
        expected.promptAck = .seconds(10)
        expected.addressRest = .seconds(11)
        #expect(policy == expected)
    }

    @Test("a window shorter than the longest life and a day is refused, and the message says what to raise")
    func contradiction() throws {
        var loader = SettingsLoader(table: HushSettings.table)
        loader.addArgument("planner.dedupe.window", "6d")
        let settings = try loader.load()
        let fault = #expect(throws: SettingsFault.self) { try Policy(settings) }
        #expect(fault?.description.contains("planner.dedupe.window") == true)
    }

    @Test(
        "times of a slot that contradict each other are refused with their keys and what to raise",
        arguments: [
            (
                "run.transaction.timeout", "2s",
                "run.transaction.timeout (2s) must be longer than run.commit.interval (200ms) and run.drain.max (2s) "
                    + "together: raise it"
            ),
            (
                "run.session.timeout", "6s",
                "run.session.timeout (6s) must be longer than run.transaction.timeout (6s): raise it"
            ),
        ])
    func times(key: String, value: String, message: String) throws {
        var loader = SettingsLoader(table: HushSettings.table)
        loader.addArgument(key, value)
        let settings = try loader.load()
        let fault = #expect(throws: SettingsFault.self) { try SlotTimes(settings) }
        #expect(fault?.problems == [message])
    }

    @Test("an input may stand for longer than a loop, and the message says what to raise")
    func probes() throws {
        #expect(try ProbeLimits(Settings(table: HushSettings.table)).progressMax == .seconds(300))
        var loader = SettingsLoader(table: HushSettings.table)
        loader.addArgument("admin.stall.max", "5m")
        let settings = try loader.load()
        let fault = #expect(throws: SettingsFault.self) { try ProbeLimits(settings) }
        #expect(
            fault?.problems == ["admin.progress.max (5m) must be longer than admin.stall.max (5m): raise it"])
    }

    @Test("a long session brings a longer poll interval with it, so that a slot can be started")
    func longSession() throws {
        var loader = SettingsLoader(table: HushSettings.table)
        loader.addArgument("run.session.timeout", "15m")
        let times = try SlotTimes(try loader.load())
        let stream = times.applied(
            to: DelivererConfiguration.stream(slotName: "t", partitionCount: 4, plannerPartitionCount: 4))
        #expect(stream.sessionTimeout == .seconds(900) && stream.pollInterval == .seconds(950))
        try stream.check()
    }

    @Test(
        "stages are plan, deliver or both, each once",
        arguments: [("plan", 1), ("deliver,plan", 2), ("plan,plan", nil), ("", nil)])
    func stages(text: String, count: Int?) throws {
        var loader = SettingsLoader(table: HushSettings.table)
        loader.addArgument("run.stages", text)
        #expect((try? loader.load())?[HushSettings.stages].count == count)
    }
}

@Suite struct DeploymentSettingsTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "../..")

    @Test(
        "every variable of the deployment files is a setting",
        arguments: [
            "docker-compose.yml", "Dockerfile", "deploy/base/planner.yaml", "deploy/base/deliverer.yaml",
        ])
    func variables(path: String) throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
        let names = Set(text.matches(of: /HUSH_[A-Z_]+/).map { String($0.0) })
        #expect(names.subtracting(HushSettings.table.definitions.map(\.environmentName)) == [])
        #expect(!names.isEmpty)
    }

    @Test(
        "every setting on a command line of the deployment files exists",
        arguments: [
            "docker-compose.yml", "deploy/base/planner.yaml", "deploy/base/deliverer.yaml",
        ])
    func arguments(path: String) throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
        var loader = SettingsLoader(table: HushSettings.table)
        let given = text.matches(of: /--([a-z.]+\.[a-z.]+)=([^\],\s]+)/)
        for match in given { loader.addArgument(String(match.1), String(match.2)) }
        _ = try loader.load()
        #expect(!given.isEmpty)
    }

    @Test("the properties file of the Kubernetes base is right")
    func properties() throws {
        var loader = SettingsLoader(table: HushSettings.table)
        loader.addFile(Self.root.appendingPathComponent("deploy/base/hush.properties").path, required: true)
        let settings = try loader.load()
        #expect(settings[HushSettings.sessionTimeout] > settings[HushSettings.transactionTimeout])
        _ = try Policy(settings)
    }

    @Test("21, 22: a hanging transaction holds others for 6 s at most, and the admin port is this machine's")
    func safeDefaults() throws {
        let settings = Settings(table: HushSettings.table)
        #expect(settings[HushSettings.transactionTimeout] <= .seconds(6))
        #expect(settings[HushSettings.adminHost] == "127.0.0.1")
    }
}
