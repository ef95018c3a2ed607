/// Times as text: RFC 3339, read in any offset and written in UTC with milliseconds.
extension Timestamp {
    /// Reads a date-time of RFC 3339, section 5.6; nil where the text is none.
    ///
    /// Digits beyond milliseconds are cut off; a leap second is the first second of the next minute.
    public init?(rfc3339 text: UnsafeRawBufferPointer) {
        var digits = DigitReader(text)
        guard let year = digits.number(4), digits.skip("-"), let month = digits.number(2), digits.skip("-"),
            let day = digits.number(2), digits.skip("T") || digits.skip("t"),
            let hour = digits.number(2), digits.skip(":"), let minute = digits.number(2), digits.skip(":"),
            let second = digits.number(2), (1...12).contains(month), day >= 1,
            day <= CivilDate.days(in: month, of: year), hour < 24, minute < 60, second <= 60,
            let millis = digits.fraction(), let offsetMinutes = digits.offset(), digits.isAtEnd
        else { return nil }
        let days = CivilDate(year: year, month: month, day: day).daysSince1970
        let seconds = ((days * 24 + hour) * 60 + minute - offsetMinutes) * 60 + second
        self.init(millis: Int64(seconds * 1000 + millis))
    }

    /// Reads a date-time of RFC 3339; nil where the text is none.
    public init?(rfc3339 text: Bytes) {
        guard let read = text.raw.withUnsafeBytes({ Timestamp(rfc3339: $0) }) else { return nil }
        self = read
    }

    /// What RFC 3339 can write: the years 0 to 9999.
    static let rfc3339Range = -62_167_219_200_000...253_402_300_799_999 as ClosedRange<Int64>
}

extension JSONWriter {
    /// A time as a JSON string, such as `"2026-12-01T10:00:00.000Z"`; years beyond 0 to 9999 are cut to that range.
    public mutating func time(_ time: Timestamp) {
        let range = Timestamp.rfc3339Range
        let millis = Int(min(max(time.millis, range.lowerBound), range.upperBound))
        let days = millis.flooredQuotient(by: 86_400_000)
        let date = CivilDate(daysSince1970: days)
        let inDay = millis - days * 86_400_000
        // Made in one piece, for each record that is written has a time or two.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 26) { text in
            Self.template.withUTF8Buffer { _ = text.update(fromContentsOf: $0) }
            Self.put(date.year / 100, in: text, at: 1)
            Self.put(date.year % 100, in: text, at: 3)
            Self.put(date.month, in: text, at: 6)
            Self.put(date.day, in: text, at: 9)
            Self.put(inDay / 3_600_000, in: text, at: 12)
            Self.put(inDay / 60_000 % 60, in: text, at: 15)
            Self.put(inDay / 1000 % 60, in: text, at: 18)
            Self.put(inDay % 1000 / 10, in: text, at: 21)
            text[23] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: inDay % 10)
            raw(UnsafeRawBufferPointer(text))
        }
    }

    private static let template: StaticString = "\"0000-00-00T00:00:00.000Z\""

    /// Two digits.
    private static func put(_ number: Int, in text: UnsafeMutableBufferPointer<UInt8>, at start: Int) {
        text[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10)
        text[start + 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
    }
}

/// A day of the proleptic Gregorian calendar; the arithmetic counts years from March, so that leap days come last.
struct CivilDate: Equatable {
    var year: Int
    var month: Int
    var day: Int

    init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    init(daysSince1970 days: Int) {
        let shifted = days + 719_468
        let era = shifted.flooredQuotient(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var daysSince1970: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear.flooredQuotient(by: 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }
}

extension Int {
    fileprivate func flooredQuotient(by divisor: Int) -> Int {
        self >= 0 ? self / divisor : -((-self + divisor - 1) / divisor)
    }
}

/// Steps through the fixed fields of a date-time.
private struct DigitReader {
    private let text: UnsafeRawBufferPointer
    private var position = 0

    init(_ text: UnsafeRawBufferPointer) {
        self.text = text
    }

    var isAtEnd: Bool { position == text.count }

    mutating func number(_ count: Int) -> Int? {
        guard position + count <= text.count else { return nil }
        var value = 0
        for _ in 0..<count {
            guard let digit = nextDigit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < text.count, text[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// The milliseconds of an optional fraction, which must have a digit.
    mutating func fraction() -> Int? {
        guard skip(".") else { return 0 }
        var (millis, unit, count) = (0, 100, 0)
        while let digit = nextDigit() {
            millis += digit * unit
            unit /= 10
            count += 1
        }
        return count > 0 ? millis : nil
    }

    /// The offset from UTC in minutes: `Z`, or hours and minutes with a sign.
    mutating func offset() -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let isWest = skip("-")
        guard isWest || skip("+"), let hours = number(2), skip(":"), let minutes = number(2), hours < 24, minutes < 60
        else { return nil }
        return (isWest ? -1 : 1) * (hours * 60 + minutes)
    }

    private mutating func nextDigit() -> Int? {
        guard position < text.count else { return nil }
        let digit = Int(text[position]) - 48
        guard (0...9).contains(digit) else { return nil }
        position += 1
        return digit
    }
}
