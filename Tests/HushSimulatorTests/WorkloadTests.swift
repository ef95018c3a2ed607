import HushCore
import Testing

@testable import HushSimulator

@Suite("Workloads")
struct WorkloadTests {
    private static func options(seed: UInt64 = 7) -> WorkloadOptions {
        var options = WorkloadOptions()
        options.seed = seed
        options.recipients = 40
        options.intents = 1000
        return options
    }

    @Test("a seed repeats its workload, another one makes another")
    func seeded() {
        let first = Workload(Self.options())
        #expect(first.events == Workload(Self.options()).events)
        #expect(first.events != Workload(Self.options(seed: 8)).events)
    }

    @Test("it has what it was asked for, in the order of time")
    func shares() {
        let workload = Workload(Self.options())
        var intents = 0
        var repeats = 0
        var reads = 0
        for timed in workload.events {
            switch timed.event {
            case .show, .retract: if timed.isDuplicate { repeats += 1 } else { intents += 1 }
            case .read: reads += 1
            default: break
            }
        }
        #expect(intents == 1000)
        #expect((60...140).contains(repeats))
        #expect((200...400).contains(reads))
        #expect(workload.events.map(\.at) == workload.events.map(\.at).sorted())
        #expect(Set(workload.phones.map(\.dialect)) == [.hush, .crt])
    }

    @Test("an update never comes before its create, and a repeat never before its event")
    func order() {
        var revisions: [Bytes: Int64] = [:]
        var seen: Set<Workload.Event> = []
        for timed in Workload(Self.options()).events {
            if case .show(let show) = timed.event, !timed.isDuplicate {
                #expect(show.revision <= (revisions[show.id] ?? 0) + 1)
                revisions[show.id] = max(revisions[show.id] ?? 0, show.revision)
            }
            if timed.isDuplicate { #expect(seen.contains(timed.event)) }
            seen.insert(timed.event)
        }
    }

    @Test("no recipient has more live notifications than the planner keeps")
    func bounded() {
        var options = Self.options()
        options.recipients = 2
        options.reads = 0
        let workload = Workload(options)
        let oracle = Oracle(workload)
        for phone in workload.phones.indices {
            #expect(oracle.screen(of: phone, at: .seconds(15)).count <= 64)
        }
    }
}

@Suite("The oracle")
struct OracleTests {
    private static func workload(_ events: [Workload.Event], dialect: Dialect = .hush) -> Workload {
        var workload = Workload()
        workload.phones = [.init(owner: "ada", device: "ada-phone", dialect: dialect, appears: .zero)]
        workload.events = events.enumerated().map { .init(at: .seconds($0), event: $1) }
        return workload
    }

    private static func show(
        _ revision: Int64, _ title: Bytes = "t", life: Duration? = nil, to recipient: Bytes = "ada"
    ) -> Workload.Event {
        .show(
            .init(
                recipient: recipient, id: "a", revision: revision, title: title, body: "", life: life, mode: .silent,
                urgent: false))
    }

    @Test(
        "what stands on a screen at the end",
        arguments: [
            ([show(1)], 1), ([show(1), show(2)], 2), ([show(2), show(1)], 2),
            ([show(1), .retract(recipient: "ada", id: "a", revision: nil)], nil),
            ([.retract(recipient: "ada", id: "a", revision: nil), show(1), show(9)], nil),
            ([show(1), .retract(recipient: "ada", id: "a", revision: 1), show(2)], 2),
            ([.read(recipient: "ada", id: "a", revision: 1, phone: nil), show(1)], nil),
            ([show(1), show(2), .read(recipient: "ada", id: "a", revision: 1, phone: 0)], 2),
            ([show(1), .read(recipient: "bob", id: "a", revision: 1, phone: nil)], 1),
            ([show(1, life: .seconds(2))], nil), ([show(1, life: .seconds(200))], 1),
            ([show(1), show(2, life: .seconds(2))], nil), ([show(1, life: .seconds(2)), show(2)], 2),
            ([show(1, to: "bob")], nil), ([show(1), .moved(phone: 0, to: "bob")], nil),
            ([show(1, to: "bob"), .moved(phone: 0, to: "bob")], 1),
        ] as [([Workload.Event], Int64?)])
    func screens(events: [Workload.Event], revision: Int64?) {
        let screen = Oracle(Self.workload(events)).screen(of: 0, at: .seconds(100))
        #expect(screen == (revision.map { ["a": ScreenEntry(title: "t", revision: $0)] } ?? [:]))
    }

    @Test("of two contents under one revision the first stands, and crt phones know no revisions")
    func conflicts() {
        let events = [Self.show(1, "first"), Self.show(1, "second")]
        #expect(
            Oracle(Self.workload(events, dialect: .crt)).screen(of: 0, at: .seconds(100))
                == ["a": ScreenEntry(title: "first", revision: nil)])
    }
}
