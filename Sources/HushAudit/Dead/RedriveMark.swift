import HushCore
import HushWorkers

/// A record of `hush.redrives`: that a dead letter was sent again, or where the book of redrives stands.
///
/// Marks are keyed by the place at which the record died, so a letter has one, whoever redrives it and how often.
enum RedriveMark {
    /// What a mark says.
    struct Redriven: Hashable, Sendable {
        var at: Timestamp
        var attempt: Int
        var to: TopicPlace
        var run: Bytes
    }

    static let version = 1

    /// The key of the book's state.
    static var bookKey: [UInt8] { LedgerBook.redriveTask.raw }

    static func value(_ mark: Redriven) -> [UInt8] {
        var json = begin()
        json.member("at", mark.at)
        json.member("attempt", mark.attempt)
        json.member("to", mark.to)
        json.member("run", mark.run)
        json.byte(UInt8(ascii: "}"))
        return json.bytes
    }

    static func value(_ state: LedgerState) -> [UInt8] {
        var json = begin()
        json.member("n", state.next)
        json.member("previous", Bytes(Hex.encode(state.previous)))
        json.byte(UInt8(ascii: "}"))
        return json.bytes
    }

    /// Where the book stands; nil where the value is not such a record.
    static func ledgerState(_ value: JSONValue) -> LedgerState? {
        guard isKnown(value), case .integer(let next)? = value["n"]?.kind, let previous = value["previous"]?.text,
            let digest = Hex.decode(previous), digest.count == 32
        else { return nil }
        return LedgerState(next: next, previous: digest)
    }

    static func isKnown(_ value: JSONValue) -> Bool {
        if case .integer(Int64(version))? = value["v"]?.kind { return true }
        return false
    }

    private static func begin() -> JSONWriter {
        var json = JSONWriter(reserving: 256)
        json.raw("{\"v\":1")
        return json
    }
}

extension Hex {
    /// The bytes of lower-case digits; nil where it is none.
    static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard text.count.isMultiple(of: 2), isHex([UInt8](text)) else { return nil }
        return stride(from: 0, to: text.count, by: 2).compactMap { index in
            UInt8(String(decoding: text[index...(index + 1)], as: UTF8.self), radix: 16)
        }
    }
}
