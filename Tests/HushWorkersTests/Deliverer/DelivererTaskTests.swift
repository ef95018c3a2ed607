import HushAPNs
import HushBase
import HushCore
import Testing

@testable import HushStream
@testable import HushWorkers

@Suite("Deliverer task")
struct DelivererTaskTests {
    @Test("a push leaves after the commit that decided it, and its lines are these")
    func golden() throws {
        let rig = try DelivererRig()
        try rig.bind()
        try rig.create("1")
        try rig.turn()
        #expect(rig.left() == [])
        try rig.commit()
        #expect(rig.left() == [#"{"aps":{"content-available":1},"crt":1,"title":"T"}"#])
        let push = rig.transport.sent[0]
        #expect(push.token == Array("aa11".utf8) && push.topic == Array("com.example.app".utf8))
        #expect(push.kind == .background && push.priority == 5 && push.expiration == nil && push.route == 0)
        #expect(push.collapseID == Array("hush.1".utf8))
        let previous = digest(rig)
        rig.transport.accept()
        try rig.turn()
        let lines = try rig.commit()
        #expect(
            lines == [
                #"{"v":1,"task":"deliver-2","n":2,"at":"2025-12-01T10:00:00.000Z","stage":"deliver","#
                    + #""outcome":"accepted","final":true,"device":"ada-phone","attempt":1,"#
                    + #""apns_id":"00020000-0000-8000-8000-000100000001","status":200,"ops":[{"op":"2:1:0","#
                    + #""kind":"create","id":"1","recipient":"ada","cause":{"topic":"hush.intents","partition":3,"#
                    + #""offset":1201}}]}"#,
                #"{"v":1,"task":"deliver-2","n":3,"at":"2025-12-01T10:00:00.000Z","stage":"deliver","order":[],"#
                    + #""ends":{},"config":"\#(rig.application.configuration.digest)","build":"test","#
                    + #""previous":"\#(previous)","digest":"\#(digest(rig))"}"#,
            ])
    }

    private func digest(_ rig: DelivererRig) -> String {
        String(decoding: Hex.encode(rig.task.book.state.previous), as: UTF8.self)
    }

    @Test("an abort drops what was decided; the same records decide it again, once, under the same apns-id")
    func abort() throws {
        let rig = try DelivererRig()
        try rig.bind()
        try rig.commit()
        try rig.create("1")
        try rig.task.prepareCommit(rig.driver.context)
        rig.driver.abort(rig.task)
        try rig.turn()
        #expect(rig.left() == [])
        try rig.create("1")
        try rig.commit()
        #expect(rig.left().count == 1)
        #expect(rig.ids() == ["00020000-0000-8000-8000-000200000001"])
    }

    @Test("9: an answer whose transaction is aborted is taken again, and nothing is sent twice")
    func answerSurvives() throws {
        let rig = try DelivererRig()
        try rig.bind()
        try rig.create("1")
        try rig.commit()
        rig.transport.accept()
        try rig.turn()
        rig.driver.abort(rig.task)
        try rig.turn()
        let lines = try rig.commit()
        #expect(lines.count { $0.contains(#""outcome":"accepted""#) } == 1)
        try rig.pass(100_000)
        try rig.commit()
        #expect(rig.left() == [])
    }

    @Test("3: after a crash what was leaving is unknown, and goes again as the next attempt")
    func crash() throws {
        let rig = try DelivererRig()
        try rig.bind()
        try rig.create("1")
        try rig.commit()
        try rig.restart()
        #expect(try rig.commit().contains { $0.contains(#""outcome":"unknown""#) })
        try rig.pass(1)
        try rig.commit()
        #expect(
            rig.ids() == ["00020000-0000-8000-8000-000100000001", "00020000-0000-8000-8000-000100000002"])
    }

    @Test("a drain takes back what has not left and waits for what has; the next owner repeats nothing")
    func drain() throws {
        let rig = try DelivererRig()
        rig.transport.capacity = 1
        try rig.bind("aa11")
        try rig.bind("bb22")
        try rig.create("1", "aa11")
        try rig.create("2", "bb22")
        try rig.commit()
        #expect(rig.left().count == 1)
        #expect(try !rig.task.drain(rig.driver.context))
        rig.transport.accept()
        try rig.turn()
        #expect(try rig.task.drain(rig.driver.context))
        try rig.commit()
        #expect(rig.left() == [])
        try rig.restart()
        try rig.commit()
        try rig.pass(2)
        try rig.commit()
        #expect(rig.left() == [#"{"aps":{"content-available":1},"crt":2,"title":"T"}"#])
    }

    @Test("a slot that was stopped drops its connections and sends only after a commit that holds nothing back")
    func frozen() throws {
        let rig = try DelivererRig()
        try rig.bind()
        try rig.create("1")
        rig.driver.context.isHeld = true
        rig.application.wasFrozen()
        #expect(rig.transport.drops == 1)
        try rig.commit()
        try rig.turn()
        #expect(rig.left() == [])
        rig.driver.context.isHeld = false
        rig.driver.context.signal()
        try rig.turn()
        try rig.commit()
        #expect(rig.left().count == 1)
    }

    @Test("9: a slot that was stopped and lost its partition sends nothing of what it had decided")
    func frozenAndReplaced() throws {
        let rig = try DelivererRig()
        try rig.bind()
        try rig.commit()
        rig.transport.capacity = 0
        try rig.create("committed, but no room yet")
        try rig.commit()
        try rig.create("decided, not committed")
        try rig.task.prepareCommit(rig.driver.context)
        rig.driver.context.isHeld = true
        rig.application.wasFrozen()
        rig.transport.capacity = 1000
        try rig.turn()
        // The commit finds another owner: the transaction is gone, and the partition with it.
        rig.driver.abort(rig.task)
        #expect(try rig.task.drain(rig.driver.context))
        rig.task.closed()
        rig.driver.context.isHeld = false
        try rig.turn()
        rig.application.committed()
        #expect(rig.left() == [])
    }

    @Test("a slot that loses its partitions sends no more of theirs, and takes no late answer for a new push")
    func lost() throws {
        let rig = try DelivererRig()
        try rig.bind()
        try rig.bind("bb22")
        try rig.commit()
        rig.transport.capacity = 1
        try rig.create("under way")
        try rig.create("no room yet", "bb22")
        try rig.commit()
        #expect(rig.transport.sent.count == 1)
        rig.task.closed()
        rig.application.letGo()
        #expect(rig.transport.drops == 1)
        rig.transport.capacity = 1000
        rig.application.committed()
        #expect(rig.transport.sent.count == 1)

        try rig.restart()
        try rig.commit()
        try rig.pass(1)
        try rig.commit()
        #expect(rig.ids().map { $0.suffix(1) } == ["1", "2", "2"])
        rig.transport.accept()
        try rig.turn()
        #expect(try !rig.commit().contains { $0.contains(#""outcome":"accepted""#) })
        rig.application.letGo()
        #expect(rig.transport.drops == 2)
        rig.application.letGo()
        #expect(rig.transport.drops == 2)
    }

    @Test("a transport that halted by itself goes on after the second commit")
    func halted() throws {
        let rig = try DelivererRig()
        rig.transport.isHalted = true
        try rig.bind()
        try rig.create("1")
        try rig.turn()
        try rig.commit()
        #expect(rig.left() == [] && rig.transport.isHalted)
        try rig.turn()
        try rig.commit()
        #expect(rig.left().count == 1)
    }

    @Test("a refused credential pauses what goes out with it; one push tries, then all follow")
    func breaker() throws {
        var policy = Policy()
        policy.opsParkedMax = 2
        let rig = try DelivererRig(policy: policy)
        for name in ["aa11", "bb22", "cc33", "dd44"] { try rig.bind(name) }
        try rig.create("1", "aa11")
        try rig.commit()
        rig.transport.refuse(403, "InvalidProviderToken")
        try rig.turn()
        for name in ["bb22", "cc33"] { try rig.create("1", name) }
        try rig.commit()
        #expect(rig.left() == [])
        #expect(rig.application.isSaturated)
        try rig.pass(40)
        try rig.commit()
        #expect(rig.left().count == 1)
        rig.transport.accept()
        try rig.pass(3)
        try rig.commit()
        #expect(rig.left().count == 2)
        #expect(!rig.application.isSaturated)
    }

    @Test("a full outbox saturates the slot, and leaves as the transport takes it")
    func full() throws {
        let rig = try DelivererRig()
        rig.transport.capacity = 1
        for name in ["aa11", "bb22", "cc33"] {
            try rig.bind(name)
            try rig.create("1", name)
        }
        try rig.commit()
        #expect(rig.left().count == 1 && rig.application.isSaturated)
        for _ in 0..<2 {
            rig.transport.accept()
            try rig.turn()
            #expect(rig.left().count == 1)
        }
        #expect(!rig.application.isSaturated)
    }

    @Test("a 410 unbinds, and tells the planner with Apple's timestamp")
    func gone() throws {
        let rig = try DelivererRig()
        try rig.bind()
        try rig.create("1")
        try rig.commit()
        rig.transport.refuse(410, "Unregistered")
        try rig.turn()
        let address = rig.address("aa11").key.text
        #expect(
            try rig.commit(.devices) == [
                #"{"recipient":"ada","device":"ada-phone","unregister":true,"reason":"Unregistered","address":"\#(address)","#
                    + #""version":[1,0,0],"at":"2025-12-01T09:59:59.000Z"}"#
            ])
    }

    @Test("an unusable record is a dead letter; a newer version stops the task")
    func unusable() throws {
        let rig = try DelivererRig()
        let key = rig.address("aa11").key.raw
        try rig.feed("{", key: key)
        try rig.feed(#"{"v":1,"kind":"ops","owner":"ada"}"#, key: key)
        try rig.feed(#"{"v":1,"kind":"unbind","owner":"ada","version":[1,0,0]}"#, key: Array("not-an-address".utf8))
        #expect(try rig.commit(.dead).count == 3)
        #expect(throws: TaskFailure.self) { try rig.feed(#"{"v":2,"kind":"ops"}"#, key: key) }
    }

    @Test("an address that left the memory is read from the store, and idle ones leave it")
    func cache() throws {
        // Room for one of these addresses, and not for two.
        let rig = try DelivererRig(cacheBytesMax: 2000)
        for name in ["aa11", "bb22", "cc33"] { try rig.bind(name) }
        try rig.commit()
        #expect(rig.task.addressesInMemory == 1)
        for name in ["aa11", "bb22", "cc33"] { try rig.create("1", name) }
        try rig.commit()
        #expect(rig.left().count == 3 && rig.task.addressesInMemory == 3)
        for _ in 0..<3 { rig.transport.accept() }
        try rig.turn()
        try rig.commit()
        #expect(rig.task.addressesInMemory == 1)
    }

    @Test("a battery gate opens by the clock, also after a restart")
    func gate() throws {
        let rig = try DelivererRig()
        try rig.bind()
        let now = rig.now
        try rig.feed(
            .signal(
                owner: "ada", reading: DeviceReading(at: now, battery: 0.05, notBefore: now + .seconds(30)), acks: [],
                hello: false))
        try rig.create("1")
        #expect(try rig.commit().contains { $0.contains(#""outcome":"held""#) })
        try rig.restart()
        try rig.commit()
        try rig.pass(29)
        try rig.commit()
        #expect(rig.left() == [])
        try rig.pass(1)
        try rig.commit()
        #expect(rig.left().count == 1)
    }
}

@Suite("Address rows")
struct AddressRowsTests {
    private var full: AddressRow {
        var row = AddressRow()
        let version = BindingVersion(at: Timestamp(millis: 1_764_583_200_123), partition: 3, offset: 88)
        row.binding = Binding(
            owner: "ada", device: "ada-phone", install: "i1", token: "aa11", app: "com.example.app",
            environment: .sandbox, dialect: .crt, acks: true, version: version)
        row.version = version
        row.lastOwner = "ada"
        var gate = BatteryGate(kind: .low, readingAt: Timestamp(millis: 5), until: Timestamp(millis: 9))
        gate.probes = 2
        gate.isAnnounced = true
        row.gate = gate
        row.wantsHello = true
        row.liveCount = 3
        row.isRefreshOff = true
        var op = PendingOp(
            op: OpID(partition: 7, offset: 1 << 40, index: 3), kind: .create, id: "order-42", revision: .max,
            first: true,
            quiet: true, urgent: true, mode: .visible, notBefore: Timestamp(millis: 1), expires: Timestamp(millis: 2),
            content: Content(json: #"{"title":"T"}"#), cause: Position(topic: .reads, partition: 1, offset: 2),
            queuedAt: Timestamp(millis: 3))
        op.trace = TraceID(high: .max, low: 7)
        op.attempts = 4
        op.mayHaveLeft = true
        op.isLeaving = true
        op.acceptedAt = Timestamp(millis: 4)
        op.repeats = 2
        op.isClosed = true
        op.isCleared = true
        op.wasAlerted = true
        row.ops = [
            op,
            PendingOp(
                op: OpID(partition: 0, offset: 0, index: 0), kind: .bind, id: "", revision: 0, cause: nil,
                queuedAt: Timestamp(millis: -1)),
        ]
        return row
    }

    @Test("a row is read as it was written")
    func roundTrip() throws {
        for row in [AddressRow(), full] {
            var writer = RowWriter()
            AddressRows.write(row, &writer)
            let bytes = writer.bytes
            #expect(try bytes.withUnsafeBytes { try AddressRows.read($0) } == row)
        }
    }

    @Test("a row of an older format reads as one that lacks what came later")
    func olderFormats() throws {
        var row = full
        row.ops[0].trace = nil
        for format in [2, 1] as [UInt8] {
            if format == 1 {
                row.liveCount = nil
                row.isRefreshOff = false
                row.ops[0].wasAlerted = false
            }
            var writer = RowWriter()
            AddressRows.write(row, &writer)
            let old = [format] + writer.bytes.dropFirst()
            #expect(try old.withUnsafeBytes { try AddressRows.read($0) } == row)
        }
    }

    @Test("a row that is cut anywhere, or of a newer format, fails the task")
    func broken() {
        var writer = RowWriter()
        AddressRows.write(full, &writer)
        for count in writer.bytes.indices {
            let cut = Array(writer.bytes[..<count])
            #expect(throws: TaskFailure.self) { try cut.withUnsafeBytes { try AddressRows.read($0) } }
        }
        let newer = [AddressRows.format + 1] + writer.bytes.dropFirst()
        #expect(throws: TaskFailure.self) { try newer.withUnsafeBytes { try AddressRows.read($0) } }
    }
}
