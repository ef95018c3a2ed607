private import COpenSSL

/// HMAC-SHA-256 (RFC 2104) made by OpenSSL, under one key: for names that stand in the ledger as pseudonyms.
///
/// One context is reused; of one thread at a time.
package final class SHA256Authenticator {
    /// The bytes of a code.
    package static let byteCount = 32

    private let context: OpaquePointer

    package init(key: [UInt8]) {
        let mac = EVP_MAC_fetch(nil, "HMAC", nil)
        defer { EVP_MAC_free(mac) }
        guard let context = EVP_MAC_CTX_new(mac) else {
            preconditionFailure("OpenSSL has no HMAC: \(OpenSSLErrors.drain())")
        }
        var digest = Array("SHA256".utf8CString)
        // Parameters point to their name and value, so both must be there until they are taken.
        let isReady = OSSL_MAC_PARAM_DIGEST.withCString { parameter in
            digest.withUnsafeMutableBufferPointer { value in
                let parameters = [
                    OSSL_PARAM_construct_utf8_string(parameter, value.baseAddress, 0), OSSL_PARAM_construct_end(),
                ]
                return EVP_MAC_init(context, key, key.count, parameters) == 1
            }
        }
        precondition(isReady, "OpenSSL has no HMAC with SHA-256")
        self.context = context
    }

    deinit {
        EVP_MAC_CTX_free(context)
    }

    /// The 32 bytes of the code of some bytes.
    package func code(of bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
            // Without a key: the one that it has.
            let isDone =
                EVP_MAC_init(context, nil, 0, nil) == 1 && EVP_MAC_update(context, bytes, bytes.count) == 1
                && EVP_MAC_final(context, buffer.baseAddress, &count, buffer.count) == 1
            precondition(isDone && count == Self.byteCount, "HMAC failed")
        }
    }
}
