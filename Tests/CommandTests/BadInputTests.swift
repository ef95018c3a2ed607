import Testing

/// What the command says, and how it ends, where something that it is given cannot be.
@Suite("Bad input to the command", .serialized)
struct BadInputTests {
    @Test("lines that cannot be are told by number and field, and the rest is checked; exit code 1")
    func badLines() throws {
        let long = String(repeating: "x", count: 1 << 20)
        let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
        let lines = [
            #"{"id": 9007199254740993, "recipient": "ada", "title": "good"}"#,
            "no json",
            "[1]",
            #"{"recipient": "ada", "title": "no id"}"#,
            #"{"id": null, "recipient": "ada", "title": "null id"}"#,
            #"{"id": "", "recipient": "ada", "title": "empty id"}"#,
            #"{"id": 1, "title": "no recipient"}"#,
            #"{"id": 1, "recipient": "ada", "title": 5}"#,
            #"{"id": 1, "recipient": "ada", "title": "\#(long)"}"#,
            #"{"id": 1, "recipient": "ada", "title": "deep", "extras": {"a": \#(deep)}}"#,
            #"{"id": 123456789012345678901, "recipient": "ada", "title": "too many digits"}"#,
            #"{"id": 1, "recipient": "ada", "title": "ms", "expires": 1764583200000}"#,
            #"{"id": "caf\u00e9", "recipient": "ada", "title": "unknown fields pass", "x": 1e300, "y": [{}]}"#,
        ]
        let hush = try Hush(
            ["publish", "intents", "in.jsonl", "--dry-run"],
            files: ["in.jsonl": lines.joined(separator: "\n") + "\n"])
        #expect(hush.status == 1)
        #expect(hush.output.isEmpty)
        let told = hush.errors.split(separator: "\n").map(String.init)
        let words = [
            (2, "JSON"), (3, "object"), (4, "id"), (5, "id"), (6, "id"), (7, "recipient"), (8, "title"),
            (9, "too_large"), (10, "too_deep"), (11, "id"), (12, "milliseconds"),
        ]
        #expect(told.count == words.count + 1)
        for ((line, word), text) in zip(words, told) {
            #expect(text.hasPrefix("hush publish: line \(line): "))
            #expect(text.contains(word))
        }
        #expect(told.last == "hush publish: 2 of 13 good, 11 refused, 0 undelivered")
    }

    @Test("a line that comes through a pipe is taken at once, while the pipe stays open")
    func openPipe() throws {
        let hush = try Hush(
            ["publish", "intents", "--dry-run"], stopAfter: "line 1: ", openInput: "not json\n")
        #expect(hush.status == 1)
        #expect(hush.errors.contains("hush publish: 0 of 1 good, 1 refused"))
    }

    @Test(
        "a broker that is down is told in time, with its address",
        arguments: [["topics", "check"], ["topics", "create"], ["publish", "intents", "in.jsonl"]])
    func brokerDown(arguments: [String]) throws {
        let hush = try Hush(
            arguments + ["--timeout", "1s", "--kafka.bootstrap=127.0.0.1:1"],
            files: ["in.jsonl": #"{"id": 1, "recipient": "ada", "title": "T"}"#])
        #expect(hush.status == 1)
        #expect(hush.errors.contains("127.0.0.1:1"))
    }

    @Test("workers wait for a broker that is down, and end when they are asked to")
    func workersWait() throws {
        let hush = try Hush(
            [
                "run", "--stage", "plan", "--kafka.bootstrap=127.0.0.1:1", "--admin.port=0", "--log.format=json",
            ], stopAfter: "the workers run")
        #expect(hush.status == 0)
        #expect(hush.errors.contains("the workers ended"))
    }

    @Test(
        "a key that is missing or none ends hush run with 78, and the message says what to do",
        arguments: [
            ([], "apns.key.file is not set: the deliver stage needs it to sign in at APNs"),
            (["--apns.key.file=nowhere.p8"], "nowhere.p8: there is no such file"),
            (["--apns.key.file=text.p8"], "text.p8 is not a private key in PEM"),
        ] as [([String], String)])
    func badKeys(key: [String], words: String) throws {
        let hush = try Hush(
            [
                "run", "--stage", "deliver", "--admin.port=0", "--apns.key.id=HUSHTEST01", "--apns.team.id=TEAM123456",
            ] + key, files: ["text.p8": "hello"])
        #expect(hush.status == 78)
        #expect(hush.errors.contains(words))
        #expect(hush.output.isEmpty)
    }

    @Test("a setting of Kafka's client that would break a guarantee ends hush run, with the reason")
    func refusedProperty() throws {
        let hush = try Hush(["run", "--stage", "plan", "--admin.port=0", "-X", "enable.auto.commit=true"])
        #expect(hush.status != 0)
        #expect(hush.errors.contains("enable.auto.commit"))
    }

    @Test(
        "dead and load say what is wrong with how they are called, and end with 64",
        arguments: [
            (["dead"], "list, show, redrive or export"), (["dead", "burn"], "not burn"),
            (["dead", "redrive"], "choose letters"), (["dead", "show"], "at least one letter"),
            (["dead", "show", "17"], "17 is no letter"), (["dead", "list", "--since", "yesterday"], "--since must be"),
            (["dead", "list", "--topic", "hush.ledger"], "--topic must be"),
            (["dead", "redrive", "--mended", "absent.jsonl"], "cannot be read"),
            (["dead", "redrive", "--all", "--rate", "1e-12"], "--rate must be 0"),
            (["load", "--threshold", "p99<fast"], "fast is no duration"),
            (["load", "--threshold", "q99<1s"], "there is no figure q99"), (["load", "--profile", "5"], "no step"),
            (["load", "--reads", "0.9", "--bad", "0.9"], "at most 1 together"),
            (["load", "--stall", "5s"], "--stall must be"), (["load", "--scale", "0"], "--scale must be"),
        ])
    func badCalls(arguments: [String], words: String) throws {
        let hush = try Hush(arguments)
        #expect(hush.status == 64)
        #expect(hush.output.isEmpty)
        #expect(hush.errors.contains(words), "\(hush.errors)")
    }

    @Test("a mended file that cannot be is told by its line before anything is sent")
    func badMended() throws {
        let hush = try Hush(["dead", "redrive", "--mended", "m.jsonl"], files: ["m.jsonl": "{\n"])
        #expect(hush.status == 64)
        #expect(hush.errors.contains("--mended m.jsonl, line 1: is no JSON object"))
    }
}
