private import COpenSSL
private import Glibc

/// A P-256 key that signs or verifies ES256 (RFC 7518 §3.4): the one owner of OpenSSL's key.
package final class SigningKey: Sendable {
    /// Not changed after init; OpenSSL allows concurrent use of a key that nobody changes.
    private nonisolated(unsafe) let raw: OpaquePointer

    private init(owning raw: OpaquePointer) {
        self.raw = raw
    }

    deinit {
        EVP_PKEY_free(raw)
    }

    /// Reads a private key, as Apple's `.p8`.
    /// - Throws: what is wrong with the file, and what to do.
    package convenience init(file path: String) throws(APNsConfigurationFault) {
        self.init(owning: try Self.load(path, what: "the token key"))
    }

    /// The key of PEM text, private or public; nil where it is none on the P-256 curve.
    package static func parse(pem: [UInt8]) -> SigningKey? {
        defer { OpenSSLErrors.clear() }
        let raw = withBIO(of: pem) { bio in
            if let key = PEM_read_bio_PrivateKey(bio, nil, nil, nil) { return key }
            return nil
        }
        let found = raw ?? withBIO(of: pem) { PEM_read_bio_PUBKEY($0, nil, nil, nil) }
        guard let found else { return nil }
        let key = SigningKey(owning: found)
        return isP256(found) ? key : nil
    }

    /// The 64 bytes `r ‖ s` of a signature over `message`.
    package func sign(_ message: [UInt8]) throws(APNsConfigurationFault) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw fault("EVP_MD_CTX_new") }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, raw) == 1 else { throw fault("EVP_DigestSignInit") }
        var der = [UInt8](repeating: 0, count: 80)
        var length = der.count
        guard EVP_DigestSign(context, &der, &length, message, message.count) == 1 else {
            throw fault("EVP_DigestSign")
        }
        let signature = der.withUnsafeBufferPointer { buffer -> [UInt8]? in
            var start = buffer.baseAddress
            guard let parsed = d2i_ECDSA_SIG(nil, &start, length) else { return nil }
            defer { ECDSA_SIG_free(parsed) }
            var parts = [UInt8](repeating: 0, count: 64)
            let written = parts.withUnsafeMutableBufferPointer { parts -> Bool in
                guard let base = parts.baseAddress else { return false }
                return BN_bn2binpad(ECDSA_SIG_get0_r(parsed), base, 32) == 32
                    && BN_bn2binpad(ECDSA_SIG_get0_s(parsed), base + 32, 32) == 32
            }
            return written ? parts : nil
        }
        guard let signature else { throw fault("d2i_ECDSA_SIG") }
        return signature
    }

    /// Whether the 64 bytes `r ‖ s` are this key's signature over `message`.
    package func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        defer { OpenSSLErrors.clear() }
        guard signature.count == 64, let parsed = ECDSA_SIG_new() else { return false }
        defer { ECDSA_SIG_free(parsed) }
        let r = BN_bin2bn(Array(signature[..<32]), 32, nil)
        let s = BN_bin2bn(Array(signature[32...]), 32, nil)
        guard ECDSA_SIG_set0(parsed, r, s) == 1 else {
            BN_free(r)
            BN_free(s)
            return false
        }
        var der: UnsafeMutablePointer<UInt8>?
        let length = i2d_ECDSA_SIG(parsed, &der)
        guard length > 0, let der, let context = EVP_MD_CTX_new() else { return false }
        defer {
            CRYPTO_free(der, nil, 0)
            EVP_MD_CTX_free(context)
        }
        guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, raw) == 1 else { return false }
        return EVP_DigestVerify(context, der, Int(length), message, message.count) == 1
    }

    private func fault(_ call: String) -> APNsConfigurationFault {
        APNsConfigurationFault("the token key cannot sign: \(call): \(OpenSSLErrors.drain())")
    }

    private static func load(_ path: String, what: String) throws(APNsConfigurationFault) -> OpaquePointer {
        guard let file = fopen(path, "re") else {
            let code = errno
            let fix =
                code == ENOENT
                ? "there is no such file: give the path of the .p8 file from Apple's developer site"
                : "it cannot be read (\(String(cString: strerror(code)))): make it readable for this user"
            throw APNsConfigurationFault("\(what) \(path): \(fix)")
        }
        defer { fclose(file) }
        defer { OpenSSLErrors.clear() }
        guard let raw = PEM_read_PrivateKey(file, nil, nil, nil) else {
            throw APNsConfigurationFault(
                "\(what) \(path) is not a private key in PEM: use the .p8 file as Apple gave it, not a certificate")
        }
        guard isP256(raw) else {
            EVP_PKEY_free(raw)
            throw APNsConfigurationFault(
                "\(what) \(path) is not a P-256 elliptic curve key: APNs signs with ES256 only; use Apple's .p8 file")
        }
        return raw
    }

    private static func isP256(_ raw: OpaquePointer) -> Bool {
        guard EVP_PKEY_is_a(raw, "EC") == 1 else { return false }
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard EVP_PKEY_get_group_name(raw, &name, name.count, &length) == 1 else { return false }
        return name.prefix(length).map { UInt8(bitPattern: $0) } == Array("prime256v1".utf8)
    }

    private static func withBIO(of pem: [UInt8], _ body: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
        pem.withUnsafeBytes { bytes in
            guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { BIO_free(bio) }
            return body(bio)
        }
    }
}
