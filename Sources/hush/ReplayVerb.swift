import Foundation
import HushAudit
import HushBase
import HushCore
import HushWorkers

extension Verb {
    static let replay = Verb(
        name: "replay", summary: "decides the inputs again, and compares", operands: "",
        help: """
            Runs the inputs that are kept through the planner again, in the order that the ledger tells, and compares
            plan lines and pushes, byte by byte. It reads committed records without a group, keeps its state in a
            directory of its own, and writes nothing to Kafka but under the prefix of --to-topic. With --what-if it
            tells what other settings would have changed. Ends with 0 where all is the same, 1 where something
            differs, 65 where nothing differs but not all could be replayed, 66 where there is nothing to replay, 69
            where the brokers cannot be read, 74 where a directory cannot be made; with --what-if differences end
            with 0.
            """,
        options: [
            Option(
                name: "what-if", value: "KEY=VALUE",
                doc: "replay under another setting of the planner; several by commas"),
            Option(
                name: "from", value: "TIME",
                doc: "compare what was decided from this time on, RFC 3339 (default: all that is replayed)"),
            Option(name: "to", value: "TIME", doc: "compare what was decided before this time (default: now)"),
            Option(
                name: "from-state", value: "DIR",
                doc: "begin with this state: a snapshot, or a stopped worker's state.dir (default: with none)"),
            Option(
                name: "to-topic", value: "PREFIX",
                doc: "write what the replay makes to topics under PREFIX, as PREFIXhush.pushes"),
            Option(name: "ledger", value: "TOPIC", doc: "read the ledger from a copy of it"),
            Option(
                name: "work-dir", value: "DIR",
                doc: "where its state lies meanwhile: a new directory, removed at the end (default: below TMPDIR)"),
            Option(name: "json", value: nil, doc: "the report as one JSON object on stdout"),
            Option(name: "patience", value: "DURATION", doc: "how long the brokers may give nothing (2m)"),
        ]
    ) { invocation in
        StopSignal.install()
        let scope = try replayScope(invocation)
        let progress = Progress()
        let watch = AuditWatch(progress: { progress.show($0, $1, $2) }, isStopped: { StopSignal.isAsked })
        do {
            let run = try ReplayRun(invocation.settings, scope, watch: watch, log: invocation.log)
            let report = try run.run()
            progress.clear()
            print(
                invocation.has("json")
                    ? String(decoding: report.json, as: UTF8.self) : report.text(isWhatIf: scope.isWhatIf))
            switch report.verdict {
            case .same: return .success
            case .different: return scope.isWhatIf ? .success : .failure
            case .unproved: return .dataError
            }
        } catch {
            progress.clear()
            return try replayCode(error)
        }
    }

    private static func replayCode(_ error: any Error) throws -> ExitCode {
        let code: ExitCode? =
            switch error {
            case ReplayFault.empty: .noInput
            case ReplayFault.directory: .ioError
            case ReplayFault.refused: .failure
            default:
                switch AuditTrouble(error) {
                case .nothing: .noInput
                case .stopped: .dataError
                case .unreachable: .unavailable
                case .file: .ioError
                case .refused: .failure
                case nil: nil
                }
            }
        guard let code else { throw error }
        FileHandle.standardError.write(Data("hush replay: \(error)\n".utf8))
        return code
    }

    private static func replayScope(_ invocation: Invocation) throws -> ReplayScope {
        var settings = invocation.settings
        let changes = invocation.text("what-if")
        if let changes {
            var loader = SettingsLoader(settings)
            for change in changes.split(separator: ",", omittingEmptySubsequences: false) {
                guard let equals = change.firstIndex(of: "="), change.hasPrefix("planner.") else {
                    throw UsageFault("--what-if takes settings of the planner, as planner.live.max=8")
                }
                loader.addArgument(String(change[..<equals]), String(change[change.index(after: equals)...]))
            }
            settings = try loader.load()
        }
        let work =
            invocation.text("work-dir")
            ?? FileManager.default.temporaryDirectory.appending(path: "hush-replay-\(UUID().uuidString)").path
        var scope = ReplayScope(policy: try Policy(settings), workDirectory: work)
        scope.from = try invocation.time("from")
        scope.to = try invocation.time("to")
        if let from = scope.from, let to = scope.to, from >= to { throw UsageFault("--from must be before --to") }
        scope.isWhatIf = changes != nil
        scope.stateDirectory = invocation.text("from-state")
        scope.toPrefix = invocation.text("to-topic")
        if scope.toPrefix?.isEmpty == true { throw UsageFault("--to-topic needs a prefix, as replay.") }
        if let ledger = invocation.text("ledger") { scope.ledgerTopic = ledger }
        if let patience = try invocation.duration("patience") { scope.patience = patience }
        return scope
    }
}
