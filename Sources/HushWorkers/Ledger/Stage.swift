/// The two halves of the pipeline, by the names that settings, ledger and dead letters use.
public enum Stage: String, Hashable, Sendable, CaseIterable {
    case plan
    case deliver
}
