import Foundation
import HushAPNs

/// A server of somebody else's in a process of its own; it ends with the object.
final class Peer {
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    let port: UInt16
    private let process = Process()
    private let output = Pipe()
    private var collected = Data()

    /// Starts a program; `port` replaces the word PORT among its arguments, and the peer is ready once it accepts.
    init(_ program: String, _ arguments: [String]) throws {
        port = try Self.freePort()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments.map { $0 == "PORT" ? String(port) : $0 }
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let deadline = ContinuousClock.now + .seconds(20)
        while !Self.accepts(port) {
            guard process.isRunning, ContinuousClock.now < deadline else {
                end()
                throw Fault(description: "\(program) does not listen")
            }
            usleep(10_000)
        }
    }

    deinit {
        end()
    }

    /// Stops it, and waits until it stands still: a thread of it may answer until then.
    func stop() {
        kill(process.processIdentifier, SIGSTOP)
        let deadline = ContinuousClock.now + .seconds(20)
        while !standsStill, ContinuousClock.now < deadline { usleep(1_000) }
    }

    /// Whether each of its threads is stopped, by proc(5).
    private var standsStill: Bool {
        let tasks = "/proc/\(process.processIdentifier)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
        return threads.allSatisfy { thread in
            let stat = (try? String(contentsOfFile: "\(tasks)/\(thread)/stat", encoding: .utf8)) ?? ""
            return stat.split(separator: ")").last?.hasPrefix(" T") ?? true
        }
    }

    func resume() { kill(process.processIdentifier, SIGCONT) }

    /// Ends the peer and returns what it printed.
    func finish() -> String {
        end()
        return String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }

    /// SIGKILL, for a process started from one of Dispatch's threads inherits that SIGTERM is blocked.
    private func end() {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    static func find(_ program: String) -> String? {
        ["/usr/bin/", "/usr/sbin/", "/usr/local/bin/"].map { $0 + program }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }

    private static func freePort() throws -> UInt16 {
        let raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(raw) }
        var address = loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let named = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(raw, $0, length) == 0 && getsockname(raw, $0, &length) == 0
            }
        }
        guard named else { throw Fault(description: "no free port") }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func accepts(_ port: UInt16) -> Bool {
        let raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(raw) }
        var address = loopback(port)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(raw, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
        return address
    }
}
