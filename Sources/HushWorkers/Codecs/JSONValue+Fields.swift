import HushCore

/// Readers of typed fields: each gives the value, or the reason for a dead letter that names the field.
extension JSONValue {
    /// Any string.
    func string(_ field: StaticString) throws(DeadReason) -> Bytes {
        guard case .string = kind else { throw wrong(field, "must be a string") }
        return Bytes(copying: text)
    }

    /// A string or a whole number of 64 bits, as the bytes of its decimal form: 42 and "42" are one id; 42.0 is none.
    func identifier(_ field: StaticString) throws(DeadReason) -> Bytes {
        switch kind {
        case .string:
            guard text.count > 0 else { throw wrong(field, "must not be empty") }
            guard text.count <= InputLimits.idBytesMax else {
                throw wrong(field, "must be at most \(InputLimits.idBytesMax) bytes, and has \(text.count)")
            }
            return Bytes(copying: text)
        case .integer(let number):
            return Bytes(decimal(number))
        case .huge(let number):
            return Bytes(decimal(number))
        default:
            throw wrong(field, "must be a string or a whole number")
        }
    }

    func boolean(_ field: StaticString) throws(DeadReason) -> Bool {
        guard case .boolean(let value) = kind else { throw wrong(field, "must be true or false") }
        return value
    }

    func integer(_ field: StaticString, _ range: ClosedRange<Int64>) throws(DeadReason) -> Int64 {
        guard case .integer(let value) = kind else { throw wrong(field, "must be a whole number of 64 bits") }
        guard range.contains(value) else {
            throw wrong(field, "must be from \(range.lowerBound) to \(range.upperBound), and is \(value)")
        }
        return value
    }

    /// A number from 0 to 1.
    func fraction(_ field: StaticString) throws(DeadReason) -> Double {
        let value: Double
        switch kind {
        case .integer(let whole): value = Double(whole)
        case .real(let real): value = real
        default: throw wrong(field, "must be a number")
        }
        guard (0...1).contains(value) else { throw wrong(field, "must be from 0 to 1, and is \(value)") }
        return value
    }

    /// An RFC 3339 date-time, or whole seconds since 1970.
    func time(_ field: StaticString) throws(DeadReason) -> Timestamp {
        switch kind {
        case .string:
            guard let time = Timestamp(rfc3339: text) else {
                throw wrong(field, "is no RFC 3339 time, such as 2026-12-01T10:00:00Z")
            }
            return time
        case .integer(let seconds):
            guard seconds <= InputLimits.epochSecondsMax else {
                throw wrong(field, "must be in seconds since 1970, and \(seconds) looks like milliseconds")
            }
            guard seconds >= 0 else { throw wrong(field, "must not be before 1970") }
            return Timestamp(seconds: seconds)
        default:
            throw wrong(field, "must be an RFC 3339 time or whole seconds since 1970")
        }
    }

    /// An array of at most so many values.
    func array(_ field: StaticString, countMax: Int) throws(DeadReason) -> Children {
        guard case .array = kind else { throw wrong(field, "must be an array") }
        guard count <= countMax else {
            throw DeadReason(.tooLarge, "field \"\(field)\" must have at most \(countMax) entries, and has \(count)")
        }
        return children
    }

    func identifiers(_ field: StaticString, countMax: Int) throws(DeadReason) -> [Bytes] {
        var found: [Bytes] = []
        for child in try array(field, countMax: countMax) { found.append(try child.identifier(field)) }
        return found
    }

    /// One of a few names.
    func choice<Choice: CaseIterable>(
        _ field: StaticString, _ name: KeyPath<Choice, Bytes>
    ) throws(DeadReason) -> Choice {
        if case .string = kind {
            for choice in Choice.allCases where choice[keyPath: name].isEqual(to: text) { return choice }
        }
        let names = Choice.allCases.map { $0[keyPath: name].text }.joined(separator: ", ")
        throw wrong(field, "must be one of \(names)")
    }

    func wrong(_ field: StaticString, _ what: String) -> DeadReason {
        DeadReason(.badField, "field \"\(field)\" \(what)")
    }

    private func decimal(_ number: some BinaryInteger) -> [UInt8] {
        var writer = JSONWriter(reserving: 20)
        writer.integer(number)
        return writer.bytes
    }
}

func missing(_ field: StaticString) -> DeadReason {
    DeadReason(.missingField, "field \"\(field)\" is missing")
}

/// The limits of what producers may write; docs/reference/records.md names them.
enum InputLimits {
    /// An id, recipient, device, install or tag.
    static let idBytesMax = Policy().idBytesMax
    /// Seconds since 1970 above this (the year 5138) are milliseconds sent by mistake.
    static let epochSecondsMax: Int64 = 100_000_000_000
    /// A device token in hex digits; Apple's have 64 and more, of no fixed length.
    static let tokenDigitsMax = 512
    /// APNs' topic.
    static let appBytesMax = 256
    /// Tags of a device, and of each list of an audience.
    static let tagsMax = 64
    /// Ids of one read.
    static let readIDsMax = 1000
    /// Acknowledged ops of one signal.
    static let acksMax = 1000
    /// Entries of each list of a hello.
    static let helloEntriesMax = 1000
    /// Why a device was unregistered.
    static let reasonBytesMax = 256
}
