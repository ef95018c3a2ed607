import HushCore
import HushKit
import HushSimulator
import HushWorkers
import Testing

/// Input that is well-formed and cannot be: none of it may hold a device for good or keep the path busy.
@Suite("The path: absurd input")
struct AbsurdInputTests {
    private func expectBalance(_ path: VirtualPath, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(path.books.problems == [], sourceLocation: sourceLocation)
        #expect(path.books.pending == [], sourceLocation: sourceLocation)
    }

    @Test(
        "acks of ops that are not there, or not yet, confirm nothing",
        arguments: ["0:0:0", "3:9223372036854775807:0", "2147483647:9223372036854775807:2147483647", "0:1:99"])
    func futureAcks(ack: String) throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.isDetained = true
        path.publish(.intents, #"{"id":"a","title":"T"}"#)
        try path.settle()
        path.publish(.signals, #"{"device":"d1","acks":["\#(ack)"]}"#)
        try path.settle()
        // The create, and the bind that rode on it.
        #expect(path.books.pending.count == 2)
        path.letGo()
        try path.settle()
        #expect(phone.shown == ["a"])
        expectBalance(path)
    }

    @Test("an ack that comes before its op was ever sent confirms nothing, for every op that follows")
    func ackBeforeOp() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        // Every op that this address can have next, acknowledged in advance.
        let acks = (0..<4).flatMap { partition in (0..<100).map { "\"\(partition):\($0):0\"" } }
        path.publish(.signals, #"{"device":"d1","acks":[\#(acks.joined(separator: ","))]}"#)
        try path.settle()
        path.isDetained = true
        path.publish(.intents, #"{"id":"a","title":"T"}"#)
        try path.settle()
        // The create, and the bind that rode on it.
        #expect(path.books.pending.count == 2)
        path.letGo()
        try path.settle()
        #expect(phone.shown == ["a"])
        expectBalance(path)
    }

    @Test(
        "a phone's clock that is days off, and hints without end, hold a device within the limits and no longer",
        arguments: [
            (#""at":"1970-01-01T00:00:00Z","battery":0.01"#, 0), (#""at":"2025-11-28T10:00:00Z","battery":0"#, 0),
            (#""at":"2025-12-04T10:00:00Z","battery":0.01,"charging":false"#, 1800),
            (#""at":"9999-12-31T23:59:59Z","low_power":true"#, 1800),
            (#""at":100000000000,"not_before":100000000000"#, 12 * 3600),
            (#""not_before":"9999-12-31T23:59:59Z""#, 12 * 3600), (#""not_before":0"#, 0),
            (#""not_before":"1970-01-01T00:00:00Z","battery":0"#, 0), (#""battery":1e-300"#, 1800),
        ])
    func clocks(reading: String, seconds: Int) throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(.signals, #"{"device":"d1",\#(reading)}"#)
        path.publish(.intents, #"{"id":"a","title":"T"}"#)
        try path.settle()
        if seconds > 0 {
            #expect(phone.shown == [])
            try path.pass(.seconds(seconds - 1))
            #expect(phone.shown == [])
            try path.pass(.seconds(1))
        }
        #expect(phone.shown == ["a"])
        // A gate from a clock that was ahead is lifted by a better reading of the right time.
        path.publish(.signals, #"{"device":"d1","battery":1}"#)
        path.publish(.intents, #"{"id":"b","title":"T"}"#)
        try path.settle()
        #expect(phone.shown == ["a", "b"])
        expectBalance(path)
    }

    @Test(
        "numbers that cannot be are dead letters, and the device goes on",
        arguments: [
            #""battery":1e308"#, #""battery":-0.1"#, #""battery":2"#, #""at":1764583200000"#, #""at":-1"#,
            #""not_before":1e300"#, #""not_before":"9999-99-99T00:00:00Z""#, #""acks":["9999999999:1:0"]"#,
            #""acks":["-1:1:0"]"#, #""hello":{"shown":[["a",9223372036854775808]]}"#,
            #""hello":{"shown":[["a",-1]]}"#,
        ])
    func numbers(reading: String) throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(.signals, #"{"device":"d1",\#(reading)}"#)
        path.publish(.intents, #"{"id":"a","title":"T"}"#)
        try path.settle()
        #expect(path.values(.dead).count == 1)
        #expect(phone.shown == ["a"])
        expectBalance(path)
    }

    @Test("a hello that claims revisions of the far future is answered, and does not come again and again")
    func absurdHello() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(.intents, #"{"id":"a","title":"T"}"#)
        try path.settle()
        path.publish(
            .signals,
            #"{"device":"d1","hello":{"shown":[["a",9223372036854775807],["b",9223372036854775807]],"#
                + #""gone":[["c",9223372036854775807]]}}"#)
        try path.settle()
        #expect(path.values(.dead).isEmpty)
        #expect(path.lines().contains { $0["decision"] == "hello" })
        let count = path.left.count
        try path.pass(.seconds(24 * 3600))
        #expect(path.left.count == count)
        #expect(phone.shown == ["a"])
        expectBalance(path)
    }

    @Test(
        "times of an intent that lie beyond its life end it, and wake nobody for ever",
        arguments: [
            #""not_before":"9999-12-31T23:59:59Z""#, #""not_before":100000000000,"expires":100000000000"#,
            #""ttl":100000000000,"not_before":"9999-01-01T00:00:00Z""#, #""created":"9999-01-01T00:00:00Z","ttl":0"#,
        ])
    func endlessIntents(times: String) throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        path.publish(.intents, #"{"id":"a","title":"T",\#(times)}"#)
        try path.settle()
        try path.pass(.seconds(8 * 86_400))
        #expect(path.values(.dead).isEmpty)
        #expect(phone.shown == [] && phone.screen.rings == [:])
        expectBalance(path)
    }

    @Test("a title that no push of a dialect can hold is rejected by name, and what comes after goes on")
    func tooLargeAlone() throws {
        let path = try VirtualPath()
        let phone = try path.phone(dialect: .pushwoosh)
        // Each quote takes two bytes of content and four inside of the string in a string.
        let quotes = String(repeating: #"\""#, count: 1500)
        path.publish(.intents, #"{"id":"big","title":"\#(quotes)"}"#)
        path.publish(.intents, #"{"id":"small","title":"T"}"#)
        try path.settle()
        let rejected = path.lines().filter { $0["outcome"] == "rejected" }
        #expect(rejected.map { $0["reason"] } == ["payload_too_large"])
        #expect(phone.shown == ["small"])
        expectBalance(path)
    }
}
