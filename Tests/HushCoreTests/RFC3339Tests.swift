import Foundation
import HushCore
import Testing

@Suite("RFC 3339")
struct RFC3339Tests {
    @Test(
        "date-times are read in any offset",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-12-01T10:00:00Z", 1_796_119_200_000),
            ("2026-12-01t10:00:00z", 1_796_119_200_000), ("2026-12-01T10:00:00.123Z", 1_796_119_200_123),
            ("2026-12-01T10:00:00.1Z", 1_796_119_200_100), ("2026-12-01T10:00:00.123999999Z", 1_796_119_200_123),
            ("2026-12-01T11:30:00+01:30", 1_796_119_200_000), ("2026-12-01T04:00:00-06:00", 1_796_119_200_000),
            ("2024-02-29T00:00:00Z", 1_709_164_800_000), ("1969-12-31T23:59:59.999Z", -1),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000), ("0000-01-01T00:00:00Z", -62_167_219_200_000),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ])
    func reads(text: String, millis: Int) {
        #expect(Timestamp(rfc3339: Bytes(text)) == Timestamp(millis: Int64(millis)))
    }

    @Test(
        "anything else is no date-time",
        arguments: [
            "", "2026-12-01", "2026-12-01T10:00:00", "2026-12-01 10:00:00Z", "2026-13-01T10:00:00Z",
            "2026-00-01T10:00:00Z", "2026-02-29T10:00:00Z", "1900-02-29T10:00:00Z", "2026-04-31T10:00:00Z",
            "2026-12-00T10:00:00Z", "2026-12-01T24:00:00Z", "2026-12-01T10:60:00Z", "2026-12-01T10:00:61Z",
            "2026-12-01T10:00:00.Z", "2026-12-01T10:00:00,5Z", "2026-12-01T10:00:00+0100", "2026-12-01T10:00:00+24:00",
            "2026-12-01T10:00:00Zx", "26-12-01T10:00:00Z", "+026-12-01T10:00:00Z", "2026-12-01T10:00:00é",
        ])
    func refuses(text: String) {
        #expect(Timestamp(rfc3339: Bytes(text)) == nil)
    }

    @Test(
        "times are written in UTC with milliseconds",
        arguments: [
            (0, #""1970-01-01T00:00:00.000Z""#), (1_796_119_200_123, #""2026-12-01T10:00:00.123Z""#),
            (-1, #""1969-12-31T23:59:59.999Z""#), (Int.max, #""9999-12-31T23:59:59.999Z""#),
            (Int.min, #""0000-01-01T00:00:00.000Z""#), (1_709_164_800_000, #""2024-02-29T00:00:00.000Z""#),
        ])
    func writes(millis: Int, expected: String) {
        var json = JSONWriter()
        json.time(Timestamp(millis: Int64(millis)))
        #expect(String(decoding: json.bytes, as: UTF8.self) == expected)
    }

    @Test("what is written reads back the same, over ten thousand years")
    func roundTrips() throws {
        var millis: Int64 = -62_167_219_200_000
        while millis < 253_402_300_799_999 {
            var json = JSONWriter()
            json.time(Timestamp(millis: millis))
            let text = Bytes(Array(json.bytes.dropFirst().dropLast()))
            try #require(Timestamp(rfc3339: text) == Timestamp(millis: millis), "\(text)")
            millis += 86_400_000 * 13 + 12_345_677
        }
    }

    @Test("the calendar is Foundation's")
    func agreesWithFoundation() throws {
        let formatter = ISO8601DateFormatter()
        for days in stride(from: Int64(0), to: 40_000, by: 17) {
            let text = formatter.string(from: Date(timeIntervalSince1970: Double(days * 86_400 + 3661)))
            try #require(Timestamp(rfc3339: Bytes(text)) == Timestamp(seconds: days * 86_400 + 3661))
        }
    }
}
