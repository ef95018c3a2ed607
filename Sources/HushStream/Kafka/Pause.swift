import Glibc

/// Blocks the calling thread, between two tries of a call that failed.
package func rest(_ duration: Duration) {
    usleep(
        UInt32(clamping: duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000))
}

extension Duration {
    /// For calls that take an `int` of milliseconds.
    var wholeMilliseconds: Int32 {
        Int32(clamping: components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000)
    }
}
