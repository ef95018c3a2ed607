/// How far each of some ranges is read.
struct RangeProgress {
    let ranges: [RecordRange]
    /// Range by range, the offset up to which it was read.
    private(set) var reached: [Int64]
    /// Ranges that are not done.
    private(set) var openCount: Int
    private var isDone: [Bool]
    private var isMoved = false

    init(_ ranges: [RecordRange]) {
        self.ranges = ranges
        reached = ranges.map(\.start)
        isDone = ranges.map(\.isEmpty)
        openCount = ranges.count { !$0.isEmpty }
    }

    /// Whether a record is to be shown: `took` follows. `isEnd` where it is none, and its partition ends there.
    ///
    /// A range that is done moves nothing: its partition may go on growing while another's leader is gone.
    mutating func admit(_ index: Int, _ offset: Int64, isEnd: Bool) -> Bool {
        if isDone[index] { return false }
        isMoved = true
        if isEnd || offset >= ranges[index].end {
            finish(index, at: min(offset, ranges[index].end))
            return false
        }
        // What an earlier assignment left in the queue is shown once.
        return offset >= reached[index]
    }

    /// A record was shown.
    mutating func took(_ index: Int, _ offset: Int64, goesOn: Bool) {
        reached[index] = offset + 1
        if !goesOn || offset + 1 >= ranges[index].end { finish(index, at: offset + 1) }
    }

    /// Whether any range that was open moved since this was asked last.
    mutating func takeMoved() -> Bool {
        defer { isMoved = false }
        return isMoved
    }

    private mutating func finish(_ index: Int, at offset: Int64) {
        reached[index] = max(reached[index], offset)
        isDone[index] = true
        openCount -= 1
    }
}
