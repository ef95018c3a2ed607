import HushAPNs
import HushCore
import HushKit
import HushSimulator
import HushStream
import HushWorkers
import Testing

/// What happens to a device over its life, from its registers to its screen.
@Suite("The path: a device's life")
struct DeviceLifeTests {
    private func register(_ device: String, token: String, more: String = "") -> String {
        #"{"device":"\#(device)","token":"\#(token)","app":"com.example.hush"\#(more)}"#
    }

    private func expectBalance(_ path: VirtualPath, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(path.books.problems == [], sourceLocation: sourceLocation)
        #expect(path.books.pending == [], sourceLocation: sourceLocation)
        #expect(path.apns.refused == [], sourceLocation: sourceLocation)
        for phone in path.phones { #expect(!phone.rangTwice, sourceLocation: sourceLocation) }
    }

    @Test("23: an intent's app selects among a recipient's apps, and an update moves it from one to the other")
    func apps() throws {
        let path = try VirtualPath()
        let chat = try path.phone()
        let shop = try path.phone(app: VirtualPath.otherApp)
        path.publish(.intents, #"{"id":"both","title":"T"}"#)
        path.publish(.intents, #"{"id":"one","title":"T","app":"com.example.shop"}"#)
        try path.settle()
        #expect(chat.shown == ["both"] && shop.shown == ["both", "one"])
        path.publish(.intents, #"{"id":"one","revision":2,"title":"T","app":"com.example.hush"}"#)
        try path.settle()
        #expect(chat.shown == ["both", "one"] && shop.shown == ["both"])
        path.publish(.intents, #"{"id":"none","title":"T","app":"com.example.mail"}"#)
        path.publish(.reads, #"{"id":"both"}"#)
        try path.settle()
        #expect(path.decisions("none") == ["waiting"])
        #expect(chat.shown == ["one"] && shop.shown == [])
        expectBalance(path)
    }

    @Test("a dialect that changes with a register is spoken from then on, with what waits and what is live")
    func dialects() throws {
        var policy = Policy()
        policy.wakeUpBurst = 0
        let path = try VirtualPath(policy: policy)
        path.publish(.devices, register("d", token: "aa000001", more: #","dialect":"hush","acks":true"#))
        try path.settle()
        path.publish(.intents, #"{"id":1,"title":"one"}"#)
        try path.settle()
        #expect(path.left.last?.contains(#","c","1",1,{"title":"one","#) == true)
        path.publish(.devices, register("d", token: "aa000001", more: #","dialect":"crt""#))
        try path.settle()
        // The older content may be on the screen, so the update goes as a delete and a create.
        #expect(
            path.left.suffix(2) == [
                #"{"aps":{"content-available":1},"dlt":1}"#,
                #"{"aps":{"content-available":1},"crt":1,"title":"one"}"#,
            ])
        path.publish(.devices, register("d", token: "aa000001", more: #","dialect":"pushwoosh""#))
        try path.settle()
        #expect(path.left.last == #"{"aps":{"content-available":1},"u":"{\"crt\":1,\"title\":\"one\"}"}"#)
        path.publish(.devices, register("d", token: "aa000001", more: #","dialect":"airship""#))
        try path.settle()
        #expect(path.left.last == #"{"aps":{"alert":{"title":"one"},"interruption-level":"passive"}}"#)
        path.publish(.devices, register("d", token: "aa000001", more: #","dialect":"hush","acks":true"#))
        try path.settle()
        #expect(path.left.last?.contains(#""b"]"#) == true)
        path.publish(.reads, #"{"id":1}"#)
        try path.settle()
        try path.pass(.seconds(24 * 3600))
        expectBalance(path)
    }

    @Test("4: a backup on a second phone: whichever registered last is the device, and each shows what is live then")
    func backup() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(.intents, #"{"id":"a","title":"T"}"#)
        try path.settle()
        let second = try path.restore(phone, token: "bb000001", install: "i2")
        path.publish(.intents, #"{"id":"b","title":"T"}"#)
        try path.settle()
        #expect(second.shown == ["b"] && phone.shown == ["a"])
        // The first phone reads; that is another install, so the delete does not wait on the second.
        path.publish(phone.read("b", revision: 1, now: path.now))
        try path.settle()
        #expect(second.shown == [])
        path.publish(.intents, #"{"id":"c","title":"T"}"#)
        try path.settle()
        path.publish(phone.launch(now: path.now))
        try path.settle()
        #expect(phone.shown == ["a", "c"])
        path.publish(.intents, #"{"id":"d","title":"T"}"#)
        try path.settle()
        #expect(phone.shown == ["a", "c", "d"] && second.shown == ["c"])
        try path.pass(.seconds(24 * 3600))
        expectBalance(path)
    }

    @Test("4: a backup whose app does not start a new install flips the binding, and makes no loop")
    func flipFlop() throws {
        var policy = Policy()
        policy.wakeUpBurst = 0
        let path = try VirtualPath(policy: policy)
        for round in 0..<6 {
            let token = round.isMultiple(of: 2) ? "aa000001" : "aa000002"
            path.publish(.devices, register("d", token: token, more: #","dialect":"hush","acks":false,"install":"i""#))
            try path.settle()
            let count = path.left.count
            path.publish(.intents, #"{"id":"n\#(round)","title":"T"}"#)
            try path.settle()
            #expect(path.left.count == count + 1)
            #expect(path.apns.requests.last.map { Bytes($0.token) } == Bytes(token))
        }
        #expect(path.values(.devices).count == 6)
        expectBalance(path)
    }

    @Test(
        "30, 31: a token of any length and case is one phone, and is sent in lower case",
        arguments: [64, 108, 200, 512])
    func tokens(digits: Int) throws {
        let path = try VirtualPath()
        let upper = String(repeating: "AbCdEf0123456789", count: 32).prefix(digits).uppercased()
        path.publish(.devices, register("d1", token: upper, more: #","acks":false"#))
        path.publish(.devices, register("d2", token: upper.lowercased(), more: #","acks":false"#))
        path.publish(.intents, #"{"id":"a","title":"T"}"#)
        try path.settle()
        let sent = path.apns.requests.filter { String(decoding: $0.payload, as: UTF8.self).contains(#""a""#) }
        #expect(sent.map { Bytes($0.token) } == [Bytes(upper.lowercased())])
        expectBalance(path)
    }

    @Test(
        "a token that is no hex is a dead letter and changes nothing",
        arguments: ["", "abc", "xy", "aa:bb", "<aabb>", "aa bb", String(repeating: "a", count: 514)])
    func badTokens(token: String) throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(.devices, register("d1", token: token))
        path.publish(.intents, #"{"id":"a","title":"T"}"#)
        try path.settle()
        #expect(path.values(.dead) == [register("d1", token: token)])
        #expect(phone.shown == ["a"])
        expectBalance(path)
    }

    @Test("two registers of one token in one millisecond: partition and offset decide, whoever is planned first")
    func sameMillisecond() throws {
        // Which of the two keys lies in the higher partition is the hash's affair.
        for laggard in ["ada", "bob"] {
            let path = try VirtualPath()
            path.lag(laggard)
            for owner in ["ada", "bob"] {
                path.publish(
                    .devices, register("\(owner)-phone", token: "aa000001", more: #","acks":false"#), key: owner)
            }
            try path.settle()
            try path.catchUp()
            for owner in ["ada", "bob"] { path.publish(.intents, #"{"id":"x","title":"\#(owner)"}"#, key: owner) }
            try path.settle()
            let winner = Self.higher("ada", "bob")
            let loser = winner == "ada" ? "bob" : "ada"
            let sent = path.left.filter { $0.contains(#""x""#) }
            #expect(sent.count == 1 && sent[0].contains(winner), "\(laggard) lags")
            #expect(path.values(.devices).contains { $0.contains(#""reason":"reassigned""#) && $0.contains(loser) })
            #expect(path.books.problems == [])
        }
    }

    @Test("two registers of one token in one millisecond and one partition: the later offset has it")
    func sameMillisecondSamePartition() throws {
        let path = try VirtualPath()
        path.publish(.devices, register("first", token: "aa000001", more: #","acks":false"#))
        path.publish(.devices, register("second", token: "aa000001", more: #","acks":false"#))
        try path.settle()
        path.publish(.intents, #"{"id":"x","title":"T"}"#)
        try path.settle()
        let plan = path.lines().filter { $0["decision"] == "planned" }
        #expect(plan.map { $0["ops"] } == [[["second", "create"]]])
        #expect(path.left.filter { $0.contains(#""x""#) }.count == 1)
        expectBalance(path)
    }

    private static func higher(_ left: String, _ right: String) -> String {
        func partition(_ name: String) -> Int32 {
            Murmur2.partition(of: Array(name.utf8), count: VirtualPath.partitionCount)
        }
        return partition(left) > partition(right) ? left : right
    }
}
