public import HushBase
import HushStream
import HushWorkers

extension AuditRun {
    /// Connects as it is set.
    public convenience init(_ settings: Settings, _ scope: AuditScope, watch: AuditWatch, log: Log) throws {
        var scope = scope
        scope.pseudonymKey = try PseudonymKey(settings)
        try self.init(try KafkaConfiguration(settings), scope, watch: watch, log: StreamLog(log))
    }
}

/// Why an audit gave no report, by what a caller does about it.
public enum AuditTrouble: Hashable, Sendable {
    /// There is nothing to audit.
    case nothing
    /// Somebody asked to stop.
    case stopped
    /// The brokers cannot be reached, or gave nothing.
    case unreachable
    /// The SQLite file cannot be made.
    case file
    /// A setting, a topic or a range is not as it must be.
    case refused

    /// Nil where the error is none of an audit.
    public init?(_ error: any Error) {
        switch error {
        case AuditFault.empty: self = .nothing
        case AuditFault.database: self = .file
        case is AuditFault: self = .refused
        case RangeFault.stopped: self = .stopped
        case RangeFault.stream(.refused), StreamFault.refused: self = .refused
        case is RangeFault, is StreamFault: self = .unreachable
        default: return nil
        }
    }
}
