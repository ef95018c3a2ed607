import CNghttp2
import HushBase

/// The HTTP/2 side of one connection: bytes in, bytes out, requests in, answers out. The one owner of nghttp2's session.
///
/// No socket, no clock. Its callbacks note facts in its own arrays; the connection's shell takes them after each call.
final class ClientSession: FrameSession {
    /// Header bytes of one answer; HPACK can blow 16 KB up to 64 MB.
    static let headerBytesMax = 16 * 1024
    /// Timeouts without an answer between them after which the peer is taken for dead, instead of resetting each stream:
    /// servers count resets as an attack.
    static let timeoutsMax = 100

    /// Where facts for the loop are gathered.
    struct Facts {
        var answers: [PushAnswer] = []
        /// Requests that the peer certainly did not take.
        var returned: [QueuedPush] = []
        /// Requests that were refused for an expired token, with its version and the answer to give where that stands.
        var expired: [(push: QueuedPush, tokenVersion: UInt32, answer: PushAnswer)] = []
        var goAway: String?
        var tooManyTokens = false
    }

    private struct Slot {
        var push: QueuedPush?
        var streamID: Int32 = 0
        var bodyOffset = 0
        var headerBytes = 0
        var status: UInt16 = 0
        var isWritten = false
        var hasEnded = false
        var tokenVersion: UInt32 = 0
        var retryAfterSeconds: Int64?
        var body: [UInt8] = []

        /// As new; the room for a body stays.
        mutating func reset() {
            push = nil
            bodyOffset = 0
            headerBytes = 0
            status = 0
            isWritten = false
            hasEnded = false
            retryAfterSeconds = nil
            if !body.isEmpty { body.removeAll(keepingCapacity: true) }
        }
    }

    // Of one thread, and touched a dozen times a request: the look into the runtime's access set would be dear.
    @exclusivity(unchecked) var life: ConnectionLife
    @exclusivity(unchecked) var facts = Facts()
    @exclusivity(unchecked) var counts = APNsCounts()
    @exclusivity(unchecked) private(set) var openCount = 0
    private let memory = SessionMemory()
    @exclusivity(unchecked) private var session: OpaquePointer?
    @exclusivity(unchecked) private var headers: RequestHeaders
    /// The stream that was asked for last and its slot: what nghttp2 tells comes in runs of one stream.
    @exclusivity(unchecked) private var lastLooked: (stream: Int32, slot: Int?) = (0, nil)
    /// One for each stream that may be open. Not an array: nghttp2's callbacks touch it ten times a request, and an array
    /// asks each time whether it is shared. Every index comes from `free`.
    private let slots: UnsafeMutableBufferPointer<Slot>
    @exclusivity(unchecked) private var free: [Int]
    /// Slots whose request is not yet with the socket.
    @exclusivity(unchecked) private var unwritten: [Int] = []
    private var timeoutsSinceAnswer = 0
    private let mayWrite: () -> Bool

    /// `mayWrite` is asked right before each write: a process that was stopped in between must not send.
    init(authority: String, life: ConnectionLife, mayWrite: @escaping () -> Bool) throws(TLSFault) {
        self.life = life
        self.mayWrite = mayWrite
        headers = RequestHeaders(authority: authority)
        slots = .allocate(capacity: life.limits.streamsMax)
        slots.initialize(repeating: Slot())
        free = Array((0..<life.limits.streamsMax).reversed())
        session = nil
        let made = ClientCallbacks.makeSession(
            for: Unmanaged.passUnretained(self).toOpaque(), memory: memory)
        guard let made else { throw TLSFault("nghttp2 cannot make a session") }
        session = made
        let settings = [
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: UInt32(Self.headerBytesMax)),
        ]
        nghttp2_submit_settings(made, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
    }

    deinit {
        nghttp2_session_del(session)
        slots.deinitialize().deallocate()
    }

    /// Streams that may be opened now.
    var allowance: Int { min(life.allowance(open: openCount), free.count) }

    /// Opens a stream for a request; gives it back where none can be opened here any more.
    func submit(_ push: QueuedPush, token: ProviderToken.Current?) -> QueuedPush? {
        guard nghttp2_session_check_request_allowed(session) != 0, let index = free.popLast() else {
            life.retire()
            return push
        }
        let fields = push.withRequest { headers.write($0, token: token) }
        let tag = UnsafeMutableRawPointer(bitPattern: index + 1)
        var provider = nghttp2_data_provider()
        provider.source.ptr = tag
        provider.read_callback = ClientCallbacks.readBody
        let id = nghttp2_submit_request(session, nil, fields.baseAddress, fields.count, &provider, tag)
        guard id > 0 else {
            free.append(index)
            life.retire()
            return push
        }
        slots[index].push = push
        slots[index].streamID = id
        slots[index].tokenVersion = token?.version ?? 0
        unwritten.append(index)
        openCount += 1
        counts.requests += 1
        life.streamOpened(id: id)
        return nil
    }

    func opened(at now: MonotonicTime) {
        life.opened(at: now)
    }

    func receive(_ bytes: UnsafeRawBufferPointer, at now: MonotonicTime) -> ConnectionEnd? {
        life.received(at: now)
        let taken = nghttp2_session_mem_recv(
            session, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        if taken < 0 { return .failed("HTTP/2: \(String(cString: nghttp2_strerror(Int32(taken))))") }
        counts.bytesReceived += UInt64(bytes.count)
        return nil
    }

    func produce(into output: inout OutputBuffer, byteCountMax: Int) -> ConnectionEnd? {
        while output.count < byteCountMax {
            var bytes: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &bytes)
            if count < 0 { return .failed("HTTP/2: \(String(cString: nghttp2_strerror(Int32(count))))") }
            if count == 0 { break }
            output.append(UnsafeRawBufferPointer(start: bytes, count: count))
            counts.bytesSent += UInt64(count)
        }
        return nil
    }

    /// nghttp2 is through with the connection, as after a fault of the peer's that it answered with GOAWAY.
    var isOver: Bool { nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 }

    /// From now on the requests submitted so far may have left.
    func willWrite() -> Bool {
        guard mayWrite() else { return false }
        for index in unwritten where slots[index].push != nil { slots[index].isWritten = true }
        unwritten.removeAll(keepingCapacity: true)
        return true
    }

    func ping() {
        counts.pings += 1
        nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    }

    /// Tells the peer that no further stream will come.
    func sayGoodbye() {
        nghttp2_submit_goaway(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, NGHTTP2_NO_ERROR.rawValue, nil, 0)
    }

    /// Gives up the streams whose deadline is over: their outcome is unknown, and the slot is free once RST_STREAM left.
    func expire(at now: MonotonicTime) -> ConnectionEnd? {
        for index in slots.indices {
            guard let push = slots[index].push, push.deadline <= now else { continue }
            nghttp2_submit_rst_stream(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), slots[index].streamID, NGHTTP2_CANCEL.rawValue)
            counts.timeouts += 1
            timeoutsSinceAnswer += 1
            if slots[index].hasEnded {
                answer(index, push)
            } else {
                counts.unknown += 1
                facts.answers.append(PushAnswer(tag: push.tag, outcome: .unknown))
            }
            slots[index].push = nil
        }
        return timeoutsSinceAnswer >= Self.timeoutsMax
            ? .failed("\(timeoutsSinceAnswer) requests without an answer") : nil
    }

    /// The connection is gone: what was written is unknown, what was not goes back.
    func abandonAll() {
        for index in slots.indices {
            guard let push = slots[index].push else { continue }
            slots[index].push = nil
            if slots[index].hasEnded {
                answer(index, push)
            } else if slots[index].isWritten {
                counts.unknown += 1
                facts.answers.append(PushAnswer(tag: push.tag, outcome: .unknown))
            } else {
                facts.returned.append(push)
            }
        }
        openCount = 0
    }

    // MARK: What nghttp2 tells, by way of ClientCallbacks

    static func slot(_ tag: UnsafeMutableRawPointer?) -> Int? {
        tag.map { Int(bitPattern: $0) - 1 }
    }

    func slot(ofStream stream: Int32) -> Int? {
        if lastLooked.stream == stream { return lastLooked.slot }
        lastLooked = (stream, Self.slot(nghttp2_session_get_stream_user_data(session, stream)))
        return lastLooked.slot
    }

    func bodyToSend(_ index: Int, _ target: UnsafeMutableRawBufferPointer) -> (count: Int, isLast: Bool) {
        guard let push = slots[index].push else { return (0, true) }
        let offset = slots[index].bodyOffset
        let total = push.payloadByteCount
        let count = min(target.count, total - offset)
        push.withRequest { request in
            request.pointee.payload.withUnsafeBytes {
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count]))
            }
        }
        slots[index].bodyOffset = offset + count
        return (count, offset + count == total)
    }

    /// False where the answer has more header bytes than any real one.
    func header(_ index: Int, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) -> Bool {
        slots[index].headerBytes += name.count + value.count + 32
        if slots[index].headerBytes > Self.headerBytesMax { return false }
        // Of all pseudo-header fields only `:status` begins so.
        if name.count == 7 && name[0] == UInt8(ascii: ":") && name[1] == UInt8(ascii: "s")
            && name[2] == UInt8(ascii: "t")
        {
            slots[index].status = UInt16(clamping: Self.number(value) ?? 0)
        } else if name.count == 11 && name.elementsEqual("retry-after".utf8) {
            slots[index].retryAfterSeconds = Self.number(value)
        }
        return true
    }

    func body(_ index: Int, _ bytes: UnsafeBufferPointer<UInt8>) {
        let room = ResponseBody.byteCountMax - slots[index].body.count
        slots[index].body.append(contentsOf: bytes.prefix(max(0, room)))
    }

    func ended(_ index: Int) {
        slots[index].hasEnded = true
    }

    func streamClosed(_ index: Int, code: UInt32) {
        defer {
            lastLooked = (0, nil)
            slots[index].reset()
            free.append(index)
            openCount -= 1
        }
        guard let push = slots[index].push else { return }
        // 100 to 199 come before the answer (RFC 9110 §15.2).
        if slots[index].status >= 200 && (slots[index].hasEnded || code == NGHTTP2_NO_ERROR.rawValue) {
            answer(index, push)
        } else if code == NGHTTP2_REFUSED_STREAM.rawValue {
            facts.returned.append(push)
        } else {
            counts.unknown += 1
            facts.answers.append(PushAnswer(tag: push.tag, outcome: .unknown))
        }
    }

    func settingsReceived() {
        let streams = nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
        life.settings(streamsMax: Int(streams))
    }

    func goAwayReceived(lastStreamID: Int32, code: UInt32, debug: String) {
        counts.goAways += 1
        life.retire()
        facts.goAway = "last stream \(lastStreamID), code \(code)\(debug.isEmpty ? "" : ", " + debug)"
    }

    private func answer(_ index: Int, _ push: QueuedPush) {
        let status = slots[index].status
        timeoutsSinceAnswer = 0
        life.answered(status: status)
        if status == 200 {
            counts.accepted += 1
            let outcome = PushAnswer.Outcome.answered(
                status: 200, reason: [], retryAfterSeconds: nil, timestampMillis: nil)
            facts.answers.append(PushAnswer(tag: push.tag, outcome: outcome))
            return
        }
        let body = ResponseBody(parsing: slots[index].body)
        let outcome = PushAnswer.Outcome.answered(
            status: status, reason: body.reason, retryAfterSeconds: slots[index].retryAfterSeconds,
            timestampMillis: body.timestampMillis)
        let answer = PushAnswer(tag: push.tag, outcome: outcome)
        switch ConnectionReason(body.reason) {
        case .expiredToken:
            life.retire()
            facts.expired.append((push, slots[index].tokenVersion, answer))
            return
        case .tooManyTokens:
            life.retire()
            facts.tooManyTokens = true
        case .retire:
            life.retire()
        case nil: break
        }
        counts.refused += 1
        facts.answers.append(answer)
    }

    private static func number(_ digits: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard !digits.isEmpty && digits.count <= 10 else { return nil }
        var value: Int64 = 0
        for digit in digits {
            guard digit >= 0x30 && digit <= 0x39 else { return nil }
            value = value * 10 + Int64(digit - 0x30)
        }
        return value
    }
}

/// The reasons that concern the connection or its token, not only the request; the rest is the caller's.
private enum ConnectionReason {
    case expiredToken
    case tooManyTokens
    /// The connection is of no further use.
    case retire

    init?(_ reason: [UInt8]) {
        switch reason {
        case Array("ExpiredProviderToken".utf8): self = .expiredToken
        case Array("TooManyProviderTokenUpdates".utf8): self = .tooManyTokens
        case Array("IdleTimeout".utf8), Array("Shutdown".utf8), Array("UnrelatedKeyIdInToken".utf8): self = .retire
        default: return nil
        }
    }
}
