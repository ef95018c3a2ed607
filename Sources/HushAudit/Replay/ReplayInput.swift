import HushCore
import HushStream

/// A record of a planner input, kept until its turn comes.
struct ReplayInput: Hashable {
    var offset: Int64
    var appended: Timestamp
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [RecordHeader] = []

    init(offset: Int64, appended: Timestamp, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader] = []) {
        self.offset = offset
        self.appended = appended
        self.key = key
        self.value = value
        self.headers = headers
    }

    init(_ record: InputRecord) {
        offset = record.offset
        appended = Timestamp(millis: record.appendTimeMillis)
        key = record.key.map { [UInt8]($0) }
        value = record.value.map { [UInt8]($0) }
        headers = record.headers.copied()
    }
}

/// One topic's records that wait for their turn, in the order of their offsets.
struct ReplayQueue {
    private var records: ArraySlice<ReplayInput> = []
    /// Whether it is known with which record the next part begins: at the topic's very first, or where a part ended.
    var isAnchored: Bool

    init(isAnchored: Bool) {
        self.isAnchored = isAnchored
    }

    mutating func append(_ record: ReplayInput) { records.append(record) }

    /// How many there are below an offset.
    func count(below end: Int64) -> Int { records.prefix { $0.offset < end }.count }

    mutating func drop(_ count: Int) { records.removeFirst(min(count, records.count)) }

    /// The next one below an offset.
    mutating func next(below end: Int64) -> ReplayInput? {
        guard let first = records.first, first.offset < end else { return nil }
        return records.removeFirst()
    }
}
