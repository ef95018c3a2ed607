import HushAudit
import HushCore
import HushKit
import HushSimulator
import HushWorkers
import Testing

/// Audiences through the whole path, with planners that abort and crash between any two slices.
@Suite("The path: audiences")
struct AudiencePathTests {
    struct Member {
        var phone: SimulatedPhone
        var tags: [String]
    }

    static func policy() -> Policy {
        var policy = Policy()
        policy.sliceOpsMax = 2
        policy.sliceRowsMax = 3
        policy.wakeUpBurst = 0
        return policy
    }

    /// Phones with some of the tags each, most of them of a person of their own.
    static func members(
        _ count: Int, on path: VirtualPath, _ random: inout SplitMix64
    ) throws -> [Member] {
        var members: [Member] = []
        for number in 0..<count {
            let owner = "u\(number % 9 == 8 ? number - 1 : number)"
            let phone = try path.phone(Bytes(owner), token: Bytes("aa\(1_000_000 + number * 2)0"))
            let tags = ["ios", "de", "muted"].filter { _ in random.chance(0.5) }
            try setTags(tags, of: phone, on: path)
            members.append(Member(phone: phone, tags: tags))
        }
        return members
    }

    static func setTags(_ tags: [String], of phone: SimulatedPhone, on path: VirtualPath) throws {
        let number = phone.device.text.dropFirst()
        let list = tags.map { "\"\($0)\"" }.joined(separator: ",")
        path.publish(
            .devices,
            #"{"device":"\#(phone.device)","token":"\#(phone.token)","app":"\#(VirtualPath.app)","dialect":"hush","#
                + #""acks":true,"install":"i\#(number)","tags":[\#(list)]}"#, key: phone.owner.text)
        try path.settle()
    }

    /// How many creates of an id went to each device, by the records of `hush.pushes`.
    static func creates(_ id: Bytes, on path: VirtualPath) -> [Bytes: Int] {
        let reader = PayloadReader()
        var devices: [[UInt8]: Bytes] = [:]
        var counts: [Bytes: Int] = [:]
        for (key, value) in path.records(.pushes) {
            let record = reader.read(value)
            if let device = record?["device"]?.string { devices[key] = device }
            for op in record?["ops"]?.array ?? [] where op["op"] == "create" && op["id"]?.id == id {
                counts[devices[key] ?? "", default: 0] += 1
            }
        }
        return counts
    }

    @Test(
        "whatever aborts or crashes between slices, each phone that matches gets one create, and the books balance",
        arguments: 0..<8 as Range<UInt64>)
    func exactlyOnce(seed: UInt64) throws {
        let path = try VirtualPath(policy: Self.policy())
        var random = SplitMix64(seed: seed)
        let members = try Self.members(20, on: path, &random)
        path.publish(
            .intents, #"{"id":"promo","audience":{"all":["ios"],"none":["muted"]},"title":"t"}"#, key: "promo")
        path.publish(.intents, #"{"id":"brief","audience":{"any":["de"]},"title":"t"}"#, key: "brief")
        var isRetracted = false
        for step in 0..<40 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1: try path.abortPlanning()
            case 2: try path.crashDelivery()
            default: try path.pass(.milliseconds(Int64.random(in: 0..<40, using: &random)))
            }
            if !isRetracted, !Self.creates("brief", on: path).isEmpty {
                isRetracted = true
                path.publish(.intents, #"{"id":"brief","audience":true,"retract":true}"#, key: "brief")
            }
            if step == 20 {
                path.publish(
                    .intents, #"{"id":"promo","audience":{"all":["ios"],"none":["muted"]},"title":"t"}"#, key: "promo")
            }
        }
        try path.pass(.seconds(60))
        for member in members {
            let matches = member.tags.contains("ios") && !member.tags.contains("muted")
            #expect(member.phone.shown == (matches ? ["promo"] : []), "\(member.phone.device) \(member.tags)")
            #expect(!member.phone.rangTwice)
        }
        let expected = members.filter { $0.tags.contains("ios") && !$0.tags.contains("muted") }.map(\.phone.device)
        #expect(Self.creates("promo", on: path) == Dictionary(uniqueKeysWithValues: expected.map { ($0, 1) }))
        #expect(isRetracted && Self.creates("brief", on: path).values.allSatisfy { $0 == 1 })
        #expect(path.books.problems == [])
        let audit = try path.audit()
        #expect(audit.verdict == .proved, "\(audit.text)")
        // The binds of new installs are quiet, and wait for a push to ride on.
        #expect(path.books.pending.allSatisfy { $0.kind == "bind" })
        #expect(path.books.unfinishedSliceOps == 0)
        #expect(path.decisions("promo").filter { $0 == "planned" }.count == 4)
        #expect(path.decisions("promo").filter { $0 == "duplicate" }.count == 4)
    }

    @Test("15: a tag that is gone keeps nobody from the update and the retract")
    func tagsGone() throws {
        let path = try VirtualPath(policy: Self.policy())
        let phone = try path.phone("ada")
        try Self.setTags(["de"], of: phone, on: path)
        path.publish(.intents, #"{"id":"promo","audience":{"all":["de"]},"title":"t"}"#, key: "promo")
        try path.pass(.seconds(5))
        #expect(phone.shown == ["promo"])
        try Self.setTags([], of: phone, on: path)
        path.publish(.intents, #"{"id":"promo","revision":2,"audience":{"all":["de"]},"title":"u"}"#, key: "promo")
        try path.pass(.seconds(5))
        #expect(phone.entries["promo"]?.revision == 2)
        path.publish(.intents, #"{"id":"promo","audience":{"all":["de"]},"retract":true}"#, key: "promo")
        try path.pass(.seconds(5))
        #expect(phone.shown == [])
    }

    @Test(
        "15: registers and tag changes during a job: who comes to match before it ends is reached, over aborts and crashes",
        arguments: 0..<8 as Range<UInt64>)
    func changesDuring(seed: UInt64) throws {
        var policy = Self.policy()
        policy.sliceRate = 40
        policy.sliceOpsMax = 1
        let path = try VirtualPath(policy: policy)
        var random = SplitMix64(seed: seed)
        var members = try Self.members(48, on: path, &random)
        path.publish(.intents, #"{"id":"promo","audience":{"all":["ios"],"none":["muted"]},"title":"t"}"#, key: "promo")
        try path.settle()
        var (isOwed, mayHave): (Set<Bytes>, Set<Bytes>) = ([], [])
        func note(_ member: Member) {
            guard !member.tags.contains("muted") else {
                // The walk may not have come by yet.
                if member.phone.shown.isEmpty { isOwed.remove(member.phone.device) }
                return
            }
            mayHave.insert(member.phone.device)
            // Once the walk of its partition is over, a change makes nobody belong.
            let ended = path.lines().contains { line in
                line["id"]?.id == "promo" && line["last"] == true
                    && line["cause"]?["partition"]?.integer == Int64(path.partition(of: member.phone.owner))
            }
            if !ended { isOwed.insert(member.phone.device) }
        }
        for member in members where member.tags.contains("ios") && !member.tags.contains("muted") {
            mayHave.insert(member.phone.device)
        }
        for step in 0..<30 {
            if Int.random(in: 0..<10, using: &random) == 0 { try path.abortPlanning() }
            if step.isMultiple(of: 10) {
                let number = members.count
                let phone = try path.phone(Bytes("n\(number)"), token: Bytes("bb\(1_000_000 + number * 2)0"))
                members.append(Member(phone: phone, tags: []))
            }
            let index = Int.random(in: 0..<members.count, using: &random)
            let tags = Bool.random(using: &random) ? ["ios"] : ["ios", "muted"]
            members[index].tags = tags
            note(members[index])
            try Self.setTags(tags, of: members[index].phone, on: path)
            try path.pass(.milliseconds(Int64.random(in: 0..<20, using: &random)))
        }
        try path.pass(.seconds(60))
        // Some changes must have come in time, or this shows nothing.
        #expect(isOwed.count >= 3)
        for member in members {
            let device = member.phone.device
            if isOwed.contains(device) { #expect(member.phone.shown == ["promo"], "\(device) \(member.tags)") }
            if !mayHave.contains(device) { #expect(member.phone.shown == [], "\(device) \(member.tags)") }
        }
        let creates = Self.creates("promo", on: path)
        #expect(creates.values.allSatisfy { $0 == 1 })
        #expect(Set(creates.keys) == Set(members.filter { $0.phone.shown == ["promo"] }.map(\.phone.device)))
        #expect(path.books.problems == [])
        #expect(path.books.unfinishedSliceOps == 0)
        path.publish(.intents, #"{"id":"promo","audience":true,"retract":true}"#, key: "promo")
        try path.settle()
        try path.pass(.seconds(60))
        for member in members { #expect(member.phone.shown == [], "\(member.phone.device) \(member.phone.owner)") }
        #expect(path.books.problems == [])
        // What registers behind the walk brought has lines of its own.
        let brought = path.lines().count { $0["id"]?.id == "promo" && $0["cause"]?["topic"]?.id == "hush.devices" }
        #expect(brought > 0)
        let report = try path.audit()
        #expect(report.verdict == .proved, "\(report.text)")
        #expect(report.total.extra >= brought)
    }

    @Test("16: a single intent passes an audience that is being worked off, and no ledger line grows with it")
    func singlePasses() throws {
        let path = try VirtualPath(policy: Self.policy())
        var random = SplitMix64(seed: 1)
        let members = try Self.members(24, on: path, &random)
        path.publish(.intents, #"{"id":"promo","audience":{"none":["tv"]},"title":"t"}"#, key: "promo")
        try path.pass(.milliseconds(20))
        path.publish(.intents, #"{"id":"otp","recipient":"u23","title":"t"}"#, key: "u23")
        try path.settle()
        #expect(members[23].phone.shown.contains("otp"))
        #expect(members.contains { $0.phone.shown.isEmpty })
        try path.pass(.seconds(60))
        #expect(members.allSatisfy { $0.phone.shown.contains("promo") })
        let slices = path.lines().filter { $0["decision"] == "sliced" }
        #expect(slices.count > 8)
        #expect(slices.allSatisfy { ($0["count"]?.integer ?? 3) <= 2 })
    }
}
