private import COpenSSL
private import Glibc
import Synchronization

/// A failure of TLS set-up, as text that names the file or the peer.
struct TLSFault: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// One owner of an OpenSSL context: what all connections of a route, or of a server, share.
///
/// TLS 1.2 or newer, ALPN `h2` only, no renegotiation. A client verifies the peer's chain and name, always.
final class TLSContext: Sendable {
    enum Trust {
        case system
        case file(String)
    }

    /// OpenSSL's contexts count references atomically and are not changed after init, so threads may share one.
    nonisolated(unsafe) let raw: OpaquePointer
    private let sessions: SessionHolder?

    /// The newest TLS session of a client context, for resumption.
    final class SessionHolder: Sendable {
        /// A session pointer that this holder owns one reference of.
        struct Session: @unchecked Sendable {
            // OpenSSL's sessions are counted atomically and immutable once established.
            let raw: OpaquePointer
        }

        private let newest = Mutex<Session?>(nil)

        deinit {
            if let session = newest.withLock({ $0 }) { SSL_SESSION_free(session.raw) }
        }

        func keep(_ raw: OpaquePointer) {
            let session = Session(raw: raw)
            let old = newest.withLock { newest in
                defer { newest = session }
                return newest
            }
            if let old { SSL_SESSION_free(old.raw) }
        }

        /// Gives the newest session to a handle, which takes a reference of its own.
        func lend(to ssl: OpaquePointer) {
            let handle = Session(raw: ssl)
            newest.withLock { newest in
                if let newest { _ = SSL_set_session(handle.raw, newest.raw) }
            }
        }
    }

    /// A client's context; a certificate of its own where the credential is one.
    init(trust: Trust, certificateFile: String?, keyFile: String?) throws(TLSFault) {
        raw = try Self.make(TLS_client_method())
        sessions = SessionHolder()
        switch trust {
        case .system:
            guard SSL_CTX_set_default_verify_paths(raw) == 1 else {
                throw TLSFault("the system's CA certificates cannot be loaded: \(OpenSSLErrors.drain())")
            }
        case .file(let path):
            guard SSL_CTX_load_verify_locations(raw, path, nil) == 1 else {
                throw TLSFault("\(path) holds no CA certificates in PEM: \(OpenSSLErrors.drain())")
            }
        }
        SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nil)
        if let certificateFile, let keyFile { try use(certificateFile: certificateFile, keyFile: keyFile) }
        let offered: [UInt8] = [2, 0x68, 0x32]
        // Of all OpenSSL's setters this one returns 0 for success.
        guard SSL_CTX_set_alpn_protos(raw, offered, UInt32(offered.count)) == 0 else {
            throw TLSFault("ALPN cannot be set: \(OpenSSLErrors.drain())")
        }
        hush_ssl_ctx_use_client_sessions(raw)
        if let sessions { _ = hush_ssl_ctx_set_app_data(raw, Unmanaged.passUnretained(sessions).toOpaque()) }
        SSL_CTX_sess_set_new_cb(raw) { ssl, session in
            guard let holder = hush_ssl_app_data_of_context(ssl), let session else { return 0 }
            Unmanaged<SessionHolder>.fromOpaque(holder)._withUnsafeGuaranteedRef { $0.keep(session) }
            // 1: the reference that came with the call is ours now.
            return 1
        }
    }

    /// A server's context.
    init(serverCertificateFile: String, keyFile: String) throws(TLSFault) {
        raw = try Self.make(TLS_server_method())
        sessions = nil
        try use(certificateFile: serverCertificateFile, keyFile: keyFile)
        SSL_CTX_set_alpn_select_cb(
            raw,
            { _, chosen, chosenLength, offered, offeredLength, _ in
                var position = 0
                while let offered, position < Int(offeredLength) {
                    let length = Int(offered[position])
                    guard position + 1 + length <= Int(offeredLength) else { break }
                    if length == 2 && offered[position + 1] == 0x68 && offered[position + 2] == 0x32 {
                        chosen?.pointee = offered + position + 1
                        chosenLength?.pointee = 2
                        return SSL_TLSEXT_ERR_OK
                    }
                    position += 1 + length
                }
                return SSL_TLSEXT_ERR_ALERT_FATAL
            }, nil)
        let identity: [UInt8] = Array("hush".utf8)
        _ = SSL_CTX_set_session_id_context(raw, identity, UInt32(identity.count))
    }

    deinit {
        SSL_CTX_free(raw)
    }

    /// A handle for one connection; the caller owns it.
    func newHandle() throws(TLSFault) -> OpaquePointer {
        guard let ssl = SSL_new(raw) else { throw TLSFault("SSL_new failed: \(OpenSSLErrors.drain())") }
        sessions?.lend(to: ssl)
        return ssl
    }

    private static func make(_ method: OpaquePointer?) throws(TLSFault) -> OpaquePointer {
        guard let raw = SSL_CTX_new(method) else { throw TLSFault("SSL_CTX_new failed: \(OpenSSLErrors.drain())") }
        guard hush_ssl_ctx_set_min_proto_version(raw, TLS1_2_VERSION) == 1 else {
            SSL_CTX_free(raw)
            throw TLSFault("TLS 1.2 cannot be asked for: \(OpenSSLErrors.drain())")
        }
        hush_ssl_ctx_set_stream_modes(raw)
        hush_ssl_ctx_forbid_renegotiation(raw)
        hush_ssl_ctx_take_plain_ends(raw)
        return raw
    }

    private func use(certificateFile: String, keyFile: String) throws(TLSFault) {
        guard SSL_CTX_use_certificate_chain_file(raw, certificateFile) == 1 else {
            throw TLSFault("\(certificateFile) is not a certificate in PEM: \(OpenSSLErrors.drain())")
        }
        guard SSL_CTX_use_PrivateKey_file(raw, keyFile, SSL_FILETYPE_PEM) == 1 else {
            throw TLSFault("\(keyFile) is not a private key in PEM: \(OpenSSLErrors.drain())")
        }
        guard SSL_CTX_check_private_key(raw) == 1 else {
            throw TLSFault("\(keyFile) is not the key of \(certificateFile): \(OpenSSLErrors.drain())")
        }
    }
}
