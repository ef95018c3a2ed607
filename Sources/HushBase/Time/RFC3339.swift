private import Glibc

/// The text form of a moment in logs: RFC 3339, UTC, milliseconds.
public enum RFC3339 {
    /// As `2026-11-30T12:57:25.031Z`; the argument is in milliseconds since 1970.
    public static func text(millis: Int64) -> String {
        // Division rounds down, so that a moment before 1970 has positive milliseconds too.
        let seconds = millis >= 0 ? millis / 1000 : (millis - 999) / 1000
        var clock = time_t(seconds)
        var parts = tm()
        guard gmtime_r(&clock, &parts) != nil else { return "out of range (\(millis) ms)" }
        let date = "\(padded(parts.tm_year + 1900, 4))-\(padded(parts.tm_mon + 1, 2))-\(padded(parts.tm_mday, 2))"
        let time = "\(padded(parts.tm_hour, 2)):\(padded(parts.tm_min, 2)):\(padded(parts.tm_sec, 2))"
        return "\(date)T\(time).\(padded(Int32(millis - seconds * 1000), 3))Z"
    }

    private static func padded(_ number: Int32, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
