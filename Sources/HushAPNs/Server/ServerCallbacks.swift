import CNghttp2

/// nghttp2's callbacks of a server session; the context is the `ServerSession`, unretained, which deletes it first.
enum ServerCallbacks {
    /// `isSlow`: what was read is given back by `ServerSession.read`, and not at once.
    static func makeSession(
        for context: UnsafeMutableRawPointer, memory: SessionMemory, isSlow: Bool
    ) -> OpaquePointer? {
        var callbacks: OpaquePointer?
        var options: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, nghttp2_option_new(&options) == 0 else { return nil }
        defer {
            nghttp2_session_callbacks_del(callbacks)
            nghttp2_option_del(options)
        }
        nghttp2_option_set_no_closed_streams(options, 1)
        if isSlow { nghttp2_option_set_no_auto_window_update(options, 1) }
        // A client that gives up many requests at their deadline is no attacker here.
        nghttp2_option_set_stream_reset_rate_limit(options, 1_000_000, 1_000_000)
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, onBegin)
        nghttp2_session_callbacks_set_on_header_callback(callbacks, onHeader)
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, onData)
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, onFrame)
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, onStreamClose)
        var session: OpaquePointer?
        var functions = memory.functions
        guard nghttp2_session_server_new3(&session, callbacks, context, options, &functions) == 0 else { return nil }
        return session
    }

    static let readBody: nghttp2_data_source_read_callback = { _, _, buffer, length, flags, source, context in
        guard let index = ServerSession.slot(source?.pointee.ptr) else { return 0 }
        let target = UnsafeMutableRawBufferPointer(start: buffer, count: length)
        let (count, isLast) = with(context) { $0.bodyToSend(index, target) } ?? (0, true)
        if isLast { flags?.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
        return count
    }

    private static let onBegin: nghttp2_on_begin_headers_callback = { _, frame, context in
        guard let frame, frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
        _ = with(context) { $0.began(frame.pointee.hd.stream_id) }
        return 0
    }

    private static let onHeader: nghttp2_on_header_callback = {
        raw, frame, name, nameCount, value, valueCount, _, context in
        guard let frame else { return 0 }
        guard
            let index = ServerSession.slot(nghttp2_session_get_stream_user_data(raw, frame.pointee.hd.stream_id))
        else { return 0 }
        let isTaken = with(context) {
            $0.header(
                index, name: UnsafeBufferPointer(start: name, count: nameCount),
                value: UnsafeBufferPointer(start: value, count: valueCount))
        }
        return isTaken == true ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }

    private static let onData: nghttp2_on_data_chunk_recv_callback = { raw, _, stream, bytes, count, context in
        guard let index = ServerSession.slot(nghttp2_session_get_stream_user_data(raw, stream)) else { return 0 }
        _ = with(context) { $0.body(index, UnsafeBufferPointer(start: bytes, count: count)) }
        return 0
    }

    private static let onFrame: nghttp2_on_frame_recv_callback = { raw, frame, context in
        guard let frame else { return 0 }
        let head = frame.pointee.hd
        let isMessage = head.type == UInt8(NGHTTP2_HEADERS.rawValue) || head.type == UInt8(NGHTTP2_DATA.rawValue)
        guard isMessage, head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 else { return 0 }
        guard let index = ServerSession.slot(nghttp2_session_get_stream_user_data(raw, head.stream_id)) else {
            return 0
        }
        _ = with(context) { $0.ended(index) }
        return 0
    }

    private static let onStreamClose: nghttp2_on_stream_close_callback = { raw, stream, _, context in
        guard let index = ServerSession.slot(nghttp2_session_get_stream_user_data(raw, stream)) else { return 0 }
        _ = with(context) { $0.closed(index) }
        return 0
    }

    @inline(__always)
    private static func with<R>(_ context: UnsafeMutableRawPointer?, _ body: (ServerSession) -> R) -> R? {
        guard let context else { return nil }
        return Unmanaged<ServerSession>.fromOpaque(context)._withUnsafeGuaranteedRef(body)
    }
}
