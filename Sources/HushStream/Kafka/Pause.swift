import Glibc

/// Blocks the calling thread, between two tries of a call that failed.
package func rest(_ duration: Duration) {
    usleep(
        UInt32(clamping: duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000))
}

/// Calls until it succeeds what may pass by itself: a moving leader, "coordinator loading" of a fresh cluster.
/// - Throws: what is not retriable at once, else what the first try said that ended behind the limit.
func retrying<Answer>(
    for limit: Duration, every pause: Duration = .milliseconds(100), _ body: () throws(StreamFault) -> Answer
) throws(StreamFault) -> Answer {
    let deadline = ContinuousClock.now + limit
    while true {
        do throws(StreamFault) {
            return try body()
        } catch {
            guard case .retriable = error, ContinuousClock.now < deadline else { throw error }
            rest(pause)
        }
    }
}

extension Duration {
    /// For calls that take an `int` of milliseconds.
    var wholeMilliseconds: Int32 {
        Int32(clamping: components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000)
    }
}
