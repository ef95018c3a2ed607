import Foundation
import Testing

/// Runs the command as a shell would, with an environment of its own and in an empty directory.
struct Hush {
    var status: Int32
    var output: String
    var errors: String

    /// How long it may take on a busy machine.
    private static let deadline = Duration.seconds(60)

    /// `stopAfter`: words on standard error at which the command gets SIGTERM, or where it has an open input the end of
    /// that. `openInput`: what comes on standard input, which stays open.
    init(
        _ arguments: [String], environment: [String: String] = [:], files: [String: String] = [:],
        stopAfter words: String? = nil, openInput: String? = nil
    ) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("hush-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        for (name, text) in files {
            try text.write(to: directory.appendingPathComponent(name), atomically: true, encoding: .utf8)
        }
        // Files, for a pipe that nobody reads would hold the command up.
        let (standardOutput, standardError) = (directory.appending(path: ".out"), directory.appending(path: ".err"))
        func told(_ file: URL) throws -> String { String(decoding: try Data(contentsOf: file), as: UTF8.self) }
        for file in [standardOutput, standardError] { try Data().write(to: file) }
        let process = Process()
        // The tests' own executable lies beside it.
        let here = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        process.executableURL = URL(fileURLWithPath: here).deletingLastPathComponent().appendingPathComponent("hush")
        process.arguments = arguments
        process.environment = environment
        process.currentDirectoryURL = directory
        process.standardOutput = try FileHandle(forWritingTo: standardOutput)
        process.standardError = try FileHandle(forWritingTo: standardError)
        let input = Pipe()
        if let openInput {
            process.standardInput = input
            try input.fileHandleForWriting.write(contentsOf: Data(openInput.utf8))
        }
        try process.run()
        let end = ContinuousClock.now + Self.deadline
        var isAsked = words == nil
        while process.isRunning {
            if ContinuousClock.now > end {
                kill(process.processIdentifier, SIGKILL)
                Issue.record("hush \(arguments.joined(separator: " ")) did not end: \(try told(standardError))")
                break
            }
            if !isAsked, let words, try told(standardError).contains(words) {
                // A process that Dispatch's threads start may have SIGTERM blocked, which only a handler undoes.
                if openInput == nil { process.terminate() } else { try input.fileHandleForWriting.close() }
                isAsked = true
            }
            usleep(5000)
        }
        process.waitUntilExit()
        status = process.terminationStatus
        output = try told(standardOutput)
        errors = try told(standardError)
    }
}
