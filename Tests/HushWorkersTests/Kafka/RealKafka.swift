import Foundation
import HushStream
import Testing

/// The broker that `scripts/test` starts, and names that are a test's own.
enum RealKafka {
    static let bootstrap = ProcessInfo.processInfo.environment["HUSH_TEST_KAFKA"]
    static var isThere: Bool { bootstrap != nil }

    static func configuration() throws -> KafkaConfiguration {
        try KafkaConfiguration(bootstrapServers: try #require(bootstrap))
    }

    static func suffix() -> String { String(UInt64.random(in: 0 ... .max), radix: 36) }

    /// Runs a program of somebody else's to its end, with text on its standard input; its output.
    static func run(_ program: String, _ arguments: [String], input: String = "") throws -> String {
        let process = Process()
        let (stdin, stdout) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["timeout", "60", program] + arguments
        process.standardInput = stdin
        process.standardOutput = stdout
        try process.run()
        stdin.fileHandleForWriting.write(Data(input.utf8))
        try stdin.fileHandleForWriting.close()
        let output = stdout.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(program) ended with \(process.terminationStatus)")
        return String(decoding: output, as: UTF8.self)
    }
}
