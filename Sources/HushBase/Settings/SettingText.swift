/// How settings write durations and sizes, and back.
public enum SettingText {
    private static let durationUnits: [(name: String, nanos: Int64)] = [
        ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000),
        ("ms", 1_000_000), ("us", 1000),
    ]
    private static let sizeUnits: [(name: String, bytes: Int)] = [
        ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
    ]

    /// Reads `200ms`, `30s`, `6h`, `3d`, and sums such as `1h30m`.
    public static func duration(_ text: String) throws(BadValue) -> Duration {
        let form = BadValue("must be a duration such as 200ms, 30s, 5m, 6h or 3d")
        if text == "0" { return .zero }
        var total: Int64 = 0
        var rest = text[...]
        guard !rest.isEmpty else { throw form }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            let unit = rest[digits.endIndex...].prefix { $0.isASCII && $0.isLetter }
            guard let number = Int64(digits), let nanos = durationUnits.first(where: { $0.name == unit })?.nanos else {
                throw form
            }
            let (part, tooLong) = number.multipliedReportingOverflow(by: nanos)
            let (sum, overflow) = total.addingReportingOverflow(part)
            guard !tooLong, !overflow else { throw BadValue("must be shorter than 292 years") }
            total = sum
            rest = rest[unit.endIndex...]
        }
        return .nanoseconds(total)
    }

    /// The shortest form with one unit, as `90m`.
    public static func text(_ duration: Duration) -> String {
        let nanos = duration.wholeNanos
        if nanos == 0 { return "0s" }
        guard let unit = durationUnits.first(where: { nanos % $0.nanos == 0 }) else { return "\(nanos)ns" }
        return "\(nanos / unit.nanos)\(unit.name)"
    }

    /// Reads bytes: `4096`, `64KiB`, `128MiB`, `2GiB`.
    public static func size(_ text: String) throws(BadValue) -> Int {
        let form = BadValue("must be a size such as 4096, 64KiB, 128MiB or 2GiB")
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text[digits.endIndex...]
        let bytes = unit.isEmpty ? 1 : sizeUnits.first { $0.name == unit }?.bytes
        guard let number = Int(digits), let bytes else { throw form }
        let (product, overflow) = number.multipliedReportingOverflow(by: bytes)
        guard !overflow else { throw form }
        return product
    }

    /// The shortest form with one unit, as `64KiB`.
    public static func text(bytes: Int) -> String {
        if bytes == 0 { return "0B" }
        let unit = sizeUnits.first { bytes % $0.bytes == 0 } ?? ("B", 1)
        return "\(bytes / unit.bytes)\(unit.name)"
    }
}
