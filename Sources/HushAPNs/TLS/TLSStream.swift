private import COpenSSL
private import Glibc
import HushBase

/// TLS over one non-blocking socket, which it owns; of one thread.
struct TLSStream: ~Copyable {
    enum Progress: Hashable {
        case done
        case wantsRead
        case wantsWrite
        /// The peer closed, with or without TLS's goodbye.
        case closed
        case failed(String)
    }

    private let socket: Descriptor
    private let ssl: OpaquePointer

    private init(owning socket: consuming Descriptor, ssl: OpaquePointer) {
        self.socket = socket
        self.ssl = ssl
    }

    /// A client's end: `host` is sent as SNI and must be a name of the certificate.
    static func connecting(
        _ socket: consuming Descriptor, context: TLSContext, host: String
    ) throws(TLSFault) -> TLSStream {
        let ssl = try context.newHandle()
        guard expect(host, of: ssl), SSL_set_fd(ssl, socket.raw) == 1 else {
            SSL_free(ssl)
            throw TLSFault("the host name \(host) cannot be used with TLS: \(OpenSSLErrors.drain())")
        }
        SSL_set_connect_state(ssl)
        return TLSStream(owning: socket, ssl: ssl)
    }

    /// A server's end.
    static func accepting(_ socket: consuming Descriptor, context: TLSContext) throws(TLSFault) -> TLSStream {
        let ssl = try context.newHandle()
        guard SSL_set_fd(ssl, socket.raw) == 1 else {
            SSL_free(ssl)
            throw TLSFault("the socket cannot be used with TLS: \(OpenSSLErrors.drain())")
        }
        SSL_set_accept_state(ssl)
        return TLSStream(owning: socket, ssl: ssl)
    }

    deinit {
        // Else OpenSSL takes the end for an error, and its session is not resumed.
        SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        SSL_free(ssl)
    }

    var descriptor: Int32 { socket.raw }

    var wasResumed: Bool { SSL_session_reused(ssl) == 1 }

    /// Whether the handshake agreed on HTTP/2.
    var speaksHTTP2: Bool {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &length)
        guard let name, length == 2 else { return false }
        return name[0] == 0x68 && name[1] == 0x32
    }

    func handshake() -> Progress {
        OpenSSLErrors.clear()
        let result = SSL_do_handshake(ssl)
        if result == 1 { return .done }
        let verified = SSL_get_verify_result(ssl)
        if verified != Int(X509_V_OK) {
            OpenSSLErrors.clear()
            return .failed(
                "the certificate of the server is not valid: \(String(cString: X509_verify_cert_error_string(verified)))"
            )
        }
        return progress(of: result)
    }

    /// Reads what is there; the count is 0 unless `done`.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> (count: Int, progress: Progress) {
        OpenSSLErrors.clear()
        var count = 0
        let result = SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
        return result == 1 ? (count, .done) : (0, progress(of: result))
    }

    /// Whether bytes of the peer wait here, and not only in the socket.
    var hasBufferedBytes: Bool { SSL_has_pending(ssl) == 1 }

    /// Writes a part of the bytes, as many as the socket takes at once.
    func write(_ bytes: UnsafeRawBufferPointer) -> (count: Int, progress: Progress) {
        if bytes.isEmpty { return (0, .done) }
        OpenSSLErrors.clear()
        var count = 0
        let result = SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count)
        return result == 1 ? (count, .done) : (0, progress(of: result))
    }

    /// Says goodbye, without waiting for the peer's.
    func sayGoodbye() {
        OpenSSLErrors.clear()
        _ = SSL_shutdown(ssl)
    }

    private func progress(of result: Int32) -> Progress {
        let systemCode = errno
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN: return .closed
        case SSL_ERROR_SYSCALL:
            if systemCode == 0 || systemCode == ECONNRESET || systemCode == EPIPE { return .closed }
            return .failed(SystemFault(call: "TLS", code: systemCode).description)
        default:
            let reason = OpenSSLErrors.drain()
            return reason.contains("unexpected eof") ? .closed : .failed("TLS: \(reason)")
        }
    }

    /// Asks for the certificate of `host`: by address where it is one (there is no SNI for those), else by name.
    private static func expect(_ host: String, of ssl: OpaquePointer) -> Bool {
        let parameters = SSL_get0_param(ssl)
        if X509_VERIFY_PARAM_set1_ip_asc(parameters, host) == 1 { return true }
        OpenSSLErrors.clear()
        SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
        return SSL_set1_host(ssl, host) == 1 && hush_ssl_set_server_name(ssl, host) == 1
    }
}
