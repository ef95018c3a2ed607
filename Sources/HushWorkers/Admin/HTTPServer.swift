private import CLibevent
private import Glibc
private import HushBase

/// HTTP/1.1 on one port: libevent's evhttp on a thread of its own. Answers are made on that thread and must not block.
final class HTTPServer: Sendable {
    let port: Int
    private let loop: HTTPLoop
    private let stop: WakeUp
    private let thread: NamedThread

    init(
        name: String, host: String, port: Int, answer: @escaping @Sendable (HTTPRequest) -> HTTPAnswer
    ) throws(HTTPServerFault) {
        do {
            let stop = try WakeUp()
            let loop = try HTTPLoop(host: host, port: port, stop: stop.descriptor, answer: answer)
            self.stop = stop
            self.loop = loop
            self.port = try loop.boundPort()
            thread = try NamedThread.start(name: "hush-\(name)") { loop.run() }
        } catch {
            throw HTTPServerFault(description: "cannot serve HTTP on \(host):\(port): \(error)")
        }
    }

    /// Ends the loop, waits for its thread, and frees what it had; a second call does nothing.
    func close() {
        stop.signal()
        thread.join()
        loop.close()
    }
}

/// The owner of the event base, the server on it, and the event that ends it.
///
/// The handles are used by the thread that makes them until `run`, by the thread inside of `run` until that has
/// returned, and then by the one that joined it, so no two threads ever use them at once.
private final class HTTPLoop: @unchecked Sendable {
    /// A request's line and headers, and its body, in bytes: beyond these evhttp answers 413 or closes.
    private static let headersMax = 16 << 10
    private static let bodyMax = 64 << 10
    /// An idle connection is closed after it.
    private static let idleSecondsMax: Int32 = 30

    private let base: OpaquePointer
    private let server: OpaquePointer
    private let socket: OpaquePointer
    private let stopEvent: OpaquePointer
    private let answer: @Sendable (HTTPRequest) -> HTTPAnswer
    private var isClosed = false

    init(
        host: String, port: Int, stop: Int32, answer: @escaping @Sendable (HTTPRequest) -> HTTPAnswer
    ) throws(SystemFault) {
        guard let base = event_base_new() else { throw .last("event_base_new") }
        guard let server = evhttp_new(base) else {
            event_base_free(base)
            throw .last("evhttp_new")
        }
        guard let socket = evhttp_bind_socket_with_handle(server, host, UInt16(clamping: port)) else {
            let fault = SystemFault.last("bind")
            evhttp_free(server)
            event_base_free(base)
            throw fault
        }
        // The base is its context, and the event never outlives it.
        let context = UnsafeMutableRawPointer(base)
        let ends: event_callback_fn = { _, _, context in event_base_loopbreak(context.map { OpaquePointer($0) }) }
        guard let stopEvent = event_new(base, stop, Int16(EV_READ | EV_PERSIST), ends, context) else {
            evhttp_free(server)
            event_base_free(base)
            throw .last("event_new")
        }
        (self.base, self.server, self.socket, self.stopEvent) = (base, server, socket, stopEvent)
        self.answer = answer
        event_add(stopEvent, nil)
        evhttp_set_max_headers_size(server, Self.headersMax)
        evhttp_set_max_body_size(server, Self.bodyMax)
        evhttp_set_timeout(server, Self.idleSecondsMax)
        // What is not in this list is answered with 501 before it reaches us.
        let methods = [EVHTTP_REQ_GET, EVHTTP_REQ_HEAD, EVHTTP_REQ_POST, EVHTTP_REQ_PUT, EVHTTP_REQ_DELETE]
        evhttp_set_allowed_methods(server, UInt16(methods.reduce(0) { $0 | $1.rawValue }))
        evhttp_set_gencb(
            server,
            { request, context in
                guard let request, let context else { return }
                Unmanaged<HTTPLoop>.fromOpaque(context).takeUnretainedValue().reply(to: request)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    func boundPort() throws(SystemFault) -> Int {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(evhttp_bound_socket_get_fd(socket), $0, &length)
            }
        }
        guard result == 0 else { throw .last("getsockname") }
        return withUnsafeBytes(of: &address) { bytes in
            // The port is at the same place in IPv4's and IPv6's addresses, in network byte order.
            Int(bytes[2]) << 8 | Int(bytes[3])
        }
    }

    /// Serves until the stop event.
    func run() {
        event_base_dispatch(base)
    }

    func close() {
        if isClosed { return }
        isClosed = true
        event_free(stopEvent)
        evhttp_free(server)
        event_base_free(base)
    }

    private func reply(to raw: OpaquePointer) {
        let method: HTTPRequest.Method =
            switch evhttp_request_get_command(raw) {
            case EVHTTP_REQ_GET: .get
            case EVHTTP_REQ_HEAD: .head
            case EVHTTP_REQ_POST: .post
            default: .other
            }
        let uri = evhttp_request_get_evhttp_uri(raw)
        let path = uri.flatMap { evhttp_uri_get_path($0) }.map { String(cString: $0) }
        let hasBody = evhttp_request_get_input_buffer(raw).map { evbuffer_get_length($0) > 0 } ?? false
        let hasQuery = uri.flatMap { evhttp_uri_get_query($0) } != nil
        let answer = answer(HTTPRequest(method: method, path: path ?? "", hasParameters: hasBody || hasQuery))
        let headers = evhttp_request_get_output_headers(raw)
        if !answer.headers.contains(where: { $0.name == "Content-Type" }) {
            evhttp_add_header(headers, "Content-Type", "text/plain; charset=utf-8")
        }
        for header in answer.headers { evhttp_add_header(headers, header.name, header.value) }
        let body = evbuffer_new()
        defer { evbuffer_free(body) }
        answer.body.withUnsafeBytes { _ = evbuffer_add(body, $0.baseAddress, $0.count) }
        evhttp_send_reply(raw, answer.status, nil, body)
    }
}
