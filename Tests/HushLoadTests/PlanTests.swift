import HushBase
import HushCore
import Testing

@testable import HushLoad

@Suite("What a load test sends, and when")
struct PlanTests {
    @Test("a constant rate sends evenly, the first item at once")
    func constant() {
        let schedule = ArrivalSchedule(rate: 100, seconds: 2)
        #expect(schedule.count == 200)
        #expect(schedule.time(of: 0) == .zero)
        #expect(schedule.time(of: 50) == .milliseconds(500))
        #expect(schedule.count(until: .seconds(1)) == 100)
        #expect(schedule.count(until: .seconds(60)) == 200)
    }

    @Test("a ramp rises evenly: after half of its time a quarter of its items")
    func ramp() {
        let schedule = ArrivalSchedule(rate: 100, seconds: 1, ramp: 2)
        #expect(schedule.count == 200)
        #expect(schedule.count(until: .seconds(1)) == 25)
        #expect(schedule.time(of: 25) == .seconds(1))
        #expect(schedule.time(of: 100) == .seconds(2))
    }

    @Test("a profile is steps and ramps; each item is due at its time, whatever the shape")
    func profile() throws {
        let schedule = try ArrivalSchedule(profile: "100/1s,100..300/2s,300..0/500ms")
        #expect(schedule.count == 575)
        #expect(schedule.duration == .milliseconds(3500))
        var last = Duration.zero
        for index in 0..<schedule.count {
            let due = schedule.time(of: index)
            #expect(due >= last)
            last = due
            // Due by then, and not a moment earlier.
            #expect(schedule.count(until: due + .microseconds(10)) >= index)
            #expect(schedule.count(until: due - .microseconds(10)) <= index)
        }
    }

    @Test(
        "a profile that cannot be is refused",
        arguments: ["", "100", "100/0s", "x/1s", "1..2..3/1s", "-5/1s", "100/1s,", "0/5s", "1000000/1d"])
    func badProfiles(text: String) {
        #expect(throws: LoadFault.self) { try ArrivalSchedule(profile: text) }
    }

    private func mix(_ change: (inout LoadMix) -> Void = { _ in }) -> LoadMix {
        var mix = LoadMix()
        mix.distance = 50
        mix.recipients = 200
        change(&mix)
        return mix
    }

    @Test("the shares are what was asked for, and a seed repeats them")
    func shares() {
        let mix = mix { $0.bad = 0.02 }
        let items = (0..<20_000).map(mix.item)
        #expect(items == (0..<20_000).map(mix.item))
        let counts = Dictionary(grouping: items, by: \.kind).mapValues(\.count)
        for (kind, share) in [
            (LoadItem.Kind.read, 0.15), (.retract, 0.02), (.update, 0.03), (.duplicate, 0.05), (.bad, 0.02),
        ] {
            let count = Double(counts[kind] ?? 0)
            #expect(abs(count - share * 20_000) < 120, "\(kind): \(count)")
        }
        #expect(items != (0..<20_000).map(self.mix { $0.seed = 2 }.item))
        let hot = items.filter { $0.kind == .create && $0.recipient < 2 }.count
        #expect(abs(Double(hot) / Double(counts[.create] ?? 1) - 0.109) < 0.02)
    }

    @Test("what happens to a notification happens to one that was made before, for the same recipient")
    func subjects() {
        let mix = mix()
        for index in 0..<5000 {
            let item = mix.item(index)
            switch item.kind {
            case .create, .bad: #expect(item.subject == index)
            default:
                #expect(item.subject < index)
                let subject = mix.item(item.subject)
                #expect(subject.kind == .create && subject.recipient == item.recipient)
            }
        }
    }

    @Test("audiences have their share, and each tag as many devices as are told; other items stay what they were")
    func audiences() {
        let mix = mix {
            $0.audiences = 0.05
            $0.audienceSize = 30
            $0.recipients = 1000
        }
        #expect(mix.groups == 33)
        let members = (0..<1000).reduce(into: [Int: Int]()) { $0[mix.group(of: $1), default: 0] += 1 }
        #expect(members == Dictionary(uniqueKeysWithValues: (0..<33).map { ($0, mix.members(of: $0)) }))
        let items = (0..<20_000).map(mix.item)
        let some = items.enumerated().filter { $0.element.kind == .audience }
        #expect(abs(some.count - 1000) < 120)
        #expect(some.allSatisfy { $0.element.subject == $0.offset && (0..<33).contains($0.element.recipient) })
        #expect(Set(some.map(\.element.recipient)).count == 33)
        // What happens later happens to notifications of one person.
        for item in items where item.kind == .read { #expect(items[item.subject].kind == .create) }
        #expect(self.mix { $0.audiences = 0.9 }.fault != nil)
        #expect(LoadMix.createsOnly(mix).audiences == 0)
    }

    @Test("an intent for an audience names a tag that devices of this run alone have")
    func audienceRecords() {
        var mix = mix {
            $0.bodyBytes = 3
            $0.audiences = 0.1
        }
        mix.run = "load-x-"
        let records = LoadRecords(mix)
        let record = records.record(LoadItem(kind: .audience, subject: 7, recipient: 1))
        #expect(record.topic == .intents && record.key == Array("load-x-t1-7".utf8))
        #expect(
            String(decoding: record.value, as: UTF8.self)
                == #"{"id":"load-x-t1-7","audience":{"all":["load-x-g1"]},"revision":1,"#
                + #""title":"A parcel","body":"abc"}"#)
        let register = String(decoding: records.register(3).value, as: UTF8.self)
        #expect(register.hasSuffix(#","acks":false,"tags":["load-x-g1"]}"#))
        mix.audiences = 0
        #expect(String(decoding: LoadRecords(mix).register(3).value, as: UTF8.self).hasSuffix(#""acks":false}"#))
    }

    @Test("records are what producers write, and their ids lead back to the items of this trial alone")
    func records() throws {
        var mix = mix { $0.bodyBytes = 3 }
        mix.run = "load-x-"
        let records = LoadRecords(mix)
        func text(_ kind: LoadItem.Kind) -> String {
            String(decoding: records.record(LoadItem(kind: kind, subject: 7, recipient: 3)).value, as: UTF8.self)
        }
        let head = #"{"recipient":"load-x-r3","id":"load-x-t1-7""#
        #expect(text(.create) == head + #","revision":1,"title":"A parcel","body":"abc"}"#)
        #expect(text(.duplicate) == text(.create))
        #expect(text(.update) == head + #","revision":2,"title":"A parcel","body":"abc"}"#)
        #expect(text(.retract) == head + #","retract":true}"#)
        #expect(text(.read) == head + #","revision":2}"#)
        #expect(records.record(LoadItem(kind: .read, subject: 7, recipient: 3)).topic == .reads)
        func index(_ id: String) -> Int? { Array(id.utf8).withUnsafeBytes { records.index(of: $0) } }
        #expect(index("load-x-t1-7") == 7)
        for foreign in ["load-x-t2-7", "load-x-t1-", "load-x-t1-7a", "order-42", ""] { #expect(index(foreign) == nil) }
        let token = records.token(3)
        #expect(token.count == 64 && Hex.isHex(token.raw) && token != records.token(4))
    }

    @Test("the search doubles, then halves the gap, and ends near the rate that holds")
    func search() {
        func highest(_ capacity: Double, from start: Double) -> (good: Double?, trials: Int) {
            var search = RateSearch(from: start)
            var trials = 0
            while let rate = search.next {
                trials += 1
                search.tried(held: rate <= capacity)
            }
            return (search.good, trials)
        }
        for capacity in [130.0, 999, 5000, 77_777] {
            for start in [100.0, 1000, 100_000] {
                let found = highest(capacity, from: start)
                let good = found.good ?? 0
                #expect(good <= capacity && good > capacity * 0.9, "\(capacity) from \(start): \(good)")
                #expect(found.trials < 20)
            }
        }
        #expect(highest(0, from: 1000).good == nil)
        #expect(highest(.infinity, from: 1000).good == ArrivalSchedule.rateMax)
    }
}
