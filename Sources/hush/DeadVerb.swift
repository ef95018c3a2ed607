import Foundation
import HushAudit
import HushBase
import HushCore
import HushStream
import HushWorkers

extension Verb {
    static let dead = Verb(
        name: "dead", summary: "shows dead letters, and sends them again",
        operands: "list|show|redrive|export [LETTER...]",
        help: """
            list counts the letters of hush.dead by code, stage, topic and state, then tells the newest. show prints a letter
            whole, with what to do about it. export writes letters as lines of JSON. LETTER is a place in hush.dead, as 3/17, or
            the place at which the record died, as hush.intents/3/1201.

            redrive sends letters again, each once: what was redriven before is left alone, whoever did it and wherever a
            redrive was killed. The records, their lines in the ledger and their marks in hush.redrives are one transaction.
            A letter that dies again keeps its history, and is parked after dead.attempts.max redrives. Values that were
            corrected in an export replace the letters' own (--mended).

            Ends with 0, or with 1 where a letter that was meant is not there or could not be sent.
            """,
        options: [
            Option(name: "code", value: "CODES", doc: "only these codes, by commas"),
            Option(name: "stage", value: "STAGES", doc: "only these stages: plan, deliver"),
            Option(name: "topic", value: "TOPICS", doc: "only records of these topics, by commas"),
            Option(name: "since", value: "TIME", doc: "died at or after: RFC 3339, or so long ago, as 2h"),
            Option(name: "until", value: "TIME", doc: "died before"),
            Option(
                name: "limit", value: "N", doc: "of list: how many letters to tell (default 20); of redrive: to send"),
            Option(name: "all", value: nil, doc: "of redrive: all letters, where nothing chooses some"),
            Option(
                name: "dry-run", value: nil, doc: "of redrive: send nothing; tell what would be sent, and die again"),
            Option(name: "rate", value: "N", doc: "of redrive: letters a second (default 100; 0 for no limit)"),
            Option(name: "mended", value: "FILE", doc: "of redrive: lines of an export, their values corrected"),
            Option(name: "raw", value: nil, doc: "of show: the value's bytes alone"),
            Option(name: "json", value: nil, doc: "of list: letters as lines of JSON, as export writes them"),
        ]
    ) { invocation in
        guard let action = invocation.operands.first else {
            throw UsageFault("hush dead takes list, show, redrive or export")
        }
        let dead = try DeadCommand(invocation)
        switch action {
        case "list": return try dead.list()
        case "show": return try dead.show()
        case "redrive": return try dead.redrive()
        case "export": return try dead.export()
        default: throw UsageFault("hush dead takes list, show, redrive or export, and not \(action)")
        }
    }
}

/// A call of `hush dead`: its filter, and how Kafka is reached.
private struct DeadCommand {
    let invocation: Invocation
    let kafka: KafkaConfiguration
    let log: StreamLog
    let filter: LetterFilter
    let attemptsMax: Int

    init(_ invocation: Invocation) throws {
        self.invocation = invocation
        kafka = try KafkaConfiguration(invocation.settings)
        log = StreamLog(invocation.log)
        filter = try Self.filter(invocation)
        attemptsMax = invocation.settings[HushSettings.deadAttemptsMax]
    }

    private static func filter(_ invocation: Invocation) throws -> LetterFilter {
        func parts(_ option: String) -> [String] {
            invocation.text(option)?.split(separator: ",").map(String.init) ?? []
        }
        var filter = LetterFilter()
        filter.codes = Set(parts("code"))
        // Not refused: another version may have written it.
        for code in filter.codes where DeadCode(rawValue: code) == nil {
            let hint = Nearest.match(for: code, among: DeadCode.allCases.map(\.rawValue))
            complain("this version writes no code \(code)\(hint.map { "; did you mean \($0)?" } ?? "")")
        }
        filter.stages = Set(parts("stage"))
        for stage in filter.stages where Stage(rawValue: stage) == nil {
            throw UsageFault("--stage must be plan, deliver, or both by a comma")
        }
        filter.topics = Set(
            try parts("topic").map { name in
                guard let topic = Topic(rawValue: name), Redriver.origins.contains(topic) else {
                    let known = Redriver.origins.map(\.name)
                    throw UsageFault("--topic must be of \(known.joined(separator: ", "))")
                }
                return topic
            })
        filter.since = try time("since", invocation)
        filter.until = try time("until", invocation)
        filter.letters = Set(invocation.operands.dropFirst())
        for letter in filter.letters where !isLetter(letter) {
            throw UsageFault("\(letter) is no letter: name it as 3/17 or as hush.intents/3/1201")
        }
        return filter
    }

    private static func isLetter(_ text: String) -> Bool {
        TopicPlace(text) != nil || TopicPlace("hush.dead/\(text)") != nil
    }

    private static func time(_ option: String, _ invocation: Invocation) throws -> Timestamp? {
        guard let text = invocation.text(option) else { return nil }
        if let time = Timestamp(rfc3339: Bytes(text)) { return time }
        guard let ago = try? SettingText.duration(text) else {
            throw UsageFault("--\(option) must be a time as 2026-12-01T10:00:00Z, or a duration as 2h")
        }
        return Timestamp(millis: WallClock.nowMillis()) - ago
    }

    /// Shows each letter that is meant, with its state.
    private func read(_ body: (Letter, LetterState) throws -> Void) throws {
        let marks = try RedriveMarks.read(kafka, names: TopicNames(), log: log)
        try LetterReader.readAll(kafka, names: TopicNames(), log: log) { letter in
            guard filter.takes(letter) else { return }
            let isRedriven = letter.origin.map { marks.redriven.contains($0) } ?? false
            try body(letter, LetterState(letter, isRedriven: isRedriven, attemptsMax: attemptsMax))
        }
    }

    func list() throws -> ExitCode {
        if invocation.has("json") { return try export() }
        let limit = try invocation.integer("limit", in: 0...1_000_000) ?? 20
        var summary = LetterSummary()
        var newest: [(at: Timestamp, line: String)] = []
        try read { letter, state in
            summary.take(letter, state)
            newest.append((letter.at, LetterText.line(letter, state)))
            // Sorted now and then, so that what is kept stays small.
            if newest.count >= 2 * limit + 1000 { newest = Self.last(limit, of: newest) }
        }
        print(summary.text, terminator: "")
        let shown = Self.last(limit, of: newest)
        if !shown.isEmpty { print("\nthe newest \(shown.count):") }
        for entry in shown { print("  \(entry.line)", terminator: "") }
        return .success
    }

    private static func last(_ limit: Int, of lines: [(at: Timestamp, line: String)]) -> [(at: Timestamp, line: String)]
    {
        Array(lines.sorted { $0.at < $1.at }.suffix(limit))
    }

    func show() throws -> ExitCode {
        guard !filter.letters.isEmpty else { throw UsageFault("hush dead show takes at least one letter, as 3/17") }
        var count = 0
        try read { letter, state in
            count += 1
            if invocation.has("raw") {
                try FileHandle.standardOutput.write(contentsOf: Data(letter.value ?? []))
            } else {
                print(count > 1 ? "\n" : "", LetterText.page(letter, state), separator: "", terminator: "")
            }
        }
        return found(count)
    }

    func export() throws -> ExitCode {
        var count = 0
        try read { letter, state in
            count += 1
            try FileHandle.standardOutput.write(contentsOf: Data(LetterText.json(letter, state)))
        }
        return filter.letters.isEmpty ? .success : found(count)
    }

    private func found(_ count: Int) -> ExitCode {
        if count < filter.letters.count {
            Self.complain("\(filter.letters.count - count) of the letters are not there")
        }
        return count < filter.letters.count ? .failure : .success
    }

    private func redriveOptions() throws -> RedriveOptions {
        var options = RedriveOptions(run: "redrive-\(RFC3339.text(millis: WallClock.nowMillis()))")
        if let path = invocation.text("mended") {
            guard let data = FileManager.default.contents(atPath: path) else {
                throw UsageFault("--mended \(path) cannot be read")
            }
            do {
                options.mended = try MendedFile.read([UInt8](data))
            } catch {
                throw UsageFault("--mended \(path), \(error)")
            }
        }
        guard !filter.isEmpty || !options.mended.isEmpty || invocation.has("all") else {
            throw UsageFault("choose letters, by name or by --code, --stage, --topic, --since, --until; or say --all")
        }
        let rate = try invocation.number("rate", in: 0...1_000_000) ?? 100
        guard rate == 0 || rate >= RatePacer.rateMin else {
            throw UsageFault("--rate must be 0, for no limit, or \(RatePacer.rateMin) letters a second or more")
        }
        options.rate = rate > 0 ? rate : nil
        options.attemptsMax = attemptsMax
        options.isStopped = { StopSignal.isAsked }
        options.pseudonymKey = try PseudonymKey(invocation.settings)
        return options
    }

    func redrive() throws -> ExitCode {
        let options = try redriveOptions()
        // A file of mended letters means these, where nothing else chooses.
        let isByFile = filter.isEmpty && !invocation.has("all")
        let limit = try invocation.integer("limit", in: 1...Int.max) ?? .max
        func isMeant(_ letter: Letter) -> Bool {
            guard isByFile else { return true }
            return letter.origin.map { options.mended[$0] != nil } ?? false
        }
        if invocation.has("dry-run") { return try dryRun(options, isMeant) }
        StopSignal.install()
        var meant = 0
        var taken = 0
        var summary = RedriveSummary()
        do {
            let redriver = try Redriver(kafka, options, log: log)
            defer { summary = redriver.summary }
            try LetterReader.readAll(
                kafka, names: options.names, log: log, isStopped: options.isStopped
            ) { letter in
                guard filter.takes(letter), isMeant(letter) else { return }
                meant += 1
                guard taken < limit else { return }
                if try redriver.take(letter) { taken += 1 }
            }
            _ = try redriver.finish()
        } catch is ReadingStopped {
            // What it was stopped at stays in hush.dead.
        }
        print(
            "redriven \(summary.redriven), redriven before \(summary.already), parked \(summary.parked), "
                + "not hush's \(summary.foreign), refused \(summary.refused.count)")
        for (letter, why) in summary.refused { print("refused \(letter.name): \(why)") }
        if StopSignal.isAsked { Self.complain("stopped; what was redriven stays redriven") }
        let isWhole = summary.refused.isEmpty && !StopSignal.isAsked
        return isWhole ? found(meant) : .failure
    }

    private func dryRun(_ options: RedriveOptions, _ isMeant: (Letter) -> Bool) throws -> ExitCode {
        let forecaster = try RedriveForecast(
            kafka, options, try Policy(invocation.settings), now: Timestamp(millis: WallClock.nowMillis()), log: log)
        var meant = 0
        try read { letter, state in
            guard isMeant(letter) else { return }
            meant += 1
            forecaster.take(letter, state)
        }
        print(forecaster.text, terminator: "")
        return found(meant)
    }

    private static func complain(_ sentence: String) {
        FileHandle.standardError.write(Data("hush dead: \(sentence)\n".utf8))
    }
}
