private import COpenSSL
private import Glibc

/// Keys and certificates for a server on this machine, made afresh: for the simulator, the demo and tests.
///
/// The CA's key is thrown away with the call, so nobody can sign anything else with it.
package struct TestCertificates: Sendable, Hashable {
    /// What the client trusts.
    package let caFile: String
    package let certificateFile: String
    package let keyFile: String
    /// A P-256 key as Apple's `.p8`, and its public half, which verifies tokens.
    package let tokenKeyFile: String
    package let tokenPublicKeyFile: String
    /// A provider certificate, for servers that ask their clients for one.
    package let providerFile: String
    package let providerKeyFile: String

    /// Writes all files into a directory that exists; keys are readable by their owner alone.
    ///
    /// `names` are host names or addresses of the server. Times are seconds since 1970.
    package static func write(
        into directory: String, names: [String] = ["localhost", "127.0.0.1"], validFromSeconds: Int64,
        validUntilSeconds: Int64
    ) throws(APNsConfigurationFault) -> TestCertificates {
        let files = TestCertificates(
            caFile: directory + "/ca.pem", certificateFile: directory + "/server.pem",
            keyFile: directory + "/server-key.pem", tokenKeyFile: directory + "/AuthKey_HUSHTEST01.p8",
            tokenPublicKeyFile: directory + "/token-public.pem", providerFile: directory + "/provider.pem",
            providerKeyFile: directory + "/provider-key.pem")
        let authorityKey = try newKey()
        let serverKey = try newKey()
        let tokenKey = try newKey()
        let providerKey = try newKey()
        let validity = Validity(from: validFromSeconds, until: validUntilSeconds)
        let authority = try certificate(
            of: authorityKey, name: "hush test authority", issuer: nil, signedBy: authorityKey, validity: validity,
            extensions: [
                (NID_basic_constraints, "critical,CA:TRUE"), (NID_key_usage, "critical,keyCertSign,cRLSign"),
            ])
        let alternatives = names.map { isAddress($0) ? "IP:\($0)" : "DNS:\($0)" }.joined(separator: ",")
        let server = try certificate(
            of: serverKey, name: names.first ?? "localhost", issuer: authority, signedBy: authorityKey,
            validity: validity,
            extensions: [
                (NID_basic_constraints, "critical,CA:FALSE"), (NID_subject_alt_name, alternatives),
                (NID_ext_key_usage, "serverAuth"),
            ])
        let provider = try certificate(
            of: providerKey, name: "hush test provider", issuer: authority, signedBy: authorityKey, validity: validity,
            extensions: [(NID_basic_constraints, "critical,CA:FALSE"), (NID_ext_key_usage, "clientAuth")])
        try write(files.caFile, mode: 0o644) { PEM_write_X509($0, authority.raw) }
        try write(files.certificateFile, mode: 0o644) { PEM_write_X509($0, server.raw) }
        try write(files.providerFile, mode: 0o644) { PEM_write_X509($0, provider.raw) }
        let keys = [
            (files.keyFile, serverKey), (files.tokenKeyFile, tokenKey), (files.providerKeyFile, providerKey),
        ]
        for (path, key) in keys {
            try write(path, mode: 0o600) { PEM_write_PKCS8PrivateKey($0, key.raw, nil, nil, 0, nil, nil) }
        }
        try write(files.tokenPublicKeyFile, mode: 0o644) { PEM_write_PUBKEY($0, tokenKey.raw) }
        return files
    }

    private struct Validity {
        var from: Int64
        var until: Int64
    }

    private final class Key {
        let raw: OpaquePointer
        init(_ raw: OpaquePointer) { self.raw = raw }
        deinit { EVP_PKEY_free(raw) }
    }

    private final class Certificate {
        let raw: OpaquePointer
        init(_ raw: OpaquePointer) { self.raw = raw }
        deinit { X509_free(raw) }
    }

    private static func require(_ condition: Bool, _ call: String) throws(APNsConfigurationFault) {
        if !condition {
            throw APNsConfigurationFault("a test certificate cannot be made: \(call): \(OpenSSLErrors.drain())")
        }
    }

    private static func newKey() throws(APNsConfigurationFault) -> Key {
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
        defer { EVP_PKEY_CTX_free(context) }
        try require(EVP_PKEY_keygen_init(context) == 1 && hush_ec_key_p256(context) == 1, "EVP_PKEY_keygen_init")
        var raw: OpaquePointer?
        try require(EVP_PKEY_keygen(context, &raw) == 1, "EVP_PKEY_keygen")
        guard let raw else { throw APNsConfigurationFault("OpenSSL made no key") }
        return Key(raw)
    }

    private static func certificate(
        of key: Key, name: String, issuer: Certificate?, signedBy issuerKey: Key, validity: Validity,
        extensions: [(nid: Int32, value: String)]
    ) throws(APNsConfigurationFault) -> Certificate {
        guard let raw = X509_new() else { throw APNsConfigurationFault("OpenSSL made no certificate") }
        let made = Certificate(raw)
        X509_set_version(raw, 2)
        ASN1_INTEGER_set_uint64(X509_get_serialNumber(raw), UInt64.random(in: 1...UInt64(Int64.max)))
        ASN1_TIME_set(X509_getm_notBefore(raw), time_t(validity.from))
        ASN1_TIME_set(X509_getm_notAfter(raw), time_t(validity.until))
        let subject = X509_get_subject_name(raw)
        let text = Array(name.utf8)
        try require(
            X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, text, Int32(text.count), -1, 0) == 1,
            "X509_NAME_add_entry_by_txt")
        let issuerName = issuer.map { X509_get_subject_name($0.raw) } ?? subject
        try require(X509_set_issuer_name(raw, issuerName) == 1, "X509_set_issuer_name")
        try require(X509_set_pubkey(raw, key.raw) == 1, "X509_set_pubkey")
        for (nid, value) in extensions {
            var context = X509V3_CTX()
            X509V3_set_ctx(&context, issuer?.raw ?? raw, raw, nil, nil, 0)
            let entry = X509V3_EXT_conf_nid(nil, &context, nid, value)
            defer { X509_EXTENSION_free(entry) }
            try require(entry != nil && X509_add_ext(raw, entry, -1) == 1, "X509V3_EXT_conf_nid \(value)")
        }
        try require(X509_sign(raw, issuerKey.raw, EVP_sha256()) > 0, "X509_sign")
        return made
    }

    private static func isAddress(_ name: String) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16)
        return inet_pton(AF_INET, name, &bytes) == 1 || inet_pton(AF_INET6, name, &bytes) == 1
    }

    private static func write(
        _ path: String, mode: mode_t, _ body: (UnsafeMutablePointer<FILE>) -> Int32
    ) throws(APNsConfigurationFault) {
        // A key must not be readable by others even for a moment, so the mode is given at creation.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard descriptor >= 0, let file = fdopen(descriptor, "w") else {
            throw APNsConfigurationFault("\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
        let written = body(file) == 1
        let closed = fclose(file) == 0
        try require(written && closed, "PEM to \(path)")
    }
}
