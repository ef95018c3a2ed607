public import HushCore

/// The topics of the pipeline by their names.
public enum Topic: String, Hashable, Sendable, CaseIterable {
    case intents = "hush.intents"
    case reads = "hush.reads"
    case devices = "hush.devices"
    case signals = "hush.signals"
    case fanout = "hush.fanout"
    case pushes = "hush.pushes"
    case ledger = "hush.ledger"
    case dead = "hush.dead"
    case plannerMarks = "hush.planner.marks"
    case plannerRows = "hush.planner.rows"
    case delivererRows = "hush.deliverer.rows"
    case redrives = "hush.redrives"

    public var name: String { rawValue }

    /// Which of the two partition counts it has.
    public enum Side: Sendable {
        case planner
        case deliverer
    }

    public var side: Side {
        switch self {
        case .intents, .reads, .devices, .signals, .fanout, .ledger, .plannerMarks, .plannerRows: .planner
        case .pushes, .delivererRows: .deliverer
        // Every stage writes it, each under the record's own key.
        case .dead, .redrives: .planner
        }
    }

    /// What the planner reads, in the order of its inputs; the deliverer reads pushes.
    public static let plannerInputs: [Topic] = [.intents, .reads, .devices, .signals, .fanout]
}

extension InputTopic {
    public var topic: Topic {
        switch self {
        case .intents: .intents
        case .reads: .reads
        case .devices: .devices
        case .signals: .signals
        case .fanout: .fanout
        }
    }
}
