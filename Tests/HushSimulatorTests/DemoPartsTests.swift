import HushCore
import HushKit
import Testing

@testable import HushSimulator

@Suite("The ledger's tally")
struct LedgerTallyTests {
    private static func line(_ decision: PayloadValue, id: PayloadValue, offset: Int64) -> PayloadValue {
        [
            "v": 1, "stage": "plan", "decision": decision, "id": id,
            "cause": ["topic": "hush.intents", "partition": 3, "offset": .integer(offset)],
        ]
    }

    @Test("each input and id counts once; a second decision shows")
    func counts() {
        var tally = LedgerTally()
        tally.take(Self.line("planned", id: "a", offset: 1))
        tally.take(Self.line("planned", id: "b", offset: 1))
        tally.take(Self.line("duplicate", id: 42, offset: 2))
        tally.take(Self.line("evicted", id: "z", offset: 2))
        tally.take(["v": 1, "stage": "plan", "order": [["hush.intents", 2]]])
        tally.take(["v": 1, "stage": "deliver", "outcome": "held"])
        #expect(tally.decisions == ["planned": 2, "duplicate": 1, "evicted": 1])
        #expect(tally.outcomes == ["held": 1])
        #expect(tally.decided(of: "hush.intents") == 3)
        #expect(tally.decidedTwice == 0)
        tally.take(Self.line("planned", id: "42", offset: 2))
        #expect(tally.decidedTwice == 1)
    }

    @Test("a line without a decision or a cause is malformed")
    func malformed() {
        var tally = LedgerTally()
        tally.take(["stage": "plan"])
        tally.take(["stage": "plan", "decision": "planned"])
        #expect(tally.malformed == 2)
    }
}

@Suite("The demo's report")
struct DemoReportTests {
    @Test("it is one line of JSON with every count")
    func json() {
        var report = DemoReport()
        report.seed = 7
        report.intents = 5000
        report.screens = 2
        report.screensRight = 2
        report.elapsed = .milliseconds(12_345)
        report.wakeUpsPerDeviceHour = 2.46
        report.readToClearP99 = .milliseconds(3523)
        #expect(report.isGood)
        #expect(
            report.json.text
                == #"{"seed":7,"intents":5000,"duplicates":0,"duplicates_dropped":0,"reads":0,"reads_before_create":0,"#
                + #""held":0,"retried":0,"pushes":0,"screens":2,"screens_right":2,"violations":0,"#
                + #""wakeups_per_device_hour":2.5,"read_to_clear_p99_ms":3523,"seconds":12.3}"#)
    }

    @Test("a wrong screen or a violation makes it bad")
    func bad() {
        var report = DemoReport()
        report.screens = 1
        #expect(!report.isGood)
        report.screensRight = 1
        report.violate("rang_twice", 0)
        #expect(report.isGood)
        report.violate("rang_twice", 2)
        #expect(!report.isGood)
        #expect(report.json.text.contains(#""violations":2,"violated":{"rang_twice":2}"#))
    }
}

@Suite("The simulated world")
struct WorldTests {
    @Test("it hands out every intent and read once, and phones make themselves known")
    func plays() {
        var options = WorkloadOptions()
        options.recipients = 10
        options.intents = 100
        let workload = Workload(options)
        let world = World(workload, seed: 1)
        let begin = Timestamp(seconds: 1_764_583_200)
        var messages: [PhoneMessage] = []
        var elapsed = Duration.zero
        while !world.isOver {
            messages += world.play(until: elapsed, eventsMax: 16, now: begin + elapsed)
            elapsed += .milliseconds(100)
        }
        let intents = workload.events.filter { timed in
            switch timed.event {
            case .show, .retract: true
            default: false
            }
        }.count
        #expect(world.published.intents == intents)
        #expect(messages.filter { $0.topic == .intents }.count == intents)
        #expect(Set(messages.filter { $0.topic == .devices }.map(\.key)).isSubset(of: workload.recipients))
        #expect(world.published.devices >= workload.phones.count)
    }

    @Test("a sender's records leave as JSON; ids that are numbers leave as numbers")
    func records() {
        let show = Workload.Show(
            recipient: "ada", id: "42", revision: 2, title: "a \"b\"", body: "c", life: .seconds(2), mode: .visible,
            urgent: true)
        #expect(
            Workload.Event.show(show).message()?.value.text
                == #"{"recipient":"ada","id":42,"revision":2,"title":"a \"b\"","body":"c","ttl":2,"mode":"visible","#
                + #""urgent":true}"#)
        #expect(
            Workload.Event.retract(recipient: "ada", id: "042", revision: nil).message()?.value.text
                == #"{"recipient":"ada","id":"042","retract":true}"#)
        #expect(
            Workload.Event.read(recipient: "ada", id: "x", revision: 3, phone: nil).message()?.value.text
                == #"{"recipient":"ada","id":"x","revision":3}"#)
    }
}
