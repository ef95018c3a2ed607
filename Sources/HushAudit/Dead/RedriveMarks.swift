public import HushStream
public import HushWorkers

/// What `hush.redrives` says, read whole: which letters were redriven, and where the book of redrives stands.
///
/// About a hundred bytes of memory for each letter that was ever redriven.
public struct RedriveMarks: Sendable {
    /// The places at which records died that were sent again.
    public private(set) var redriven: Set<TopicPlace> = []
    public private(set) var ledger = LedgerState()

    public init() {}

    /// Reads all committed marks.
    /// - Throws: `StreamFault.refused` where a record is of a newer version, or none of ours; `ReadingStopped`.
    public static func read(
        _ kafka: KafkaConfiguration, names: TopicNames, patience: Duration = LetterReader.patience,
        log: StreamLog = .silent, isStopped: () -> Bool = { false }
    ) throws -> RedriveMarks {
        var marks = RedriveMarks()
        let document = JSONDocument()
        let topic = names.name(.redrives)
        try LetterReader.readAll(kafka, topic: topic, patience: patience, log: log, isStopped: isStopped) { record in
            try marks.take(record, topic, document)
        }
        return marks
    }

    mutating func take(_ record: ReadRecord, _ topic: String, _ document: JSONDocument) throws(StreamFault) {
        let place = "\(topic)/\(record.partition)/\(record.offset)"
        // A deletion; nothing of ours writes one.
        guard let key = record.key, let value = record.value else { return }
        let known = value.withUnsafeBytes { bytes -> (isKnown: Bool, ledger: LedgerState?)? in
            guard let root = try? document.parse(bytes) else { return nil }
            return (RedriveMark.isKnown(root), RedriveMark.ledgerState(root))
        }
        guard let known else { throw .refused("\(place) is no mark of a redrive: whatever wrote it must not") }
        guard known.isKnown else { throw .refused("\(place) is of a version that this hush does not know") }
        if key == RedriveMark.bookKey {
            guard let state = known.ledger else { throw .refused("\(place) does not say where the ledger stands") }
            ledger = state
        } else if let origin = TopicPlace(String(decoding: key, as: UTF8.self)) {
            redriven.insert(origin)
        } else {
            throw .refused("\(place) has a key that names no place")
        }
    }

    mutating func committed(_ places: [TopicPlace], _ state: LedgerState) {
        redriven.formUnion(places)
        ledger = state
    }
}
