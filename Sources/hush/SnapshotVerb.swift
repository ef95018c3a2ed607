import Foundation
import HushAudit
import HushBase
import HushStream
import HushWorkers

extension Verb {
    static let snapshot = Verb(
        name: "snapshot", summary: "keeps a worker's state, for replays", operands: "",
        help: """
            Keeps the planner's partitions of a worker in a directory that hush replay --from-state can begin with. With
            --admin a running worker is asked for it, which makes it below its own state.dir, as
            snapshots/2026-12-01T024530.123Z, and works on meanwhile. With --to they are copied from state.dir, which no
            worker may have then; several workers' partitions may go into one directory. Ends with 0, with 69 where the
            worker does not answer or cannot do it now, with 74 where something cannot be copied, with 78 where a worker
            has the directory.
            """,
        options: [
            Option(name: "admin", value: "HOST:PORT", doc: "ask the running worker whose admin port this is"),
            Option(name: "to", value: "DIR", doc: "where a stopped worker's state goes; made where it is not there"),
        ]
    ) { invocation in
        switch (invocation.text("admin"), invocation.text("to")) {
        case (nil, let target?): return try copyState(invocation, to: target)
        case (let address?, nil): return try askWorker(address)
        case (nil, nil): throw UsageFault("hush snapshot needs --admin HOST:PORT or --to DIR")
        case (_?, _?):
            throw UsageFault("--to is for a stopped worker's state: a running one keeps it below its own state.dir")
        }
    }

    private static func copyState(_ invocation: Invocation, to target: String) throws -> ExitCode {
        do {
            let partitions = try StateSnapshot.take(invocation.settings[HushSettings.stateDirectory], to: target)
            print("partitions \(partitions.map(String.init).joined(separator: ", ")) are in \(target)")
            return .success
        } catch let fault as ReplayFault {
            return fail("\(fault)", .ioError)
        }
    }

    private struct SnapshotAnswer: Decodable {
        var state: String
        var path: String
        var partitions: [Int]
        var reason: String
    }

    /// How often a worker is asked whether it is done, and for how long.
    private static let askPause = Duration.milliseconds(200)
    private static let askMax = 3000

    private static func askWorker(_ address: String) throws -> ExitCode {
        guard let colon = address.lastIndex(of: ":"), let port = Int(address[address.index(after: colon)...]),
            (1...65_535).contains(port), colon > address.startIndex
        else { throw UsageFault("--admin must be HOST:PORT, such as 127.0.0.1:9464") }
        let host = address[..<colon].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        do throws(AdminClient.Fault) {
            var answer = try AdminClient.ask(host: host, port: port, method: "POST", path: "/snapshot")
            guard answer.status == 202, let begun = read(answer) else {
                return fail("\(address) answers \(answer.status): \(answer.body.trimmingCharacters(in: .newlines))")
            }
            for _ in 0..<askMax {
                rest(askPause)
                answer = try AdminClient.ask(host: host, port: port, method: "GET", path: "/snapshot")
                guard answer.status == 200, let last = read(answer), last.path == begun.path else {
                    return fail("\(address) knows nothing of \(begun.path) any more")
                }
                if last.state == "running" { continue }
                guard last.state == "done" else { return fail("\(last.path): \(last.reason)", .ioError) }
                let partitions = last.partitions.map(String.init).joined(separator: ", ")
                print("partitions \(partitions) are in \(last.path) on \(host)")
                return .success
            }
            return fail("\(address) is still making \(begun.path)")
        } catch {
            return fail("\(error)")
        }
    }

    private static func read(_ answer: AdminClient.Answer) -> SnapshotAnswer? {
        try? JSONDecoder().decode(SnapshotAnswer.self, from: Data(answer.body.utf8))
    }

    private static func fail(_ reason: String, _ code: ExitCode = .unavailable) -> ExitCode {
        FileHandle.standardError.write(Data("hush snapshot: \(reason)\n".utf8))
        return code
    }
}
