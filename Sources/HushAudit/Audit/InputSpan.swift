import Glibc
import HushCore

/// What is known of the records of one input partition in the range of an audit: 20 bytes an offset, in memory that the
/// system gives when it is touched.
///
/// Each record adds the hashes of the ids that must have a plan line, and each plan line takes its own away: where both
/// agree, a record's sum is zero.
final class InputSpan {
    let topic: InputTopic
    let partition: Int32
    let start: Int64
    let end: Int64
    private let ids: UnsafeMutablePointer<UInt64>
    private let ops: UnsafeMutablePointer<UInt64>
    private let marks: UnsafeMutablePointer<UInt32>
    /// From which offset on records are of which hour since 1970.
    private var hours: [(first: Int64, hour: Int64)] = []
    private var lastHour = 0
    /// The first offset that no order line of the planner covers: what stands behind it waits for the planner.
    var planned: Int64

    private static let isThere: UInt32 = 1
    private static let isBuried: UInt32 = 2
    private static let isUncheckable: UInt32 = 4
    private static let countMask: UInt32 = 0xFFF

    /// Nil where there is no memory for so many offsets.
    init?(_ topic: InputTopic, _ partition: Int32, start: Int64, end: Int64) {
        self.topic = topic
        self.partition = partition
        self.start = start
        self.end = max(start, end)
        planned = start
        let count = Int(max(1, end - start))
        guard let ids = calloc(count, 8), let ops = calloc(count, 8), let marks = calloc(count, 4) else { return nil }
        self.ids = ids.assumingMemoryBound(to: UInt64.self)
        self.ops = ops.assumingMemoryBound(to: UInt64.self)
        self.marks = marks.assumingMemoryBound(to: UInt32.self)
    }

    deinit {
        free(ids)
        free(ops)
        free(marks)
    }

    func contains(_ offset: Int64) -> Bool { offset >= start && offset < end }

    // MARK: what is taken in; the offset is one of the span's

    /// A record that calls for so many lines, whose ids sum up to `sum`.
    func took(_ offset: Int64, hour: Int64, lines: Int, sum: UInt64) {
        let at = Int(offset - start)
        marks[at] |= Self.isThere | UInt32(min(lines, Int(Self.countMask))) << 8
        ids[at] &+= sum
        // Brokers' clocks may go back a little; an hour that has begun has begun.
        if hour > hours.last?.hour ?? .min { hours.append((offset, hour)) }
    }

    /// A plan line; `isBurial` where one dead letter stands for the whole record.
    func tookLine(_ offset: Int64, id: UInt64, isBurial: Bool, ops sum: UInt64, isCheckable: Bool) {
        let at = Int(offset - start)
        if marks[at] >> 20 < Self.countMask { marks[at] += 1 << 20 }
        if isBurial { marks[at] |= Self.isBuried }
        if !isCheckable { marks[at] |= Self.isUncheckable }
        ids[at] &-= id
        ops[at] &+= sum
    }

    /// A line that answers no id of the record: of a slice, of a notification that had to make room, or of one that a
    /// register brings.
    func tookExtraLine(_ offset: Int64, ops sum: UInt64, isCheckable: Bool) {
        let at = Int(offset - start)
        if !isCheckable { marks[at] |= Self.isUncheckable }
        ops[at] &+= sum
    }

    func tookPush(_ offset: Int64, ops sum: UInt64) {
        ops[Int(offset - start)] &-= sum
    }

    // MARK: what came of it

    enum State: Hashable {
        case right
        /// No record and no line: a hole in the topic, such as a transaction's marker or an aborted record.
        case hole
        case withoutLine
        case tooFewLines(Int, of: Int)
        case tooManyLines(Int, of: Int)
        case foreignID
        case lineWithoutRecord
    }

    func state(_ offset: Int64) -> State {
        let at = Int(offset - start)
        let mark = marks[at]
        let wanted = Int(mark >> 8 & Self.countMask)
        let lines = Int(mark >> 20)
        guard mark & Self.isThere != 0 else { return lines == 0 ? .hole : .lineWithoutRecord }
        // One dead letter may stand for a whole record.
        if mark & Self.isBuried != 0, lines == 1, wanted > 0 { return .right }
        if lines == 0, wanted > 0 { return .withoutLine }
        if lines < wanted { return .tooFewLines(lines, of: wanted) }
        if lines > wanted { return .tooManyLines(lines, of: wanted) }
        return ids[at] == 0 ? .right : .foreignID
    }

    /// Lines that the record calls for.
    func wanted(_ offset: Int64) -> Int { Int(marks[Int(offset - start)] >> 8 & Self.countMask) }

    /// Whether the record's ops are the same in plan lines and in `hush.pushes`; true where that cannot be told.
    func areOpsRight(_ offset: Int64) -> Bool {
        let at = Int(offset - start)
        return ops[at] == 0 || marks[at] & Self.isUncheckable != 0
    }

    /// How many records stand between two offsets.
    func count(from first: Int64, to last: Int64) -> Int {
        var count = 0
        for at in Int(first - start)..<Int(last - start) where marks[at] & Self.isThere != 0 { count += 1 }
        return count
    }

    /// The hour in which a record was appended, as hours since 1970.
    func hour(of offset: Int64) -> Int64 {
        if lastHour < hours.count, hours[lastHour].first <= offset,
            lastHour + 1 == hours.count || offset < hours[lastHour + 1].first
        {
            return hours[lastHour].hour
        }
        var low = 0
        var high = hours.count
        while low < high {
            let middle = (low + high) / 2
            if hours[middle].first <= offset { low = middle + 1 } else { high = middle }
        }
        lastHour = max(0, low - 1)
        return hours.isEmpty ? 0 : hours[lastHour].hour
    }
}
