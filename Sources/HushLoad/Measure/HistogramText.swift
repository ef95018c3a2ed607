import Glibc
public import HushBase

/// The percentile table of HdrHistogram (`.hgrm`), which hdr-plot and the HdrHistogram plotter read.
public enum HistogramText {
    /// Halvings of the distance to 100 % have so many rows each.
    static let ticksPerHalf = 5.0

    /// Values in milliseconds.
    public static func hgrm(_ histogram: LatencyHistogram) -> String {
        var text = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n"
        if histogram.count > 0 {
            var percentile = 0.0
            while true {
                let value = histogram.nanos(atQuantile: percentile / 100)
                let count = histogram.count(through: value)
                if count >= histogram.count { break }
                let inverse = Self.fixed(1 / (1 - percentile / 100), 2)
                text += row(value, percentile / 100, count) + " \(Self.padded(inverse, 14))\n"
                // As many steps for each halving of the rest as for the one before.
                let halvings = percentile < 50 ? 1 : Double((100 / (100 - percentile)).exponent) + 1
                percentile += 100 / (Self.ticksPerHalf * exp2(halvings))
                if percentile >= 100 { break }
            }
            text += row(histogram.maxNanos, 1, histogram.count) + "\n"
        }
        text += "#[Mean    = \(padded(millis(histogram.meanNanos), 12)), "
        text += "StdDeviation   = \(padded(millis(histogram.deviationNanos), 12))]\n"
        text += "#[Max     = \(padded(millis(Double(histogram.maxNanos)), 12)), "
        text += "Total count    = \(padded("\(histogram.count)", 12))]\n"
        text += "#[Buckets = \(padded("58", 12)), SubBuckets     = \(padded("64", 12))]\n"
        return text
    }

    private static func row(_ nanos: Int64, _ percentile: Double, _ count: UInt64) -> String {
        "\(padded(millis(Double(nanos)), 12)) \(fixed(percentile, 12)) \(padded("\(count)", 10))"
    }

    static func millis(_ nanos: Double) -> String { fixed(nanos / 1e6, 6) }

    /// Decimals without the locale's whims.
    static func fixed(_ value: Double, _ digits: Int) -> String {
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        let whole = Int64((value * scale).rounded())
        let sign = whole < 0 ? "-" : ""
        let text = String(whole.magnitude)
        let filled = String(repeating: "0", count: max(0, digits + 1 - text.count)) + text
        if digits == 0 { return sign + filled }
        return "\(sign)\(filled.dropLast(digits)).\(filled.suffix(digits))"
    }

    static func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
