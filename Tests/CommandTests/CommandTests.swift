import Foundation
import Testing

@Suite struct CommandTests {
    @Test(
        "help and version go to standard output and succeed",
        arguments: [["--help"], ["help"], ["help", "config"], ["--version"], ["config", "--help"]])
    func help(arguments: [String]) throws {
        let hush = try Hush(arguments)
        #expect(hush.status == 0)
        #expect(hush.output.contains("hush"))
        #expect(hush.errors.isEmpty)
    }

    @Test("the reference page of the command has the help of every verb")
    func reference() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/reference/command.md"), encoding: .utf8)
        func block(_ help: String) -> String {
            help.split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? "" : "    \($0)" }
                .joined(separator: "\n").trimmingCharacters(in: .newlines)
        }
        let overview = try Hush(["help"]).output
        #expect(page.contains(block(overview)))
        let verbs = overview.split(separator: "\n").filter { $0.hasPrefix("  ") }
            .compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(verbs.contains("demo"))
        for verb in verbs {
            let help = try Hush(["help", verb]).output
            #expect(page.contains("## hush \(verb)\n\n\(block(help))\n"), "\(verb)")
        }
    }

    @Test(
        "a wrong command line exits with 64, says why on standard error, and leaves standard output alone",
        arguments: [
            ([], "usage: hush VERB"),
            (["confg"], "there is no verb confg; did you mean config?"),
            (["config", "--markdwon"], "there is no option --markdwon; did you mean --markdown?"),
            (["config", "--markdown=yes"], "--markdown takes no value"),
            (["config", "--config"], "--config needs a value"),
            (["config", "-X", "nothing"], "-X takes property=value"),
            (["config", "-q"], "there is no option -q"),
            (["config", "nothing.like.this"], "no setting begins with nothing.like.this"),
        ])
    func usage(arguments: [String], words: String) throws {
        let hush = try Hush(arguments)
        #expect(hush.status == 64)
        #expect(hush.errors.contains(words))
        #expect(hush.output.isEmpty)
    }

    @Test("config shows each value with its source, and masks secrets")
    func config() throws {
        let hush = try Hush(
            ["config", "--changed", "--planner.life.max", "5d", "-X", "sasl.password=geheim", "-Xlinger.ms=7"],
            environment: ["HUSH_LOG_LEVEL": "warn"],
            files: ["hush.properties": "# ours\nkafka.bootstrap=broker:9092\nlog.level=debug\n"])
        #expect(hush.errors.isEmpty)
        #expect(
            hush.output == """
                kafka.bootstrap=broker:9092  # hush.properties:2
                planner.life.max=5d  # command line
                log.level=warn  # HUSH_LOG_LEVEL
                kafka.linger.ms=7  # command line
                kafka.sasl.password=********  # command line

                """)
        #expect(hush.status == 0)
    }

    @Test("wrong settings exit with 78 and name file, line, key and the nearest one")
    func wrongSettings() throws {
        let hush = try Hush(["config"], files: ["hush.properties": "\nplaner.life.max=5d\nlog.level=loud\n"])
        #expect(hush.status == 78)
        #expect(
            hush.errors == """
                hush: hush.properties:2: there is no setting planer.life.max; did you mean planner.life.max?
                hush: hush.properties:3: log.level "loud" must be one of debug, info, warn, error

                """)
    }

    @Test("settings that contradict each other exit with 78, after the values were shown")
    func contradiction() throws {
        let hush = try Hush(["config", "planner", "--planner.life.max=7d"])
        #expect(hush.status == 78)
        #expect(hush.output.contains("planner.dedupe.window=7d  # default\n"))
        #expect(hush.errors.contains("planner.dedupe.window"))
    }

    @Test(
        "a settings file that was named must be there",
        arguments: [
            (["config", "--config", "mine.properties"], [:]), (["config"], ["HUSH_CONFIG": "mine.properties"]),
        ])
    func namedFile(arguments: [String], environment: [String: String]) throws {
        let missing = try Hush(arguments, environment: environment)
        #expect(missing.status == 78)
        #expect(missing.errors == "hush: cannot read mine.properties: open: No such file or directory (errno 2)\n")
        let there = try Hush(
            arguments + ["log.level"], environment: environment, files: ["mine.properties": "log.level=error"])
        #expect(there.output == "log.level=error  # mine.properties:1\n")
    }
}
