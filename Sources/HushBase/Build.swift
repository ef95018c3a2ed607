/// What this program calls itself in logs, metrics, the ledger and `hush --version`.
public enum Build {
    public static let version = "0.1.0"
}
