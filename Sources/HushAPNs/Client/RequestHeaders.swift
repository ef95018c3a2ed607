import CNghttp2

/// Writes the header fields of requests for one connection, in memory of its own that is used again for each.
///
/// HPACK as Apple's "Sending notification requests to APNs" advises: `:path` and `authorization` are never indexed,
/// `apns-id`, `apns-expiration` and `apns-collapse-id` only at their first use, everything else is.
struct RequestHeaders: ~Copyable {
    private static let fieldsMax = 12
    private static let digitsMax = 20
    private static let scratchByteCount =
        16 + RequestCheck.tokenBytesMax + RequestCheck.topicBytesMax + RequestCheck.collapseIDBytesMax + 36 + digitsMax
    private static let neverIndexed = UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)

    private let fields = UnsafeMutableBufferPointer<nghttp2_nv>.allocate(capacity: Self.fieldsMax)
    private let scratch = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: Self.scratchByteCount)
    private let authority: UnsafeMutableBufferPointer<UInt8>
    private var authorization: UnsafeMutableBufferPointer<UInt8>
    private var authorizationVersion: UInt32 = 0
    private var fieldCount = 0
    private var scratchUsed = 0
    private var usedID = false
    private var usedExpiration = false
    private var usedCollapseID = false

    init(authority text: String) {
        authority = Self.copy(Array(text.utf8))
        authorization = Self.copy([])
    }

    deinit {
        fields.deallocate()
        scratch.deallocate()
        authority.deallocate()
        authorization.deallocate()
    }

    /// Writes the fields of a request that passed `RequestCheck`, and lends them until the next call.
    mutating func write(
        _ request: UnsafePointer<PushRequest>, token: ProviderToken.Current?
    ) -> UnsafeMutableBufferPointer<nghttp2_nv> {
        fieldCount = 0
        scratchUsed = 0
        add(":method", "POST")
        add(":scheme", "https")
        let path = scratchUsed
        append("/3/device/")
        append(request.pointee.token)
        add(":path", from: path, flags: Self.neverIndexed)
        add(":authority", UnsafeMutableBufferPointer(rebasing: authority[...]), flags: 0)
        if let token {
            if token.version != authorizationVersion {
                authorization.deallocate()
                authorization = Self.copy(token.authorization)
                authorizationVersion = token.version
            }
            add("authorization", UnsafeMutableBufferPointer(rebasing: authorization[...]), flags: Self.neverIndexed)
        }
        let topic = scratchUsed
        append(request.pointee.topic)
        add("apns-topic", from: topic, flags: 0)
        switch request.pointee.kind {
        case .alert: add("apns-push-type", "alert")
        case .background: add("apns-push-type", "background")
        }
        switch request.pointee.priority {
        case 10: add("apns-priority", "10")
        case 5: add("apns-priority", "5")
        default: add("apns-priority", "1")
        }
        writeOnceIndexed(request)
        return UnsafeMutableBufferPointer(rebasing: fields[..<fieldCount])
    }

    private mutating func writeOnceIndexed(_ request: UnsafePointer<PushRequest>) {
        let id = scratchUsed
        append(request.pointee.apnsID)
        add("apns-id", from: id, flags: usedID ? Self.neverIndexed : 0)
        usedID = true
        if let expiration = request.pointee.expiration {
            let start = appendDecimal(UInt64(expiration))
            add("apns-expiration", from: start, flags: usedExpiration ? Self.neverIndexed : 0)
            usedExpiration = true
        }
        if let collapseID = request.pointee.collapseID {
            let start = scratchUsed
            append(collapseID)
            add("apns-collapse-id", from: start, flags: usedCollapseID ? Self.neverIndexed : 0)
            usedCollapseID = true
        }
    }

    private mutating func add(_ name: StaticString, _ value: StaticString) {
        let start = UnsafeMutablePointer(mutating: value.utf8Start)
        add(
            name, UnsafeMutableBufferPointer(start: start, count: value.utf8CodeUnitCount),
            flags: UInt8(NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue))
    }

    private mutating func add(_ name: StaticString, from start: Int, flags: UInt8) {
        add(name, UnsafeMutableBufferPointer(rebasing: scratch[start..<scratchUsed]), flags: flags)
    }

    /// nghttp2 copies names and values; those that are constants of the program it need not.
    private mutating func add(_ name: StaticString, _ value: UnsafeMutableBufferPointer<UInt8>, flags: UInt8) {
        fields[fieldCount] = nghttp2_nv(
            name: UnsafeMutablePointer(mutating: name.utf8Start), value: value.baseAddress,
            namelen: name.utf8CodeUnitCount, valuelen: value.count,
            flags: flags | UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue))
        fieldCount += 1
    }

    private mutating func append(_ bytes: [UInt8]) {
        precondition(scratchUsed + bytes.count <= scratch.count, "a request that RequestCheck would refuse")
        bytes.withUnsafeBufferPointer { source in
            let target = UnsafeMutableRawBufferPointer(scratch)
            let rest = UnsafeMutableRawBufferPointer(rebasing: target[scratchUsed...])
            rest.copyMemory(from: UnsafeRawBufferPointer(source))
        }
        scratchUsed += bytes.count
    }

    private mutating func append(_ text: StaticString) {
        let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(scratch)[scratchUsed...])
        rest.copyMemory(from: UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
        scratchUsed += text.utf8CodeUnitCount
    }

    /// Returns where the digits begin: they are written from the last one on, into room for the most there can be.
    private mutating func appendDecimal(_ value: UInt64) -> Int {
        scratchUsed += Self.digitsMax
        var (start, rest) = (scratchUsed, value)
        repeat {
            start -= 1
            scratch[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        return start
    }

    private static func copy(_ bytes: [UInt8]) -> UnsafeMutableBufferPointer<UInt8> {
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, bytes.count))
        _ = buffer.initialize(from: bytes)
        return UnsafeMutableBufferPointer(rebasing: buffer[..<bytes.count])
    }
}
