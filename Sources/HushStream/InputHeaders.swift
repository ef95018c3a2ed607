import CRdKafka
import Glibc

/// The headers of a record that was read, found without copying; valid as long as the record.
public struct InputHeaders {
    private enum Source {
        case message(UnsafePointer<rd_kafka_message_t>)
        case list([RecordHeader])
    }

    private let source: Source

    init(_ message: UnsafePointer<rd_kafka_message_t>) {
        source = .message(message)
    }

    public init(_ headers: [RecordHeader] = []) {
        source = .list(headers)
    }

    public var count: Int {
        switch source {
        case .message(let message): Self.list(message).map { rd_kafka_header_cnt($0) } ?? 0
        case .list(let headers): headers.count
        }
    }

    public var isEmpty: Bool { count == 0 }

    /// Shows the header of this name that was added last, or nil. A header may have no value: that is nil as well.
    public func withValue<Result, Failure: Error>(
        of name: StaticString, _ body: (UnsafeRawBufferPointer?) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        switch source {
        case .message(let message):
            var start: UnsafeRawPointer?
            var count = 0
            let wanted = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
            guard let list = Self.list(message),
                rd_kafka_header_get_last(list, wanted, &start, &count) == RD_KAFKA_RESP_ERR_NO_ERROR, let start
            else { return try body(nil) }
            return try body(UnsafeRawBufferPointer(start: start, count: count))
        case .list(let headers):
            let wanted = UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
            guard let header = headers.last(where: { $0.name.utf8.elementsEqual(wanted) }) else { return try body(nil) }
            return try Self.show(header.value, body)
        }
    }

    /// Tells every header in order: its name as UTF-8, its value or nil.
    public func forEach(_ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) -> Void) {
        switch source {
        case .message(let message):
            guard let list = Self.list(message) else { return }
            var name: UnsafePointer<CChar>?
            var start: UnsafeRawPointer?
            var count = 0
            var index = 0
            while rd_kafka_header_get_all(list, index, &name, &start, &count) == RD_KAFKA_RESP_ERR_NO_ERROR {
                index += 1
                guard let name else { continue }
                body(
                    UnsafeRawBufferPointer(start: name, count: strlen(name)),
                    start.map { UnsafeRawBufferPointer(start: $0, count: count) })
            }
        case .list(let headers):
            for header in headers {
                var name = header.name
                name.withUTF8 { name in
                    header.value.withUnsafeBytes { body(UnsafeRawBufferPointer(name), $0) }
                }
            }
        }
    }

    /// All headers, copied: for what goes into another record.
    public func copied() -> [RecordHeader] {
        var headers: [RecordHeader] = []
        forEach { name, value in
            headers.append(
                RecordHeader(name: String(decoding: name, as: UTF8.self), value: value.map { [UInt8]($0) } ?? []))
        }
        return headers
    }

    private static func list(_ message: UnsafePointer<rd_kafka_message_t>) -> OpaquePointer? {
        var list: OpaquePointer?
        // Parsed by librdkafka at the first question and kept with the message.
        let code = rd_kafka_message_headers(message, &list)
        return code == RD_KAFKA_RESP_ERR_NO_ERROR ? list : nil
    }

    private static func show<Result, Failure: Error>(
        _ bytes: [UInt8], _ body: (UnsafeRawBufferPointer?) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyBytes(from: bytes)
        defer { copy.deallocate() }
        return try body(UnsafeRawBufferPointer(copy))
    }
}
