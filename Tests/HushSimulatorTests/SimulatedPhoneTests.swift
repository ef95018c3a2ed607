import HushCore
import HushKit
import Testing

@testable import HushSimulator

@Suite("Simulated phones")
struct SimulatedPhoneTests {
    private static let now = Timestamp(seconds: 1_764_583_200)

    private static func phone(_ dialect: Dialect = .hush, filter: SimulatedPhone.Filter? = nil) -> SimulatedPhone {
        SimulatedPhone(
            owner: "ada", device: "ada-phone", dialect: dialect, app: "com.example.app", token: "aa01", install: "i1",
            filter: filter)
    }

    private static func push(_ payload: PayloadValue, alert: Bytes? = nil, token: Bytes = "aa01") -> DeliveredPush {
        DeliveredPush(token: token, isAlert: alert != nil, collapseID: alert, payload: payload)
    }

    private static func hush(_ ops: PayloadValue..., aps: PayloadValue = ["content-available": 1]) -> PayloadValue {
        [
            "aps": aps,
            "hush": ["v": 1, "to": .string(OwnerTag.of("ada")), "b": [1000, 3, 88], "ops": .array(ops)],
        ]
    }

    @Test("a launch registers, each dialect in its own way")
    func launch() {
        #expect(
            Self.phone().launch(now: Self.now).map(\.value.text) == [
                #"{"recipient":"ada","device":"ada-phone","token":"aa01","app":"com.example.app","#
                    + #""environment":"production","dialect":"hush","acks":true,"install":"i1","fresh":true}"#
            ])
        #expect(
            Self.phone(.crt).launch(now: Self.now).map(\.value.text) == [
                #"{"recipient":"ada","device":"ada-phone","token":"aa01","app":"com.example.app","#
                    + #""environment":"production","dialect":"crt","acks":false}"#
            ])
    }

    @Test("a push shows, rings once, and is answered by one signal with acknowledgements and hello")
    func receive() {
        let phone = Self.phone()
        let payload = Self.hush(["7:9:0", "b"], ["7:1:0", "c", "order-42", 2, ["title": "Moved"]])
        for _ in 0..<2 {
            #expect(
                phone.receive(Self.push(payload), now: Self.now).map(\.value.text) == [
                    #"{"recipient":"ada","device":"ada-phone","at":1764583200,"acks":["7:9:0","7:1:0"],"#
                        + #""hello":{"shown":[["order-42",2]],"gone":[]}}"#
                ])
        }
        #expect(phone.entries == ["order-42": ScreenEntry(title: "Moved", revision: 2)])
        #expect(phone.screen.rings == ["order-42": [2: 1]])
    }

    @Test("the system shows an alert itself, which rings once; a repeat in a silent push does not")
    func alert() {
        let phone = Self.phone()
        let op: PayloadValue = ["7:1:0", "c", "a", 1, ["title": "Now"]]
        let alert = Self.hush(op, aps: ["alert": ["title": "Now"], "mutable-content": 1])
        let quiet = Self.hush(
            op, aps: ["alert": ["title": "Now"], "mutable-content": 1, "interruption-level": "passive"])
        _ = phone.receive(Self.push(alert, alert: "hush.a"), now: Self.now)
        _ = phone.receive(Self.push(quiet, alert: "hush.a"), now: Self.now)
        _ = phone.receive(Self.push(Self.hush(op)), now: Self.now)
        #expect(phone.entries == ["a": ScreenEntry(title: "Now", revision: 1)])
        #expect(phone.screen.rings == ["a": [1: 1]])
    }

    @Test("the seed's three payloads end with the second notification")
    func seed() {
        let phone = Self.phone(.crt)
        _ = phone.receive(Self.push(["crt": 1, "title": "hello there"]), now: Self.now)
        _ = phone.receive(Self.push(["crt": 2, "title": "hello there again"]), now: Self.now)
        _ = phone.receive(Self.push(["dlt": 1]), now: Self.now)
        #expect(phone.entries == ["2": ScreenEntry(title: "hello there again", revision: nil)])
    }

    @Test("a reinstall takes a new token and an empty screen, says so, and is deaf to the old token")
    func reinstall() {
        let phone = Self.phone()
        let payload = Self.hush(["7:1:0", "c", "a", 1, ["title": "x"]])
        _ = phone.receive(Self.push(payload), now: Self.now)
        let messages = phone.reinstall(token: "bb02", install: "i2", now: Self.now)
        #expect(messages.map(\.topic) == [.devices, .signals])
        #expect(messages[1].value.text.hasSuffix(#""hello":{"shown":[],"gone":[]}}"#))
        #expect(phone.receive(Self.push(payload), now: Self.now).isEmpty)
        #expect(phone.entries.isEmpty)
    }

    @Test("another login clears the screen, unregisters, and registers under the new name")
    func move() {
        let phone = Self.phone()
        _ = phone.launch(now: Self.now)
        _ = phone.receive(Self.push(Self.hush(["7:1:0", "c", "a", 1, ["title": "x"]])), now: Self.now)
        let messages = phone.move(to: "bob", install: "i2", now: Self.now)
        #expect(messages.map(\.key) == ["ada", "bob"])
        #expect(phone.entries.isEmpty)
        _ = phone.receive(Self.push(Self.hush(["7:1:0", "c", "a", 1, ["title": "x"]])), now: Self.now)
        #expect(phone.entries.isEmpty)
        #expect(phone.drops == [.otherOwner: 1])
    }
}

@Suite("The oracle against phones")
struct OracleAgainstPhonesTests {
    /// Plays a workload's ops straight to phones, in any order, and counts the screens that end wrong.
    private static func wrongScreens(seed: UInt64, filter: SimulatedPhone.Filter? = nil) -> Int {
        var options = WorkloadOptions()
        options.seed = seed
        options.recipients = 20
        options.intents = 400
        let workload = Workload(options)
        let oracle = Oracle(workload)
        var random = SplitMix64(seed: seed)
        let begin = Timestamp(seconds: 1_764_583_200)
        var contents: [Bytes: [Int64: Bytes]] = [:]
        var ops: [Bytes: [PayloadValue]] = [:]
        for timed in workload.events {
            switch timed.event {
            case .show(let show):
                // The planner's part: the first content of a revision wins.
                let title = contents[show.id]?[show.revision] ?? show.title
                contents[show.id, default: [:]][show.revision] = title
                guard title == show.title else { continue }
                var content: [Bytes: PayloadValue] = ["title": .string(title)]
                if let life = show.life { content["expires"] = .integer((begin + timed.at + life).seconds) }
                ops[show.recipient, default: []].append(
                    ["1:1:0", "c", .string(show.id), .integer(show.revision), .object(content)])
            case .retract(let recipient, let id, let revision):
                ops[recipient, default: []].append(["1:1:0", "d", .string(id), .integer(revision ?? .max)])
            case .read(let recipient, let id, let revision, _):
                ops[recipient, default: []].append(["1:1:0", "d", .string(id), .integer(revision)])
            default: break
            }
        }
        let end = begin + .seconds(60)
        return workload.phones.indices.filter { index in
            guard workload.phones[index].dialect == .hush else { return false }
            let owner = oracle.owner(of: index)
            let phone = SimulatedPhone(
                owner: owner, device: "d", dialect: .hush, app: "a", token: "aa01", install: "i", filter: filter)
            for op in (ops[owner] ?? []).shuffled(using: &random) {
                let payload: PayloadValue = [
                    "hush": ["v": 1, "to": .string(OwnerTag.of(owner)), "b": [1, 1, 1], "ops": [op]]
                ]
                _ = phone.receive(
                    DeliveredPush(token: "aa01", isAlert: false, collapseID: nil, payload: payload), now: end)
            }
            return phone.entries != oracle.screen(of: index, at: .seconds(60))
        }.count
    }

    @Test("whatever the order, all screens end as the oracle says", arguments: [1, 2, 3, 7] as [UInt64])
    func agree(seed: UInt64) {
        #expect(Self.wrongScreens(seed: seed) == 0)
    }

    @Test("the oracle finds a merging rule that is wrong")
    func brokenRule() {
        #expect(Self.wrongScreens(seed: 7, filter: BrokenMerging.ignoringRetracts) > 5)
    }
}
