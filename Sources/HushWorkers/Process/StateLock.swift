import CLinux
import Glibc
import HushBase

/// Holds a state directory for one process: two would each take the other's partitions for their own.
///
/// The lock is the kernel's, on the open file, so it goes with the process however that ends.
struct StateLock: ~Copyable, Sendable {
    private let file: Descriptor

    /// - Throws: `SettingsFault` where another process has the directory, or the lock file cannot be made.
    /// `remedy` says what to do where a process has it.
    init(
        directory: String, remedy: String = "another process: give each process a state.dir of its own"
    ) throws(SettingsFault) {
        let path = "\(directory)/process.lock"
        let key = HushSettings.stateDirectory.definition.key
        let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard opened >= 0 else {
            throw SettingsFault(["\(key): \(path) cannot be opened: \(String(cString: strerror(errno)))"])
        }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            close(opened)
            throw SettingsFault([
                "\(key): \(directory) is in use by \(remedy)"
            ])
        }
        file = Descriptor(owning: opened)
    }
}

/// The state directory of a process, for tools that look at it while no process has it.
public enum StateDirectory {
    /// - Throws: `SettingsFault` where a process has the directory, and what `body` throws.
    public static func whileLocked<Value>(_ directory: String, _ body: () throws -> Value) throws -> Value {
        let holder = try Holder(directory)
        return try withExtendedLifetime(holder, body)
    }

    private final class Holder {
        private let lock: StateLock

        init(_ directory: String) throws(SettingsFault) {
            lock = try StateLock(
                directory: directory, remedy: "a worker: hush snapshot --admin HOST:PORT has it make a copy itself")
        }
    }
}
