import Foundation
import HushBase
import HushCore
import Testing

@testable import HushLoad

@Suite("A load test's report")
struct ReportTests {
    private func report(_ thresholds: [String] = ["p99<1s", "p50<10ms"]) throws -> LoadReport {
        LoadReport(
            title: "10 items a second <& co>", result: LoadSamples.result(),
            thresholds: try thresholds.map { try Threshold($0) })
    }

    @Test("thresholds come first, with their figures; then what was sent, what came, and latencies")
    func text() throws {
        let text = try report().text
        #expect(text.hasPrefix("THRESHOLDS\n  ✓ p99<1s  900ms\n  ✗ p50<10ms  50"))
        #expect(text.contains("sent        30 items (create 30) in 3.00s, at worst 2.0ms late\n"))
        #expect(text.contains("accepted    30 of 30 notifications, 10 a second; 0 never\n"))
        #expect(text.contains("cpu         plan: 100.0 µs an item\n") && text.contains("deliver: 200.0 µs an item\n"))
        #expect(text.contains("intent to APNs' accept"))
        #expect(try !report().result.holds(report().thresholds))
        #expect(try report(["p99<1s"]).result.holds(report(["p99<1s"]).thresholds))
    }

    @Test("JSON has the same figures, in seconds")
    func json() throws {
        let data = Data(try report().json.raw)
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(object["sent"] as? Int == 30 && object["holds"] as? Bool == false)
        #expect(object["cpu_micros_plan"] as? Double == 100)
        let latency = try #require(object["latency"] as? [String: [String: Any]])
        #expect(latency["accept"]?["max"] as? Double == 0.9)
        #expect(latency["accept"]?["count"] as? Int == 30)
        #expect(latency["clear"] == nil)
        let thresholds = try #require(object["thresholds"] as? [[String: Any]])
        #expect(thresholds.map { $0["holds"] as? Bool } == [true, false])
        #expect((object["seconds"] as? [[String: Any]])?.count == 3)
    }

    @Test("the page needs nothing else, and shows text as text")
    func html() throws {
        let page = LoadPage.html(try report())
        #expect(page.contains("<h1>10 items a second &lt;&amp; co&gt;</h1>"))
        for word in ["http:", "https:", "<script", "src=", "@import", "url("] {
            #expect(!page.contains(word), "\(word)")
        }
        #expect(page.components(separatedBy: "<svg").count == 6)
        #expect(page.contains("class=\"bad\">✗ fails</td><td>p50&lt;10ms</td>"))
        for word in ["nan", "inf"] { #expect(!page.contains("\"\(word)"), "\(word)") }
    }

    @Test("axes have round numbers that hold the highest value", arguments: [0.03, 1, 7, 42, 99.5, 1000, 123_456])
    func axes(highest: Double) {
        let steps = SVGPlot.steps(upTo: highest)
        #expect(steps.first == 0 && (2...6).contains(steps.count))
        #expect((steps.last ?? 0) >= highest && (steps.last ?? 0) <= highest * 2.6)
    }

    private static let chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test(
        "chromium draws the page, with every line of its plots",
        .enabled(if: chromium != nil, "an optional package: scripts/setup --browser"))
    func browser() throws {
        let program = try #require(Self.chromium)
        let directory = FileManager.default.temporaryDirectory.appending(path: "hush-page-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let page = directory.appending(path: "page.html")
        try LoadPage.html(try report()).write(to: page, atomically: true, encoding: .utf8)
        let picture = directory.appending(path: "page.png")
        _ = try Self.run(
            program,
            [
                "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=\(directory.path)/profile",
                "--window-size=700,1700", "--screenshot=\(picture.path)", "file://\(page.path)",
            ])
        // How many pixels have the very colours of the lines, of the bars and of a threshold that fails.
        let script = """
            import sys, zlib, struct
            data = open(sys.argv[1], 'rb').read()
            width, height, depth, kind = struct.unpack('>IIBB', data[16:26])
            size = {2: 3, 6: 4}[kind]
            place, packed = 8, b''
            while place < len(data):
                length, name = struct.unpack('>I4s', data[place:place + 8])
                if name == b'IDAT': packed += data[place + 8:place + 8 + length]
                place += length + 12
            raw, stride, before, counts = zlib.decompress(packed), width * size, None, {}
            before = bytearray(stride)
            for row in range(height):
                kind, line = raw[row * (stride + 1)], bytearray(raw[row * (stride + 1) + 1:(row + 1) * (stride + 1)])
                for i in range(stride):
                    a = line[i - size] if i >= size else 0
                    b, c = before[i], before[i - size] if i >= size else 0
                    p = a + b - c
                    best = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
                    line[i] = (line[i] + (0, a, b, (a + b) // 2, best)[kind]) & 255
                for i in range(0, stride, size):
                    colour = bytes(line[i:i + 3])
                    counts[colour] = counts.get(colour, 0) + 1
                before = line
            for colour in sys.argv[2:]: print(counts.get(bytes.fromhex(colour), 0))
            """
        let colours = ["1f6feb", "d1590f", "7a3fc0", "0a7d3c", "b3261e"]
        let output = try Self.run("python3", ["-c", script, picture.path] + colours)
        let counts = output.split(separator: "\n").compactMap { Int($0) }
        try #require(counts.count == colours.count, "\(output)")
        for (colour, count) in zip(colours, counts) { #expect(count > 20, "\(colour): \(count)") }
    }

    @Test("a foreign HdrHistogram, filled from the table, has the same percentiles")
    func hgrm() throws {
        let histogram = LoadSamples.histogram()
        let table = HistogramText.hgrm(histogram)
        let script = """
            import sys
            from hdrh.histogram import HdrHistogram
            foreign = HdrHistogram(1, 3600 * 1000 * 1000, 3)
            last = 0
            for line in sys.stdin:
                parts = line.split()
                if not parts or line.startswith('#') or parts[0] == 'Value': continue
                count = int(parts[2])
                if count > last: foreign.record_value(round(float(parts[0]) * 1000), count - last)
                last = count
            print(foreign.total_count)
            for percentile in (50, 75, 87.5, 99.21875, 99.90234375, 100): print(foreign.get_value_at_percentile(percentile))
            """
        let output = try Self.run("python3", ["-c", script], input: table)
        let numbers = output.split(separator: "\n").compactMap { Double($0) }
        try #require(numbers.count == 7, "\(output)")
        #expect(numbers[0] == 50_000)
        for (index, quantile) in [0.5, 0.75, 0.875, 0.9921875, 0.9990234375, 1].enumerated() {
            let ours = Double(histogram.nanos(atQuantile: quantile)) / 1000
            #expect(abs(numbers[index + 1] - ours) <= ours * 0.005, "\(quantile): \(numbers[index + 1]), \(ours)")
        }
        let rows = table.split(separator: "\n").filter { !$0.contains("#") }.dropFirst()
        #expect(rows.count > 40 && rows.last?.contains("1.000000000000      50000") == true)
    }

    private static func run(_ program: String, _ arguments: [String], input: String = "") throws -> String {
        let process = Process()
        let (stdin, stdout) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["timeout", "120", program] + arguments
        process.standardInput = stdin
        process.standardOutput = stdout
        try process.run()
        stdin.fileHandleForWriting.write(Data(input.utf8))
        try stdin.fileHandleForWriting.close()
        let output = stdout.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(program) ended with \(process.terminationStatus)")
        return String(decoding: output, as: UTF8.self)
    }
}
