import Foundation

/// A child process whose CPU time is known at its end.
final class ChildProcess {
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    /// The port that replaced the word PORT among the arguments.
    let port: UInt16
    private var id: pid_t = 0

    /// Starts a program, looked up in PATH; one that listens is ready when this returns.
    init(_ program: String, _ arguments: [String], listens: Bool = true) throws {
        port = listens ? try Self.freePort() : 0
        let words = [program] + arguments.map { [port] in $0 == "PORT" ? String(port) : $0 }
        var pointers = words.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        let code = posix_spawnp(&id, program, &actions, nil, &pointers, environ)
        guard code == 0 else {
            throw Fault(description: "\(program) cannot be started: \(String(cString: strerror(code)))")
        }
        guard listens else { return }
        for _ in 0..<1000 {
            if Self.accepts(port) { return }
            usleep(10_000)
        }
        _ = end()
        throw Fault(description: "\(program) does not listen")
    }

    /// Waits for the end; user and system seconds, and the exit status.
    func wait() -> (cpuSeconds: Double, status: Int32) {
        var usage = rusage()
        var status: Int32 = 0
        wait4(id, &status, 0, &usage)
        return (Self.seconds(usage), status)
    }

    func end() -> Double {
        kill(id, SIGKILL)
        return wait().cpuSeconds
    }

    /// User and system seconds of this process so far, of all its threads.
    static func ownCPUSeconds() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return seconds(usage)
    }

    private static func seconds(_ usage: rusage) -> Double {
        Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }

    private static func freePort() throws -> UInt16 {
        let raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(raw) }
        var address = loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(raw, $0, length) == 0 && getsockname(raw, $0, &length) == 0
            }
        }
        guard isBound else { throw Fault(description: "no free port") }
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
