import Foundation
import HushAudit
import HushBase
import HushCore
import HushWorkers

extension Verb {
    static let audit = Verb(
        name: "audit", summary: "proves the books, or tells one notification's story", operands: "",
        help: """
            Reads inputs, ledger and pushes (committed records, no group, no right to write) and proves: every input
            has one plan line an id, every op one final outcome or is pending, each task's lines have no gap and fit
            their digests, and the counts of every hour add up. A running pipeline may be audited. With --recipient
            and --id it prints that notification's way instead. Ends with 0 where all is proved, 1 where something is
            wrong, each named by topic, partition and offset; 65 where nothing is wrong but not all could be read, 66
            where the range holds nothing, 69 where the brokers cannot be read, 74 where the SQLite file cannot be
            written.
            """,
        options: [
            Option(
                name: "from", value: "TIME", doc: "inputs from this time on (RFC 3339; default: all that is kept whole)"
            ),
            Option(name: "to", value: "TIME", doc: "inputs before this time (default: now)"),
            Option(name: "offsets", value: "RANGE", doc: "only these inputs, as hush.intents-3:1200-1300"),
            Option(name: "ledger", value: "TOPIC", doc: "read the ledger from a copy of it"),
            Option(name: "recipient", value: "NAME", doc: "tell the story of a notification of NAME; needs --id"),
            Option(name: "id", value: "ID", doc: "which notification"),
            Option(name: "json", value: nil, doc: "the report as one JSON object on stdout"),
            Option(name: "sqlite", value: "FILE", doc: "write all that was read into a new SQLite file"),
            Option(name: "patience", value: "DURATION", doc: "how long the brokers may give nothing (2m)"),
        ]
    ) { invocation in
        StopSignal.install()
        let scope = try auditScope(invocation)
        let progress = Progress()
        let watch = AuditWatch(progress: { progress.show($0, $1, $2) }, isStopped: { StopSignal.isAsked })
        do {
            let run = try AuditRun(invocation.settings, scope, watch: watch, log: invocation.log)
            if let recipient = invocation.text("recipient"), let id = invocation.text("id") {
                let story = try run.story(recipient: Bytes(recipient), id: Bytes(id))
                progress.clear()
                print(story.text)
                if story.foreignKey != nil { return .dataError }
                return story.isEmpty ? .noInput : .success
            }
            return try prove(run, invocation, progress)
        } catch {
            progress.clear()
            guard let trouble = AuditTrouble(error) else { throw error }
            complain("\(error)")
            switch trouble {
            case .nothing: return .noInput
            case .stopped: return .dataError
            case .unreachable: return .unavailable
            case .file: return .ioError
            case .refused: return .failure
            }
        }
    }

    private static func prove(_ run: AuditRun, _ invocation: Invocation, _ progress: Progress) throws -> ExitCode {
        let database = try invocation.text("sqlite").map { (path) throws(AuditFault) in try AuditDatabase(path: path) }
        run.rows = database
        let report = try run.run()
        database?.finish(report)
        progress.clear()
        if invocation.has("json") {
            print(String(decoding: report.json, as: UTF8.self))
        } else {
            print(report.text)
        }
        if let fault = database?.fault { complain("\(fault): the file was not written") }
        switch report.verdict {
        case .violated: return .failure
        case .unproved where report.doubts.contains { $0.code == .brokersSilent }: return .unavailable
        case .unproved: return .dataError
        case .proved: return database?.fault == nil ? .success : .ioError
        }
    }

    private static func auditScope(_ invocation: Invocation) throws(UsageFault) -> AuditScope {
        var scope = AuditScope()
        scope.from = try invocation.time("from")
        scope.to = try invocation.time("to")
        if let from = scope.from, let to = scope.to, from >= to {
            throw UsageFault("--from must be before --to")
        }
        if let text = invocation.text("offsets") {
            guard scope.from == nil, scope.to == nil else { throw UsageFault("--offsets excludes --from and --to") }
            guard let offsets = AuditScope.Offsets(text) else {
                throw UsageFault("--offsets must be as hush.intents-3:1200-1300")
            }
            scope.offsets = offsets
        }
        guard (invocation.text("recipient") == nil) == (invocation.text("id") == nil) else {
            throw UsageFault("--recipient and --id go together")
        }
        if let ledger = invocation.text("ledger") { scope.ledgerTopic = ledger }
        if let patience = try invocation.duration("patience") { scope.patience = patience }
        return scope
    }

    private static func complain(_ sentence: String) {
        FileHandle.standardError.write(Data("hush audit: \(sentence)\n".utf8))
    }
}

/// One line on a terminal that says how far a long reading is; nothing where standard error is none.
final class Progress {
    private let isShown = Terminal.isError
    private var width = 0

    func show(_ what: String, _ done: Int64, _ total: Int64) {
        guard isShown else { return }
        let share = total > 0 ? done * 100 / total : 100
        let text = "\(what): \(done) of \(total) (\(share) %)"
        FileHandle.standardError.write(
            Data(("\r" + text + String(repeating: " ", count: max(0, width - text.count))).utf8))
        width = text.count
    }

    func clear() {
        guard isShown, width > 0 else { return }
        FileHandle.standardError.write(Data(("\r" + String(repeating: " ", count: width) + "\r").utf8))
        width = 0
    }
}
