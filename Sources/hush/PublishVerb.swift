import Foundation
import Glibc
import HushBase
import HushCore
import HushWorkers

extension Verb {
    static let publish = Verb(
        name: "publish", summary: "publishes lines of JSON to an input topic",
        operands: "intents|reads|devices|signals [FILE]",
        help: """
            Reads one JSON object a line from FILE, or from standard input, checks it as the planner would, and writes it
            keyed by its recipient, as a CloudEvent in binary mode. An intent without "created" gets the present time.
            A bad line is told on standard error by its number and field, and is not sent; the others are.
            Ends with 0 if every line is with the brokers, else with 1.
            """,
        options: [
            Option(name: "dry-run", value: nil, doc: "check the lines, send nothing"),
            Option(name: "reports", value: nil, doc: "print where each record lies, one JSON object a line"),
            Option(name: "timeout", value: "DURATION", doc: "how long a record may wait for the brokers (30s)"),
        ]
    ) { invocation in
        guard let name = invocation.operands.first, invocation.operands.count <= 2,
            let input = inputs[name]
        else { throw UsageFault("hush publish takes intents, reads, devices or signals, and at most one file") }
        let file = try open(invocation.operands.dropFirst().first ?? "-")
        let timeout = try invocation.duration("timeout") ?? .seconds(30)
        let publisher = try makePublisher(input, invocation, timeout)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = try read(file, into: &buffer), count > 0 {
            try buffer.withUnsafeBytes { bytes in
                try publisher.take(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            }
        }
        let summary = try publisher.finish(within: timeout)
        let verb = invocation.has("dry-run") ? "good" : "published"
        complain(
            "\(summary.published) of \(summary.lines) \(verb), \(summary.refused) refused, "
                + "\(summary.undelivered) undelivered")
        return summary.isComplete ? .success : .failure
    }

    private static let inputs: [String: InputTopic] = [
        "intents": .intents, "reads": .reads, "devices": .devices, "signals": .signals,
    ]

    private static func makePublisher(
        _ input: InputTopic, _ invocation: Invocation, _ timeout: Duration
    ) throws -> Publisher {
        let now = { Timestamp(millis: WallClock.nowMillis()) }
        let newEventID = {
            String(
                decoding: Hex.encode(UInt64.random(in: 0 ... .max)) + Hex.encode(UInt64.random(in: 0 ... .max)),
                as: UTF8.self)
        }
        let problem: Publisher.Problem = { line, what in complain("line \(line): \(what)") }
        if invocation.has("dry-run") {
            return Publisher(input, producer: nil, now: now, newEventID: newEventID, problem: problem)
        }
        let reports = invocation.has("reports")
        return try Publisher(
            input, settings: invocation.settings, timeout: timeout, log: invocation.log, now: now,
            newEventID: newEventID, problem: problem
        ) { line, partition, offset in
            guard reports else { return }
            print(
                "{\"line\":\(line),\"topic\":\"\(input.topic.name)\",\"partition\":\(partition),\"offset\":\(offset)}")
        }
    }

    private static func open(_ path: String) throws(UsageFault) -> FileHandle {
        if path == "-" { return .standardInput }
        guard let file = FileHandle(forReadingAtPath: path) else { throw UsageFault("\(path) cannot be read") }
        return file
    }

    /// What is there, for a line that comes through a pipe must not wait for others; 0 at the end.
    private static func read(_ file: FileHandle, into buffer: inout [UInt8]) throws -> Int {
        while true {
            let count = buffer.withUnsafeMutableBytes { Glibc.read(file.fileDescriptor, $0.baseAddress, $0.count) }
            if count >= 0 { return count }
            guard errno == EINTR else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        }
    }

    private static func complain(_ sentence: String) {
        FileHandle.standardError.write(Data("hush publish: \(sentence)\n".utf8))
    }
}
