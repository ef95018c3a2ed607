/// Finds the highest rate that holds: doubles until one fails, then halves the gap.
public struct RateSearch: Hashable, Sendable {
    /// The highest that held, and the lowest that did not.
    public private(set) var good: Double?
    public private(set) var bad: Double?
    /// What to try next; nil: it is over.
    public private(set) var next: Double?
    private let limit: Double
    private let precision: Double
    private var trials = 0

    static let trialsMax = 24

    /// Ends once the gap is a share of `precision` of the rate, or `limit` held.
    public init(from start: Double, limit: Double = ArrivalSchedule.rateMax, precision: Double = 0.08) {
        next = start
        self.limit = limit
        self.precision = precision
    }

    public mutating func tried(held: Bool) {
        guard let rate = next else { return }
        trials += 1
        if held { good = max(good ?? rate, rate) } else { bad = min(bad ?? rate, rate) }
        next = choose()
    }

    private func choose() -> Double? {
        if trials >= Self.trialsMax { return nil }
        switch (good, bad) {
        case (let good?, nil): return good >= limit ? nil : min(limit, good * 2)
        case (nil, let bad?): return bad <= 1 ? nil : (bad / 2).rounded()
        case (let good?, let bad?):
            let middle = ((good + bad) / 2).rounded()
            return bad - good <= precision * bad || middle <= good || middle >= bad ? nil : middle
        case (nil, nil): return next
        }
    }
}
