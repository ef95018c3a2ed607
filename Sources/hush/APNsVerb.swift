import Foundation
import HushBase
import HushCore
import HushSimulator

extension Verb {
    static let apns = Verb(
        name: "apns", summary: "runs a simulated APNs on this machine", operands: "",
        help: """
            Listens on the loopback interface with a certificate and a provider key of its own, made at start in --dir, and
            rejects what Apple rejects. Prints where it listens and how to reach it, then one JSON line for each accepted
            push. SIGTERM ends it.
            """,
        options: [
            Option(name: "port", value: "PORT", doc: "where to listen (default 2197; 0 takes a free one)"),
            Option(name: "dir", value: "DIR", doc: "where certificates and keys go (default ./hush-apns)"),
            Option(name: "topic", value: "TOPICS", doc: "apns-topics to push to, by commas (default com.example.hush)"),
            Option(name: "push-log", value: "FILE", doc: "append the lines of accepted pushes to FILE, not to stdout"),
            Option(name: "seed", value: "N", doc: "seed of the faults (default 1)"),
            Option(name: "too-many", value: "SHARE", doc: "share of pushes answered 429, from 0 to 1"),
            Option(name: "unavailable", value: "SHARE", doc: "share answered 503 with Retry-After"),
            Option(name: "error", value: "SHARE", doc: "share answered 500"),
            Option(name: "reset", value: "SHARE", doc: "share whose stream is reset, half of them delivered"),
            Option(name: "silence", value: "SHARE", doc: "share never answered, half of them delivered"),
            Option(name: "goaway-every", value: "N", doc: "GOAWAY after so many streams of a connection"),
            Option(name: "latency", value: "DURATION", doc: "how long an answer takes, as 40ms"),
        ]
    ) { invocation in
        let options = try apnsOptions(invocation)
        let output = try invocation.text("push-log").map { try appending(to: $0) } ?? FileHandle.standardOutput
        StopSignal.install()
        try APNsCommand.run(
            APNsCommand.Options(apns: options) { line in
                // A reader that went away ends the lines, not the server.
                try? output.write(contentsOf: Data(line))
            }, log: invocation.log,
            started: { apns in
                invocation.tellAddress(of: apns)
            }, isStopped: { StopSignal.isAsked })
        return .success
    }

    private static func apnsOptions(_ invocation: Invocation) throws -> SimulatedAPNsOptions {
        let directory = invocation.text("dir") ?? "hush-apns"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let topics = (invocation.text("topic") ?? "com.example.hush").split(separator: ",").map { Bytes(String($0)) }
        if topics.isEmpty { throw UsageFault("--topic names no app") }
        var options = SimulatedAPNsOptions(directory: directory, topics: Set(topics))
        options.port = UInt16(try invocation.integer("port", in: 0...65_535) ?? 2197)
        options.seed = UInt64(try invocation.integer("seed", in: 0...Int.max) ?? 1)
        options.faults.tooManyRequests = try invocation.number("too-many", in: 0...1) ?? 0
        options.faults.unavailable = try invocation.number("unavailable", in: 0...1) ?? 0
        options.faults.internalError = try invocation.number("error", in: 0...1) ?? 0
        options.faults.reset = try invocation.number("reset", in: 0...1) ?? 0
        options.faults.silence = try invocation.number("silence", in: 0...1) ?? 0
        options.faults.goAwayEvery = try invocation.integer("goaway-every", in: 1...1_000_000)
        if let latency = try invocation.duration("latency") { options.faults.latency = latency...latency }
        return options
    }

    static func appending(to path: String) throws -> FileHandle {
        if !FileManager.default.fileExists(atPath: path) {
            guard FileManager.default.createFile(atPath: path, contents: nil) else {
                throw UsageFault("--push-log \(path) cannot be written")
            }
        }
        guard let handle = FileHandle(forWritingAtPath: path) else {
            throw UsageFault("--push-log \(path) cannot be written")
        }
        try handle.seekToEnd()
        return handle
    }
}

extension Invocation {
    /// Logs how clients reach a simulated APNs.
    func tellAddress(of apns: SimulatedAPNs) {
        log.info(
            "the simulated APNs listens",
            [
                "host": "localhost", "port": .integer(Int64(apns.port)), "ca_file": .text(apns.caFile),
                "key_file": .text(apns.tokenKeyFile), "key_id": .text(apns.keyID), "team_id": .text(apns.teamID),
            ])
    }
}
