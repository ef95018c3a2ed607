import CNghttp2
import HushBase

/// The HTTP/2 side of one connection of a server. The one owner of nghttp2's session; no socket, no clock.
final class ServerSession: FrameSession {
    private struct Slot {
        var request = H2Request()
        var response: [UInt8] = []
        var responseOffset = 0
        var isAnswered = false
    }

    let id: UInt64
    /// Slots of requests that came in full since the last look.
    var complete: [Int] = []
    private(set) var isOpen = false
    private let memory = SessionMemory()
    private var session: OpaquePointer?
    private let requestBytesMax: Int
    private var slots: [Slot] = []
    private var free: [Int] = []
    private var digits: [UInt8] = [0, 0, 0]
    /// Of a slow reader: bytes a second, what came and is not read, and when it read last.
    private let readBytesPerSecond: Int?
    private var unread = 0
    private var lastRead: MonotonicTime

    init(id: UInt64, options: H2ServerOptions, at now: MonotonicTime) throws(TLSFault) {
        self.id = id
        readBytesPerSecond = options.readBytesPerSecond(id)
        lastRead = now
        requestBytesMax = options.requestBytesMax
        session = nil
        let made = ServerCallbacks.makeSession(
            for: Unmanaged.passUnretained(self).toOpaque(), memory: memory, isSlow: readBytesPerSecond != nil)
        guard let made else { throw TLSFault("nghttp2 cannot make a session") }
        session = made
        allowStreams(options.streamsMax)
    }

    deinit {
        nghttp2_session_del(session)
    }

    func opened(at now: MonotonicTime) {
        isOpen = true
    }

    func receive(_ bytes: UnsafeRawBufferPointer, at now: MonotonicTime) -> ConnectionEnd? {
        let taken = nghttp2_session_mem_recv(
            session, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        return taken < 0 ? .failed("HTTP/2: \(String(cString: nghttp2_strerror(Int32(taken))))") : nil
    }

    func produce(into output: inout OutputBuffer, byteCountMax: Int) -> ConnectionEnd? {
        while output.count < byteCountMax {
            var bytes: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &bytes)
            if count < 0 { return .failed("HTTP/2: \(String(cString: nghttp2_strerror(Int32(count))))") }
            if count == 0 { break }
            output.append(UnsafeRawBufferPointer(start: bytes, count: count))
        }
        return nil
    }

    func willWrite() -> Bool { true }

    var isOver: Bool { nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 }

    func request(_ slot: Int) -> H2Request { slots[slot].request }

    /// Whether a slow reader has something to read.
    var isReading: Bool { unread > 0 }

    /// Gives back the room of what a slow reader has read by now.
    func read(at now: MonotonicTime) {
        guard let readBytesPerSecond, unread > 0 else { return lastRead = now }
        let bytes = min(unread, Int((now - lastRead).inSeconds * Double(readBytesPerSecond)))
        if bytes == 0 { return }
        lastRead = now
        unread -= bytes
        nghttp2_session_consume_connection(session, bytes)
    }

    // MARK: Commands

    /// Nothing where the stream is gone, or answered already.
    func respond(_ stream: Int32, _ response: H2Response) {
        guard let index = Self.slot(nghttp2_session_get_stream_user_data(session, stream)) else { return }
        if slots[index].isAnswered { return }
        slots[index].isAnswered = true
        slots[index].response = response.body
        slots[index].responseOffset = 0
        let status = Int(response.status)
        digits = [UInt8(48 + status / 100 % 10), UInt8(48 + status / 10 % 10), UInt8(48 + status % 10)]
        withFields(response, 0, []) { fields in
            var fields = fields
            if response.body.isEmpty {
                nghttp2_submit_response(session, stream, &fields, fields.count, nil)
            } else {
                var provider = nghttp2_data_provider()
                provider.source.ptr = UnsafeMutableRawPointer(bitPattern: index + 1)
                provider.read_callback = ServerCallbacks.readBody
                nghttp2_submit_response(session, stream, &fields, fields.count, &provider)
            }
        }
    }

    func reset(_ stream: Int32, code: UInt32) {
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code)
    }

    func goAway(lastStream: Int32?, debug: [UInt8]) {
        let last = lastStream ?? nghttp2_session_get_last_proc_stream_id(session)
        nghttp2_submit_goaway(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, NGHTTP2_NO_ERROR.rawValue, debug, debug.count)
    }

    func allowStreams(_ count: Int) {
        let settings = [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: UInt32(clamping: count))
        ]
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
    }

    // MARK: What nghttp2 tells, by way of ServerCallbacks

    func began(_ stream: Int32) {
        let index: Int
        if let old = free.popLast() {
            index = old
        } else {
            index = slots.count
            slots.append(Slot())
        }
        slots[index].isAnswered = false
        slots[index].request.id = H2StreamID(connection: id, stream: stream)
        slots[index].request.body.removeAll(keepingCapacity: true)
        slots[index].request.bytes.removeAll(keepingCapacity: true)
        slots[index].request.fields.removeAll(keepingCapacity: true)
        nghttp2_session_set_stream_user_data(session, stream, UnsafeMutableRawPointer(bitPattern: index + 1))
    }

    /// False where the request is larger than any real one.
    func header(_ index: Int, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) -> Bool {
        let count = slots[index].request.bytes.count
        guard count + name.count + value.count <= requestBytesMax else { return false }
        slots[index].request.bytes.append(contentsOf: name)
        slots[index].request.bytes.append(contentsOf: value)
        slots[index].request.fields.append((count + name.count, count + name.count + value.count))
        return true
    }

    /// What exceeds the limit is cut off: the handler sees a body that is too long.
    func body(_ index: Int, _ bytes: UnsafeBufferPointer<UInt8>) {
        if readBytesPerSecond != nil { unread += bytes.count }
        let room = requestBytesMax - slots[index].request.body.count
        slots[index].request.body.append(contentsOf: bytes.prefix(max(0, room)))
    }

    func ended(_ index: Int) {
        complete.append(index)
    }

    func closed(_ index: Int) {
        complete.removeAll { $0 == index }
        slots[index].response = []
        free.append(index)
    }

    func bodyToSend(_ index: Int, _ target: UnsafeMutableRawBufferPointer) -> (count: Int, isLast: Bool) {
        let offset = slots[index].responseOffset
        let total = slots[index].response.count
        let count = min(target.count, total - offset)
        slots[index].response.withUnsafeBytes {
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count]))
        }
        slots[index].responseOffset = offset + count
        return (count, offset + count == total)
    }

    static func slot(_ tag: UnsafeMutableRawPointer?) -> Int? {
        tag.map { Int(bitPattern: $0) - 1 }
    }

    /// Lends the fields of a response; each value is pinned in turn while the next are added.
    private func withFields(
        _ response: H2Response, _ index: Int, _ fields: [nghttp2_nv], _ body: ([nghttp2_nv]) -> Void
    ) {
        if index == 0 && fields.isEmpty {
            return digits.withUnsafeBufferPointer {
                withFields(response, 0, [Self.field(":status", $0)], body)
            }
        }
        if index == response.headers.count { return body(fields) }
        response.headers[index].value.withUnsafeBufferPointer {
            withFields(response, index + 1, fields + [Self.field(response.headers[index].name, $0)], body)
        }
    }

    private static func field(_ name: StaticString, _ value: UnsafeBufferPointer<UInt8>) -> nghttp2_nv {
        nghttp2_nv(
            name: UnsafeMutablePointer(mutating: name.utf8Start),
            value: UnsafeMutablePointer(mutating: value.baseAddress),
            namelen: name.utf8CodeUnitCount, valuelen: value.count,
            flags: UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue))
    }
}
