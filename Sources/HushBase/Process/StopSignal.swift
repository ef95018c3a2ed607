private import Glibc
import Synchronization

/// Whether SIGTERM or SIGINT asked this process to end.
public enum StopSignal {
    private static let asked = Atomic(false)

    public static var isAsked: Bool { asked.load(ordering: .acquiring) }

    /// From here on both signals only ask; whoever runs looks at `isAsked`.
    public static func install() {
        for number in [SIGTERM, SIGINT] {
            // A store to an atomic is all that a signal handler may do here.
            _ = signal(number) { _ in StopSignal.asked.store(true, ordering: .releasing) }
        }
        // Whoever started us may have blocked them, as libdispatch does in its threads, and a child inherits that.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }
}
