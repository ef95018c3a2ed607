import Foundation
import HushBase
import Testing

private enum Color: String, CaseIterable {
    case red
    case blue
}

extension Setting<Duration> {
    static var window: Setting {
        .duration(
            "planner.dedupe.window", in: .seconds(1)...(.seconds(86_400 * 30)), default: .seconds(604_800),
            "The window.")
    }
}

private let count = Setting.integer("planner.live.max", in: 1...100, default: 64, "How many.")
private let password = Setting.text("apns.password", default: "", secret: true, "A secret.")
private let color = Setting.choice("log.color", default: Color.red, "A colour.")
private let keyFile = Setting.file("apns.credential.NAME.key.file", "A key.")
private let keySecret = Setting.text("apns.credential.NAME.secret", default: "none", secret: true, "A secret.")
private let table = SettingsTable(
    [
        Setting<Duration>.window.definition, count.definition, password.definition, color.definition,
        keyFile.definition, keySecret.definition,
    ],
    passThroughPrefixes: ["kafka."])

private func problems(_ change: (inout SettingsLoader) -> Void) -> [String] {
    var loader = SettingsLoader(table: table)
    change(&loader)
    do {
        _ = try loader.load()
        return []
    } catch {
        return error.problems
    }
}

@Suite struct SettingsTests {
    private func file(_ text: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).properties").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test("the command line wins over the environment, that over the file, that over the default")
    func order() throws {
        let path = try file("planner.live.max=1\n\nplanner.dedupe.window = 2d\nlog.color: blue\n")
        defer { unlink(path) }
        var loader = SettingsLoader(table: table)
        loader.addFile(path, required: true)
        loader.addEnvironment(["HUSH_PLANNER_LIVE_MAX": "2", "HUSH_PLANNER_DEDUPE_WINDOW": "36h", "HOME": "/"])
        loader.addArgument("planner.live.max", "3")
        let settings = try loader.load()
        #expect(settings[count] == 3)
        #expect(settings[.window] == .seconds(36 * 3600))
        #expect(settings[color] == .blue)
        #expect(settings[password] == "")
        #expect(settings.source(of: "planner.live.max") == .argument)
        #expect(settings.source(of: "planner.dedupe.window") == .environment(name: "HUSH_PLANNER_DEDUPE_WINDOW"))
        #expect(settings.source(of: "log.color") == .file(path: path, line: 4))
        #expect(settings.source(of: "apns.password") == .byDefault)
    }

    @Test("every problem is told at once, with its place and what was probably meant")
    func allProblems() throws {
        let path = try file("planer.live.max=1\nplanner.live.max=many\n")
        defer { unlink(path) }
        let found = problems { loader in
            loader.addFile(path, required: true)
            loader.addEnvironment(["HUSH_LOG_COLOUR": "red", "HUSH_APNS_PASSWORD": "x"])
            loader.addArgument("planner.dedupe.window", "0")
            loader.addArgument("nothing.like.it.at.all", "1")
        }
        #expect(
            found == [
                "\(path):1: there is no setting planer.live.max; did you mean planner.live.max?",
                "\(path):2: planner.live.max \"many\" must be a whole number, 1 to 100",
                "HUSH_LOG_COLOUR: there is no setting HUSH_LOG_COLOUR; did you mean HUSH_LOG_COLOR?",
                "command line: planner.dedupe.window \"0\" must be 1s to 30d",
                "command line: there is no setting nothing.like.it.at.all",
            ])
    }

    @Test("a key with NAME stands for one setting a name, from wherever it is given")
    func named() throws {
        var loader = SettingsLoader(table: table)
        loader.addEnvironment(["HUSH_APNS_CREDENTIAL_SHOP_KEY_FILE": "/shop", "HUSH_APNS_CREDENTIAL_SHOP_SECRET": "x"])
        loader.addArgument("apns.credential.2.key.file", "/two")
        let settings = try loader.load()
        #expect(settings.names(of: [keyFile.definition, keySecret.definition]) == ["2", "shop"])
        #expect(settings.names(of: [keySecret.definition]) == ["shop"])
        #expect(settings[keyFile, "shop"] == "/shop" && settings[keyFile, "2"] == "/two")
        #expect(settings[keySecret, "shop"] == "x" && settings[keySecret, "2"] == "none")
        #expect(settings.key(of: keyFile, "shop") == "apns.credential.shop.key.file")
        let shown = settings.entries.filter { $0.key.hasPrefix("apns.credential") }.map { "\($0.key)=\($0.shown)" }
        #expect(
            shown == [
                "apns.credential.2.key.file=/two", "apns.credential.shop.key.file=/shop",
                "apns.credential.shop.secret=********",
            ])
    }

    @Test("a name is one part of lower-case letters and digits; what is near a known key is told under its name")
    func badNames() {
        let found = problems { loader in
            for key in ["NAME.key.file", "a.b.key.file", "Shop.key.file", "key.file", "shop.key.fle"] {
                loader.addArgument("apns.credential." + key, "x")
            }
        }
        #expect(found.count == 5)
        #expect(
            found.last
                == "command line: there is no setting apns.credential.shop.key.fle; did you mean "
                + "apns.credential.shop.key.file?")
    }

    @Test("a file that was asked for must be there, be small and be UTF-8; the usual one may be missing")
    func files() throws {
        #expect(problems { $0.addFile("/nowhere/hush.properties", required: false) }.isEmpty)
        #expect(
            problems { $0.addFile("/nowhere/hush.properties", required: true) }
                == ["cannot read /nowhere/hush.properties: open: No such file or directory (errno 2)"])
        #expect(problems { $0.addFile("/dev/zero", required: true) }[0].contains("File too large"))
        let path = try file("")
        defer { unlink(path) }
        try Data([0xff, 0xfe]).write(to: URL(fileURLWithPath: path))
        #expect(problems { $0.addFile(path, required: true) } == ["\(path): not UTF-8"])
    }

    @Test("what Kubernetes and the tests put into the environment is no typing mistake")
    func foreignVariables() {
        #expect(
            problems {
                $0.addEnvironment([
                    "HUSH_PLANNER_SERVICE_HOST": "10.0.0.1", "HUSH_PLANNER_SERVICE_PORT_HTTP": "80",
                    "HUSH_PLANNER_PORT": "tcp://10.0.0.1:80", "HUSH_PLANNER_PORT_80_TCP_ADDR": "10.0.0.1",
                    "HUSH_TEST_KAFKA": "x", "HUSH_CONFIG": "x",
                ])
            }.isEmpty)
    }

    @Test("keys of a library pass through, and what sounds secret is masked")
    func passThrough() throws {
        var loader = SettingsLoader(table: table)
        loader.addArgument("kafka.linger.ms", "5")
        loader.addEnvironment(["HUSH_KAFKA_SASL_PASSWORD": "geheim"])
        loader.addArgument("apns.password", "geheim")
        let settings = try loader.load()
        #expect(settings.passedThrough("kafka.") == ["linger.ms": "5", "sasl.password": "geheim"])
        #expect(
            settings.entries.map { "\($0.key)=\($0.shown)" } == [
                "planner.dedupe.window=7d", "planner.live.max=64", "apns.password=********", "log.color=red",
                "kafka.linger.ms=5", "kafka.sasl.password=********",
            ])
    }

    @Test("a secret's bad value is not told")
    func secretProblem() {
        let strict = Setting(
            "apns.pin", form: "four digits", default: "0000", secret: true, "A pin."
        ) { (text) throws(BadValue) -> String in
            guard text.count == 4 else { throw BadValue("must be four digits") }
            return text
        }
        var loader = SettingsLoader(table: SettingsTable([strict.definition]))
        loader.addArgument("apns.pin", "12345")
        #expect(throws: SettingsFault(["command line: apns.pin must be four digits"])) { try loader.load() }
    }
}

@Suite struct SettingTextTests {
    @Test(
        "durations are read with their unit",
        arguments: [
            ("0", Duration.zero), ("200ms", .milliseconds(200)), ("30s", .seconds(30)), ("5m", .seconds(300)),
            ("6h", .seconds(21_600)), ("3d", .seconds(259_200)), ("1h30m", .seconds(5400)), ("15us", .microseconds(15)),
        ])
    func durations(text: String, duration: Duration) throws {
        #expect(try SettingText.duration(text) == duration)
    }

    @Test(
        "anything else is no duration",
        arguments: ["", "5", "s", "-1s", "1 s", "1.5h", "3D", "٣s", "9223372036854775807d"])
    func badDurations(text: String) {
        #expect(throws: BadValue.self) { try SettingText.duration(text) }
    }

    @Test(
        "durations are written with the largest unit that is exact",
        arguments: [
            (Duration.seconds(604_800), "7d"), (.seconds(5400), "90m"), (.milliseconds(1500), "1500ms"), (.zero, "0s"),
        ])
    func durationTexts(duration: Duration, text: String) {
        #expect(SettingText.text(duration) == text)
    }

    @Test("sizes are bytes, or powers of 1024", arguments: [("4096", 4096), ("64KiB", 65_536), ("2GiB", 2 << 30)])
    func sizes(text: String, bytes: Int) throws {
        #expect(try SettingText.size(text) == bytes)
        #expect(try SettingText.size(SettingText.text(bytes: bytes)) == bytes)
    }

    @Test("a size without a known unit is refused", arguments: ["", "KiB", "64KB", "-1", "9223372036854775807GiB"])
    func badSizes(text: String) {
        #expect(throws: BadValue.self) { try SettingText.size(text) }
    }
}

@Suite struct PropertiesFileTests {
    @Test("separators, comments, continuations and escapes are Java's")
    func forms() throws {
        let text = """
            # a comment
            ! another
            a=1
              b : two words\u{20}\u{20}
            c\t=\tx\\ty\\u00e9
            long=one,\\
                 two
            \\
            late=1
            path=C:\\\\dir
            empty=
            with\\=sign=v
            """
        let entries = try PropertiesFile.parse(text).map { "\($0.line) \($0.key)=\($0.value)" }
        #expect(
            entries == [
                "3 a=1", "4 b=two words", "5 c=x\tyé", "6 long=one,two", "8 late=1", "10 path=C:\\dir", "11 empty=",
                "12 with=sign=v",
            ])
    }

    @Test(
        "a line without a separator, a key that is there twice and a broken escape name their line",
        arguments: [
            ("a=1\nnonsense", 2, "\"nonsense\" is not key=value"),
            ("a=1\nb=2\na=3", 3, "a is there already, in line 1"),
            ("a=\\u12", 1, "\\u12 is no character"),
        ])
    func faults(text: String, line: Int, reason: String) {
        let fault = #expect(throws: PropertiesFile.Fault.self) { try PropertiesFile.parse(text) }
        #expect(fault?.line == line)
        #expect(fault?.reason == reason)
    }
}

@Suite struct NearestTests {
    @Test(
        "a swap, a missing and a wrong letter are found; what is too far is not",
        arguments: [
            ("publsih", "publish"), ("publis", "publish"), ("pablish", "publish"), ("zzz", nil), ("run", "run"),
        ])
    func matches(word: String, expected: String?) {
        #expect(Nearest.match(for: word, among: ["publish", "run", "demo"]) == expected)
    }
}
