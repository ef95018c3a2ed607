import Foundation
import HushAPNs
import HushBase

/// CPU per push of the APNs client beside `h2load`, against the same servers in the same run: nghttpd and ours.
///
/// Both send the same header fields (a token of 260 characters among them) and a body of 200 bytes over TLS on one
/// connection. h2load repeats one path and one id where the client varies both, so the ratio flatters h2load.
enum APNsClientBenchmark {
    static let requestCount = 60_000
    static let streams = 1000
    static let rounds = 3
    /// nghttpd serves files, so as many device tokens are files of its directory.
    static let tokenCount = 64
    /// Requests handed to the client at once; a divisor of `requestCount`.
    static let batchCount = 500

    static func run(_ arguments: Arguments) throws -> Int32 {
        let work = try APNsBenchmarkFiles()
        defer { work.remove() }
        let nghttpd = try ChildProcess(
            "nghttpd",
            ["-d", work.root, "PORT", work.certificates.keyFile, work.certificates.certificateFile])
        defer { _ = nghttpd.end() }
        try compare(server: "nghttpd", port: nghttpd.port, work)
        let own = try ChildProcess(
            CommandLine.arguments[0],
            [
                "apns-server", "--port", "PORT", "--certificate", work.certificates.certificateFile, "--key",
                work.certificates.keyFile,
            ])
        defer { _ = own.end() }
        try compare(server: "hush", port: own.port, work)
        return 0
    }

    /// The child of the comparison with our own server: answers 200 to all until it is ended.
    static func serve(_ arguments: Arguments) throws -> Int32 {
        var options = H2ServerOptions(
            certificateFile: try arguments.text("certificate"), keyFile: try arguments.text("key"))
        options.port = UInt16(clamping: try arguments.number("port", or: 0))
        let server = try H2Server(options) { AcceptAll() }
        // Until the parent ends it: no signal comes whose wait this is.
        while sleep(3600) == 0 {}
        server.close()
        return 0
    }

    private struct AcceptAll: H2Handler {
        mutating func received(_ request: H2Request, at now: MonotonicTime, commands: inout H2Commands) {
            commands.add(.respond(request.id, H2Response(status: 200)))
        }
    }

    private static func compare(server: String, port: UInt16, _ work: APNsBenchmarkFiles) throws {
        var ours: [Double] = []
        var theirs: [Double] = []
        for _ in 0..<rounds {
            theirs.append(try h2load(port: port, work))
            ours.append(try client(port: port, work))
        }
        let (mine, other) = (median(ours), median(theirs))
        let text = { (value: Double) in String(format: "%.2f", value) }
        print(
            "apns client, server \(server): hush \(text(mine)) µs/push, h2load \(text(other)) µs/push, "
                + "ratio \(text(mine / other)) (aim: at most 1; medians of \(rounds) x \(requestCount))")
    }

    private static func h2load(port: UInt16, _ work: APNsBenchmarkFiles) throws -> Double {
        let request = work.batches[0][0]
        var arguments = [
            "-n", String(requestCount), "-c", "1", "-m", String(streams), "-d", work.bodyFile,
            "-H", "authorization: " + String(repeating: "t", count: 260),
            "-H", "apns-topic: com.example.app", "-H", "apns-push-type: background", "-H", "apns-priority: 5",
            "-H", "apns-id: " + String(decoding: request.apnsID, as: UTF8.self), "-H", "apns-expiration: 1764583200",
        ]
        if let collapseID = request.collapseID {
            arguments += ["-H", "apns-collapse-id: " + String(decoding: collapseID, as: UTF8.self)]
        }
        arguments.append("https://127.0.0.1:\(port)/3/device/" + String(decoding: request.token, as: UTF8.self))
        let child = try ChildProcess("h2load", arguments, listens: false)
        let (seconds, status) = child.wait()
        guard status == 0 else { throw ChildProcess.Fault(description: "h2load failed with \(status)") }
        return seconds * 1e6 / Double(requestCount)
    }

    private static func client(port: UInt16, _ work: APNsBenchmarkFiles) throws -> Double {
        var configuration = APNsConfiguration(routes: [
            APNsConfiguration.Route(
                host: "127.0.0.1", port: port, trust: .file(work.certificates.caFile),
                credential: .token(keyFile: work.certificates.tokenKeyFile, keyID: "HUSHTEST01", teamID: "TEAM123456"))
        ])
        configuration.connectionsPerRoute = 1
        configuration.streamsPerConnection = streams
        let before = ChildProcess.ownCPUSeconds()
        let client = try APNsClient(configuration)
        var submitted = 0
        var accepted = 0
        var answered = 0
        var answers: [PushAnswer] = []
        while answered < requestCount {
            while submitted < requestCount, client.inFlight < 3 * streams {
                submitted += client.submit(work.batches[submitted / batchCount % work.batches.count])
            }
            var entry = pollfd(fd: client.wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
            poll(&entry, 1, 1000)
            client.drain(into: &answers)
            answered += answers.count
            for answer in answers {
                if case .answered(200, _, _, _) = answer.outcome { accepted += 1 }
            }
        }
        client.close(deadline: .seconds(1))
        guard accepted == requestCount else {
            throw ChildProcess.Fault(description: "only \(accepted) of \(requestCount) pushes were accepted")
        }
        return (ChildProcess.ownCPUSeconds() - before) * 1e6 / Double(requestCount)
    }

    private static func median(_ values: [Double]) -> Double {
        values.sorted()[values.count / 2]
    }
}

/// What the benchmark needs on disk, and the requests that are sent again and again.
struct APNsBenchmarkFiles {
    let root: String
    let bodyFile: String
    let certificates: TestCertificates
    let batches: [[PushRequest]]

    init() throws {
        let manager = FileManager.default
        root = manager.temporaryDirectory.path + "/hush-apns-benchmark-" + UUID().uuidString
        try manager.createDirectory(atPath: root + "/3/device", withIntermediateDirectories: true)
        let now = Int64(Date().timeIntervalSince1970)
        certificates = try TestCertificates.write(
            into: root, validFromSeconds: now - 3600, validUntilSeconds: now + 86_400)
        bodyFile = root + "/body"
        let payload = Data(
            (#"{"aps":{"content-available":1},"x":""# + String(repeating: "y", count: 162) + #""}"#).utf8)
        try payload.write(to: URL(fileURLWithPath: bodyFile))
        let tokens = (0..<APNsClientBenchmark.tokenCount).map { index in
            let digits = String(index, radix: 16)
            return String(repeating: "a", count: 64 - digits.count) + digits
        }
        for token in tokens { try Data().write(to: URL(fileURLWithPath: root + "/3/device/" + token)) }
        let requests = (0..<8 * APNsClientBenchmark.batchCount).map { index in
            let digits = String(index, radix: 16)
            let padded = String(repeating: "0", count: 12 - digits.count) + digits
            return PushRequest(
                tag: UInt64(index), route: 0, token: Array(tokens[index % tokens.count].utf8),
                topic: Array("com.example.app".utf8), kind: .background, priority: 5, expiration: 1_764_583_200,
                collapseID: Array("hush.order-\(padded)".utf8), apnsID: Array("00000000-0000-4000-8000-\(padded)".utf8),
                payload: Array(payload))
        }
        batches = (0..<8).map { batch in
            Array(requests[batch * APNsClientBenchmark.batchCount..<(batch + 1) * APNsClientBenchmark.batchCount])
        }
    }

    func remove() {
        // Best effort: a leftover in the temporary directory harms nobody.
        try? FileManager.default.removeItem(atPath: root)
    }
}
