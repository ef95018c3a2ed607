import Foundation
import HushBase
public import HushWorkers

/// Workers that a load test starts: processes of this program, one stage each, so that each stage's CPU is known.
public final class WorkerProcesses {
    /// CPU time by stage.
    public struct Usage: Hashable, Sendable {
        public var seconds: [Stage: Double] = [:]

        static func - (left: Usage, right: Usage) -> Usage {
            var usage = left
            for (stage, seconds) in right.seconds { usage.seconds[stage, default: 0] -= seconds }
            return usage
        }
    }

    private var processes: [(stage: Stage, process: Process, log: String)] = []
    /// The last time each was looked at: a process that has ended tells nothing more.
    private var lastSeconds: [Int32: Double] = [:]

    /// How long one may take to drain and leave.
    private static let endLimit = Duration.seconds(20)

    public init() {}

    /// Starts `count` workers of each stage; `arguments` are settings for all of them, as `--key=value`.
    /// - Throws: where a log cannot be written, or the program cannot be started.
    public func start(
        program: String, stages: [Stage], count: Int, directory: String, arguments: [String]
    ) throws {
        for stage in stages {
            for number in 0..<count {
                let name = "load-\(stage.rawValue)-\(number)"
                let log = "\(directory)/\(name).log"
                guard FileManager.default.createFile(atPath: log, contents: nil),
                    let output = FileHandle(forWritingAtPath: log)
                else { throw LoadFault("\(log) cannot be written") }
                let process = Process()
                process.executableURL = URL(fileURLWithPath: program)
                process.arguments =
                    ["run", "--run.stages=\(stage.rawValue)", "--run.name=\(name)", "--admin.port=0"]
                    + ["--state.dir=\(directory)/\(name)"] + arguments
                    // A load test knows its own lines by their recipients.
                    + ["--ledger.pseudonym.key.file="]
                process.standardInput = FileHandle.nullDevice
                process.standardOutput = output
                process.standardError = output
                try process.run()
                processes.append((stage, process, log))
            }
        }
    }

    /// Why a worker has ended; nil while all run.
    public var failure: String? {
        for (stage, process, log) in processes where !process.isRunning {
            let tail = (try? String(contentsOfFile: log, encoding: .utf8))?.split(separator: "\n").last ?? ""
            return "a worker of \(stage.rawValue) ended with \(process.terminationStatus): \(tail)"
        }
        return nil
    }

    /// User and system time of all workers so far.
    public var usage: Usage {
        var usage = Usage()
        for (stage, process, _) in processes {
            let id = process.processIdentifier
            if let seconds = Self.cpuSeconds(of: id) { lastSeconds[id] = seconds }
            usage.seconds[stage, default: 0] += lastSeconds[id] ?? 0
        }
        return usage
    }

    /// Asks all to drain and leave, and waits for them; those that do not are killed.
    public func stop() {
        for (_, process, _) in processes where process.isRunning { process.terminate() }
        let deadline = MonotonicTime.now() + Self.endLimit
        for (_, process, _) in processes {
            while process.isRunning, MonotonicTime.now() < deadline { usleep(20_000) }
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
            process.waitUntilExit()
        }
        processes = []
    }

    /// The fields of `/proc/PID/stat` behind the name in parentheses, which may hold anything: utime is the 14th of all.
    static func cpuSeconds(of id: Int32) -> Double? {
        guard let data = FileManager.default.contents(atPath: "/proc/\(id)/stat") else { return nil }
        let text = String(decoding: data, as: UTF8.self)
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return nil }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
