import HushAudit
import HushCore
import HushKit
import HushStream
import HushWorkers
import Testing

/// W3C Trace Context through every hop: from an input's headers to the line of APNs' answer.
@Suite("The path: traces of requests")
struct TracingTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    private static func headers(_ parent: String = parent) -> [RecordHeader] {
        [
            RecordHeader(name: "traceparent", value: Array(parent.utf8)),
            RecordHeader(name: "tracestate", value: Array("rojo=00f067aa0ba902b7".utf8)),
        ]
    }

    /// The traces of the lines of one notification, in order, with the decision or outcome.
    private func traces(_ id: String, _ path: VirtualPath) -> [String] {
        path.lines().flatMap { line -> [String] in
            if line["id"]?.id == Bytes(id), let decision = line["decision"]?.string {
                return ["\(decision.text) \(line["trace"]?.string?.text ?? "-")"]
            }
            return (line["ops"]?.array ?? []).compactMap { op in
                guard op["id"]?.id == Bytes(id), let outcome = line["outcome"]?.string else { return nil }
                return "\(outcome.text) \(op["trace"]?.string?.text ?? "-")"
            }
        }
    }

    private func pushHeaders(_ path: VirtualPath) -> [[RecordHeader]] {
        path.records(of: .pushes).flatMap { $0 }.map(\.headers)
    }

    @Test("an intent's trace stands on its push record and in its lines, a read's on what it takes off; no other's")
    func hops() throws {
        let path = try VirtualPath()
        _ = try path.phone(dialect: .crt)
        path.publish(.intents, #"{"id":"a","title":"T"}"#, headers: Self.headers())
        path.publish(.intents, #"{"id":"b","title":"T"}"#)
        path.publish(.intents, #"{"id":"a","title":"T"}"#, headers: Self.headers())
        try path.settle()
        #expect(
            traces("a", path).sorted() == [
                "accepted \(Self.trace)", "duplicate \(Self.trace)", "planned \(Self.trace)",
            ])
        #expect(traces("b", path).sorted() == ["accepted -", "planned -"])
        // The bind of the phone, and one push for each notification.
        #expect(pushHeaders(path).filter { !$0.isEmpty } == [Self.headers()])
        #expect(pushHeaders(path).count == 3)

        let other = Self.parent.replacing("4bf9", with: "aaaa")
        path.publish(.reads, #"{"id":"b","revision":1}"#, headers: Self.headers(other))
        try path.settle()
        let read = Self.trace.replacing("4bf9", with: "aaaa")
        #expect(Set(traces("b", path)) == ["accepted -", "planned -", "read \(read)", "accepted \(read)"])
        #expect(path.books.problems == [])
    }

    @Test("a record that is moved to its partition, held, and delivered by another worker keeps its trace")
    func detours() throws {
        let path = try VirtualPath()
        _ = try path.phone(dialect: .crt)
        let foreign = (path.partition(of: "ada") + 1) % VirtualPath.partitionCount
        path.publish(
            .intents, #"{"id":"a","recipient":"ada","title":"T","not_before":"2025-12-01T11:00:00Z"}"#,
            partition: foreign, headers: Self.headers())
        try path.settle()
        #expect(
            Set(traces("a", path)) == ["rekeyed \(Self.trace)", "planned \(Self.trace)", "held \(Self.trace)"])
        try path.crashDelivery()
        try path.pass(.seconds(3601))
        #expect(traces("a", path).contains("accepted \(Self.trace)"))
        #expect(path.books.problems == [] && path.books.pending == [])
    }

    @Test("the copies of an audience's intent and their lines keep its trace; its slices have none")
    func audiences() throws {
        let path = try VirtualPath()
        let phone = try path.phone()
        try AudiencePathTests.setTags(["ios"], of: phone, on: path)
        path.publish(
            .intents, #"{"id":"promo","audience":{"all":["ios"]},"title":"T"}"#, key: "promo", headers: Self.headers())
        try path.pass(.seconds(2))
        let found = traces("promo", path)
        #expect(found.count { $0 == "fanout \(Self.trace)" } == 1)
        #expect(found.count { $0 == "planned \(Self.trace)" } == Int(VirtualPath.partitionCount))
        #expect(found.contains("sliced -") && found.contains("confirmed -"), "\(found)")
    }

    @Test("a dead letter keeps its trace, and so does its line; a traceparent of another form is passed by")
    func dead() throws {
        let path = try VirtualPath()
        _ = try path.phone()
        path.publish(.intents, #"{"id":"a"}"#, headers: Self.headers())
        path.publish(.intents, #"{"id":"b","title":"T"}"#, headers: Self.headers("00-xyz"))
        try path.settle()
        let letter = try #require(path.records(of: .dead).flatMap { $0 }.first)
        #expect(Array(letter.headers.prefix(2)) == Self.headers())
        let line = path.lines().first { $0["decision"]?.string == "dead" }
        #expect(line?["trace"]?.string?.text == Self.trace)
        #expect(traces("b", path).contains("planned -"))
        #expect(pushHeaders(path).allSatisfy { $0.isEmpty })
    }

    @Test("a notification's story names the trace")
    func story() throws {
        let path = try VirtualPath()
        _ = try path.phone(dialect: .crt)
        path.publish(.intents, #"{"id":"a","title":"T"}"#, headers: Self.headers())
        try path.settle()
        let story = Story(recipient: "ada", id: "a")
        for (partition, records) in path.records(of: .ledger).enumerated() {
            for (offset, record) in records.enumerated() {
                (record.value ?? []).withUnsafeBytes { value in
                    story.takeLine(
                        InputRecord(
                            input: 0, partition: Int32(partition), offset: Int64(offset),
                            appendTimeMillis: record.millis, key: nil, value: value, headers: InputHeaders()))
                }
            }
        }
        #expect(story.text.ranges(of: "trace \(Self.trace)").count >= 2)
    }
}
