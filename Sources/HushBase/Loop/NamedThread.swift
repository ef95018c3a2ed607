private import CLinux
private import Glibc
import Synchronization

/// A POSIX thread of our own, outside of Swift's pool, so that what runs on it may block.
///
/// Every thread must be joined: a handle that goes without it leaks the thread's stack.
public final class NamedThread: Sendable {
    private let handle: Mutex<pthread_t?>

    private init(_ thread: pthread_t) {
        handle = Mutex(thread)
    }

    /// Starts a thread. Its name is cut to 15 bytes (`top -H` and perf show it), its stack is at least 1 MB.
    public static func start(
        name: String, stackBytes: Int = 2 << 20, _ body: @escaping @Sendable () -> Void
    ) throws(SystemFault) -> NamedThread {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        let sized = pthread_attr_setstacksize(&attributes, max(stackBytes, 1 << 20))
        guard sized == 0 else { throw SystemFault(call: "pthread_attr_setstacksize", code: sized) }

        let start = Unmanaged.passRetained(Start(name: name, body: body))
        var thread = pthread_t()
        let created = pthread_create(&thread, &attributes, { NamedThread.enter($0) }, start.toOpaque())
        guard created == 0 else {
            start.release()
            throw SystemFault(call: "pthread_create", code: created)
        }
        return NamedThread(thread)
    }

    /// Waits for the thread's end; a second call returns at once.
    public func join() {
        let thread = handle.withLock { handle in
            defer { handle = nil }
            return handle
        }
        if let thread { pthread_join(thread, nil) }
    }

    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    private static func enter(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let argument else { return nil }
        let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        hush_name_thread(start.name)
        start.body()
        return nil
    }
}
