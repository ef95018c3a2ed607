import HushBase
import Synchronization
import Testing

/// A sink that keeps its lines, and a clock that stands where the test put it.
private final class Recorder: Sendable {
    let lines = Mutex<[String]>([])
    let millis = Mutex<Int64>(1_764_507_445_031)

    func sink(level: LogLevel = .debug, format: LogFormat = .json) -> LogSink {
        LogSink(
            level: level, format: format, now: { self.millis.withLock { $0 } },
            output: { line in self.lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } })
    }

    var written: [String] { lines.withLock { $0 } }
}

@Suite struct LogTests {
    @Test("a line is one JSON object with time, level, component, message and fields in order")
    func json() {
        let recorder = Recorder()
        Log("slot-0", to: recorder.sink()).info(
            "partition assigned",
            ["topic": "hush.intents", "partition": 3, "restored": true, "took_seconds": LogValue(.milliseconds(1500))])
        #expect(
            recorder.written == [
                #"{"time":"2025-11-30T12:57:25.031Z","level":"info","component":"slot-0","msg":"partition assigned","#
                    + #""topic":"hush.intents","partition":3,"restored":true,"took_seconds":1.5}"# + "\n"
            ])
    }

    @Test("quotes, line feeds and control characters cannot break a line")
    func escapes() {
        let recorder = Recorder()
        Log("a", to: recorder.sink()).warn("m", ["f": "say \"hi\"\\\n\u{1b}[2J é", "n": .number(.nan)])
        #expect(recorder.written[0].hasSuffix(#""f":"say \"hi\"\\\n\u001b[2J é","n":null}"# + "\n"))
    }

    @Test("text for a terminal shows control characters instead of obeying them")
    func text() {
        let recorder = Recorder()
        Log("apns", to: recorder.sink(format: .text(colored: false))).error(
            "connection lost", ["peer": "a\u{1b}[2Jb", "tries": 2])
        #expect(recorder.written == ["12:57:25.031 ERROR apns: connection lost peer=a\\u{1B}[2Jb tries=2\n"])
    }

    @Test("color is in the level alone")
    func color() {
        let recorder = Recorder()
        Log("apns", to: recorder.sink(format: .text(colored: true))).info("up")
        #expect(recorder.written == ["12:57:25.031 \u{1b}[32mINFO \u{1b}[0m apns: up\n"])
    }

    @Test("lines below the level are not written")
    func level() {
        let recorder = Recorder()
        let log = Log("a", to: recorder.sink(level: .warn))
        log.info("no")
        log.warn("yes")
        #expect(recorder.written.count == 1)
    }

    @Test("equal lines beyond twenty a minute are held back and counted; others go on")
    func holdsBack() {
        let recorder = Recorder()
        let log = Log("kafka", to: recorder.sink())
        for number in 0..<1000 { log.error("broker down", ["try": LogValue(number)]) }
        #expect(recorder.written.count == 20)
        log.named("apns").error("broker down")
        #expect(recorder.written.count == 21)

        recorder.millis.withLock { $0 += 60_000 }
        log.error("broker down")
        #expect(recorder.written.count == 22)
        #expect(recorder.written[21].hasSuffix(#""msg":"broker down","held_back":980}"# + "\n"))
    }

    @Test(
        "moments before 1970 and far ahead keep their form",
        arguments: [
            (-1, "1969-12-31T23:59:59.999Z"), (0, "1970-01-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ])
    func times(millis: Int64, text: String) {
        #expect(RFC3339.text(millis: millis) == text)
    }
}
