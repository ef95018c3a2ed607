/// Counts latencies for reports, as HdrHistogram does: every power of two is cut into 64 equal parts, so a value read
/// back is at most 1/64 too high and the whole takes 30 KB. Of one thread; merge those of several.
public struct LatencyHistogram: Sendable {
    private static let partBits = 6
    private static let parts = 1 << partBits

    private var counts: [UInt64]
    public private(set) var count: UInt64 = 0
    /// The smallest and largest value recorded, in nanoseconds; 0 where there is none.
    public private(set) var minNanos: Int64 = 0
    public private(set) var maxNanos: Int64 = 0
    private var sumNanos: Double = 0
    private var sumSquares: Double = 0

    public init() {
        counts = Array(repeating: 0, count: Self.index(of: .max) + 1)
    }

    /// Records a latency; a negative one, from clocks that disagree, counts as 0.
    public mutating func record(_ latency: Duration) {
        record(nanos: latency.wholeNanos)
    }

    public mutating func record(nanos: Int64) {
        let value = max(0, nanos)
        counts[Self.index(of: value)] += 1
        minNanos = count == 0 ? value : min(minNanos, value)
        maxNanos = max(maxNanos, value)
        sumNanos += Double(value)
        sumSquares += Double(value) * Double(value)
        count += 1
    }

    /// Adds what another one counted.
    public mutating func merge(_ other: LatencyHistogram) {
        if other.count == 0 { return }
        for index in counts.indices { counts[index] += other.counts[index] }
        minNanos = count == 0 ? other.minNanos : min(minNanos, other.minNanos)
        maxNanos = max(maxNanos, other.maxNanos)
        sumNanos += other.sumNanos
        sumSquares += other.sumSquares
        count += other.count
    }

    public var meanNanos: Double { count == 0 ? 0 : sumNanos / Double(count) }

    /// The standard deviation.
    public var deviationNanos: Double {
        count == 0 ? 0 : max(0, sumSquares / Double(count) - meanNanos * meanNanos).squareRoot()
    }

    /// How many values were counted up to the place where this one is counted.
    public func count(through nanos: Int64) -> UInt64 {
        counts[...Self.index(of: max(0, nanos))].reduce(0, +)
    }

    /// The value that a share of the values (0.99 for p99) does not exceed, in nanoseconds; 0 where there is none.
    public func nanos(atQuantile quantile: Double) -> Int64 {
        if count == 0 { return 0 }
        let rank = max(1, UInt64((min(max(quantile, 0), 1) * Double(count)).rounded(.up)))
        var seen: UInt64 = 0
        for (index, count) in counts.enumerated() {
            seen += count
            if seen >= rank { return min(max(Self.highest(at: index), minNanos), maxNanos) }
        }
        return maxNanos
    }

    /// Where a value is counted: below 2 · 64 each has a place of its own, above its leading 7 bits decide.
    private static func index(of value: Int64) -> Int {
        let shift = max(0, 63 - value.leadingZeroBitCount - partBits)
        return shift * parts + Int(value >> Int64(shift))
    }

    private static func highest(at index: Int) -> Int64 {
        if index < 2 * parts { return Int64(index) }
        let shift = Int64(index / parts - 1)
        let lead = Int64(index % parts + parts)
        return (lead << shift) + ((1 << shift) - 1)
    }
}
