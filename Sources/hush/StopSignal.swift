import Foundation
import Synchronization

/// Whether SIGTERM or SIGINT asked this process to end.
enum StopSignal {
    private static let asked = Atomic(false)

    static var isAsked: Bool { asked.load(ordering: .acquiring) }

    /// From here on both signals only ask; a verb that waits looks at `isAsked`.
    static func install() {
        for number in [SIGTERM, SIGINT] {
            signal(number) { _ in StopSignal.asked.store(true, ordering: .releasing) }
        }
    }
}
