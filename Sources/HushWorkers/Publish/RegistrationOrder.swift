public import HushCore

/// Keeps registrations of one token apart in time.
///
/// A token belongs to whom the latest registration names, by the brokers' clock. Two persons' registrations lie in two
/// partitions as a rule, and a producer with several batches under way may append them in either order; so the later
/// one goes only when the earlier one has its time.
public struct RegistrationOrder: Sendable {
    /// Tokens remembered between two waits.
    static let tokensMax = 10_000

    private var underWay: Set<Bytes> = []

    public init() {}

    /// Whether everything sent must be settled (`RecordProducer.settle`) before a registration of this token goes.
    public mutating func mustSettle(before token: Bytes) -> Bool {
        guard underWay.count >= Self.tokensMax || underWay.contains(token) else {
            underWay.insert(token)
            return false
        }
        underWay = [token]
        return true
    }
}
