package import HushCore
package import HushStream

/// The trace that a record's headers name, for what is written because of the record.
///
/// The headers are passed on as they are: hush makes no spans of its own, so the parent stays the producer's.
package struct RecordTrace {
    package static let parentHeader: StaticString = "traceparent"
    package static let stateHeader: StaticString = "tracestate"

    /// Nil where there is no `traceparent`, or one of another form.
    package let id: TraceID?
    /// None where there is no trace.
    package let headers: [RecordHeader]

    /// No trace.
    package init() {
        id = nil
        headers = []
    }

    package init(_ record: InputRecord) {
        id = Self.id(record)
        headers = id == nil ? [] : Self.copied(record.headers)
    }

    /// The trace alone; costs nothing but a look where a record has no headers.
    package static func id(_ record: InputRecord) -> TraceID? {
        if record.headers.isEmpty { return nil }
        return record.headers.withValue(of: parentHeader) { value in value.flatMap { TraceID(traceparent: $0) } }
    }

    private static func copied(_ headers: InputHeaders) -> [RecordHeader] {
        var copies: [RecordHeader] = []
        for (name, bytesMax) in [(parentHeader, parentBytesMax), (stateHeader, stateBytesMax)] {
            headers.withValue(of: name) { value in
                guard let value, value.count > 0, value.count <= bytesMax else { return }
                copies.append(RecordHeader(name: "\(name)", value: [UInt8](value)))
            }
        }
        return copies
    }

    /// Longer values are left behind: all pushes of a record carry them. The second is what W3C asks for at least.
    private static let parentBytesMax = 256
    private static let stateBytesMax = 512
}
