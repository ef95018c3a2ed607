import CNghttp2

/// nghttp2's callbacks of a client session. Each finds the session in the opaque context, tells it a fact, returns.
///
/// The context is the `ClientSession` itself, unretained: it owns the nghttp2 session and deletes it first.
enum ClientCallbacks {
    /// More of the peer's debug text than this is not logged.
    private static let debugBytesMax = 256

    static func makeSession(for context: UnsafeMutableRawPointer, memory: SessionMemory) -> OpaquePointer? {
        var callbacks: OpaquePointer?
        var options: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, nghttp2_option_new(&options) == 0 else { return nil }
        defer {
            nghttp2_session_callbacks_del(callbacks)
            nghttp2_option_del(options)
        }
        nghttp2_option_set_peer_max_concurrent_streams(options, 1)
        nghttp2_option_set_no_closed_streams(options, 1)
        // Of an answer two header fields are read, and both are checked where they are read.
        nghttp2_option_set_no_http_messaging(options, 1)
        nghttp2_session_callbacks_set_on_header_callback(callbacks, onHeader)
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, onData)
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, onFrame)
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, onStreamClose)
        var session: OpaquePointer?
        var functions = memory.functions
        guard nghttp2_session_client_new3(&session, callbacks, context, options, &functions) == 0 else { return nil }
        return session
    }

    static let readBody: nghttp2_data_source_read_callback = { _, _, buffer, length, flags, source, context in
        guard let index = ClientSession.slot(source?.pointee.ptr) else { return 0 }
        let target = UnsafeMutableRawBufferPointer(start: buffer, count: length)
        let (count, isLast) = with(context) { $0.bodyToSend(index, target) } ?? (0, true)
        if isLast { flags?.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
        return count
    }

    private static let onHeader: nghttp2_on_header_callback = {
        _, frame, name, nameCount, value, valueCount, _, context in
        guard let frame else { return 0 }
        let stream = frame.pointee.hd.stream_id
        let isTaken = with(context) { session in
            guard let index = session.slot(ofStream: stream) else { return true }
            return session.header(
                index, name: UnsafeBufferPointer(start: name, count: nameCount),
                value: UnsafeBufferPointer(start: value, count: valueCount))
        }
        // The stream is reset, the connection goes on.
        return isTaken == true ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }

    private static let onData: nghttp2_on_data_chunk_recv_callback = { _, _, stream, bytes, count, context in
        with(context) { session in
            guard let index = session.slot(ofStream: stream) else { return }
            session.body(index, UnsafeBufferPointer(start: bytes, count: count))
        }
        return 0
    }

    private static let onFrame: nghttp2_on_frame_recv_callback = { _, frame, context in
        guard let frame else { return 0 }
        let head = frame.pointee.hd
        switch UInt32(head.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            guard head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 else { return 0 }
            with(context) { session in
                if let index = session.slot(ofStream: head.stream_id) { session.ended(index) }
            }
        case NGHTTP2_SETTINGS.rawValue:
            guard head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 else { return 0 }
            _ = with(context) { $0.settingsReceived() }
        case NGHTTP2_RST_STREAM.rawValue:
            _ = with(context) { $0.counts.resets += 1 }
        case NGHTTP2_GOAWAY.rawValue:
            let goAway = frame.pointee.goaway
            let debug = UnsafeBufferPointer(
                start: goAway.opaque_data, count: min(goAway.opaque_data_len, debugBytesMax))
            let text = String(decoding: debug, as: UTF8.self)
            _ = with(context) {
                $0.goAwayReceived(lastStreamID: goAway.last_stream_id, code: goAway.error_code, debug: text)
            }
        default: break
        }
        return 0
    }

    private static let onStreamClose: nghttp2_on_stream_close_callback = { _, stream, code, context in
        with(context) { session in
            if let index = session.slot(ofStream: stream) { session.streamClosed(index, code: code) }
        }
        return 0
    }

    @inline(__always)
    @discardableResult
    private static func with<R>(_ context: UnsafeMutableRawPointer?, _ body: (ClientSession) -> R) -> R? {
        guard let context else { return nil }
        return Unmanaged<ClientSession>.fromOpaque(context)._withUnsafeGuaranteedRef(body)
    }
}
