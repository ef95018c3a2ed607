import Synchronization

/// A number that only grows. Make the handle once and keep it: adding is one atomic instruction.
public final class Counter: Sendable {
    private let value = Atomic<Int64>(0)

    init() {}

    public func add(_ amount: Int = 1) {
        value.wrappingAdd(Int64(amount), ordering: .relaxed)
    }

    public var current: Int64 { value.load(ordering: .relaxed) }
}

/// A number that goes up and down.
public final class Gauge: Sendable {
    private let bits = Atomic<UInt64>(0)

    init() {}

    public func set(_ value: Double) {
        bits.store(value.bitPattern, ordering: .relaxed)
    }

    public func set(_ value: some BinaryInteger) {
        set(Double(value))
    }

    public func set(_ duration: Duration) {
        set(duration.inSeconds)
    }

    public var current: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }
}

/// Counts of observations below fixed bounds, and their sum.
///
/// Observations are whole numbers of the histogram's own step (nanoseconds where it counts seconds), so the sum is exact and
/// observing takes two atomic additions and a search in a short array.
public final class Histogram: Sendable {
    /// Upper bounds in steps, rising.
    private let bounds: [Int64]
    private let stepsPerUnit: Double
    /// One count more than bounds: the last is of what exceeds all.
    ///
    /// `Atomic` cannot live in an array. The memory is allocated once, freed in deinit, and every access to it is atomic,
    /// so sharing the pointer between threads is safe.
    nonisolated(unsafe) private let counts: UnsafeMutablePointer<Atomic<Int64>>
    private let sum = Atomic<Int64>(0)

    init(bounds: [Double], stepsPerUnit: Double) {
        self.bounds = bounds.map { Int64(($0 * stepsPerUnit).rounded()) }
        self.stepsPerUnit = stepsPerUnit
        counts = .allocate(capacity: bounds.count + 1)
        for index in 0...bounds.count { (counts + index).initialize(to: Atomic(0)) }
    }

    deinit {
        counts.deinitialize(count: bounds.count + 1)
        counts.deallocate()
    }

    /// For histograms whose names end in `_seconds`.
    public func observe(_ duration: Duration) {
        observe(steps: duration.wholeNanos)
    }

    /// For histograms of bytes, records and other things that are counted.
    public func observe(_ amount: Int) {
        observe(steps: Int64(amount))
    }

    private func observe(steps: Int64) {
        var index = 0
        while index < bounds.count, bounds[index] < steps { index += 1 }
        counts[index].wrappingAdd(1, ordering: .relaxed)
        sum.wrappingAdd(steps, ordering: .relaxed)
    }

    /// Bounds in units, cumulative counts (one more, of all), and the sum in units.
    var snapshot: (bounds: [Double], counts: [Int64], sum: Double) {
        var total: Int64 = 0
        let cumulative = (0...bounds.count).map { index in
            total += counts[index].load(ordering: .relaxed)
            return total
        }
        let units = bounds.map { Double($0) / stepsPerUnit }
        return (units, cumulative, Double(sum.load(ordering: .relaxed)) / stepsPerUnit)
    }
}
