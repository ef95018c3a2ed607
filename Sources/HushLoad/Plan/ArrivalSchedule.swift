import Foundation
import HushBase

/// When items are meant to be sent, whatever becomes of those before: an open loop.
///
/// Segments of a rate that is constant or changes evenly; a function of time alone, so a sender that falls behind knows
/// by how much.
public struct ArrivalSchedule: Hashable, Sendable {
    public struct Segment: Hashable, Sendable {
        public var seconds: Double
        /// Items a second at its begin and at its end.
        public var from: Double
        public var to: Double

        public init(seconds: Double, from: Double, to: Double) {
            self.seconds = seconds
            self.from = from
            self.to = to
        }

        var count: Double { (from + to) / 2 * seconds }

        /// Items up to a time within it.
        func count(until time: Double) -> Double { from * time + (to - from) * time * time / (2 * seconds) }

        /// The time within it at which so many are due.
        func time(of count: Double) -> Double {
            let slope = (to - from) / seconds
            if abs(slope) < 1e-9 { return from > 0 ? count / from : seconds }
            // The root of slope/2 t² + from t − count that lies within.
            let root = max(0, from * from + 2 * slope * count).squareRoot()
            return min(max(0, (root - from) / slope), seconds)
        }
    }

    public let segments: [Segment]

    public init(_ segments: [Segment]) {
        self.segments = segments
    }

    /// A ramp from nothing where one is wanted, then a constant rate.
    public init(rate: Double, seconds: Double, ramp: Double = 0) {
        var segments = ramp > 0 ? [Segment(seconds: ramp, from: 0, to: rate)] : []
        segments.append(Segment(seconds: seconds, from: rate, to: rate))
        self.init(segments)
    }

    public var duration: Duration { .nanoseconds(Int64(segments.reduce(0) { $0 + $1.seconds } * 1e9)) }

    /// How many items there are.
    public var count: Int { Int(segments.reduce(0) { $0 + $1.count } + 1e-6) }

    /// How many items are due by then: item *i* is due once this exceeds *i*.
    public func count(until elapsed: Duration) -> Int {
        var rest = elapsed.inSeconds
        var count = 0.0
        for segment in segments {
            if rest <= 0 { break }
            count += segment.count(until: min(rest, segment.seconds))
            rest -= segment.seconds
        }
        return min(self.count, Int(count + 1e-6))
    }

    /// When item *i*, from 0, is to be sent: the first at the begin of its second's share, not at its end.
    public func time(of index: Int) -> Duration {
        var rest = Double(index)
        var start = 0.0
        for segment in segments {
            if rest < segment.count { return .nanoseconds(Int64((start + segment.time(of: rest)) * 1e9)) }
            rest -= segment.count
            start += segment.seconds
        }
        return duration
    }
}

extension ArrivalSchedule {
    /// Reads a profile: steps by commas, each `RATE/DURATION`, or `RATE..RATE/DURATION` for a ramp.
    public init(profile text: String) throws(LoadFault) {
        var segments: [Segment] = []
        for step in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = step.split(separator: "/", omittingEmptySubsequences: false)
            let rates = (parts.first ?? "").components(separatedBy: "..").map { Double($0) }
            guard parts.count == 2, let duration = try? SettingText.duration(String(parts[1])), duration > .zero,
                (1...2).contains(rates.count), let from = rates[0], let to = rates[rates.count - 1],
                from >= 0, to >= 0, from <= Self.rateMax, to <= Self.rateMax
            else {
                throw LoadFault("\"\(step)\" is no step of a profile: write RATE/DURATION or FROM..TO/DURATION")
            }
            segments.append(Segment(seconds: duration.inSeconds, from: from, to: to))
        }
        self.init(segments)
        guard count > 0 else { throw LoadFault("the profile sends nothing") }
        guard count <= Self.itemsMax else { throw LoadFault("the profile has more than \(Self.itemsMax) items") }
    }

    /// The highest rate that is taken, in items a second.
    public static let rateMax = 1e6
    /// Items of one run: what is known of each takes a few bytes.
    public static let itemsMax = 200_000_000
}

/// Why a load test cannot be done: a sentence for whoever asked for it.
public struct LoadFault: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }
}
