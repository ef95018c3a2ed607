private import COpenSSL
private import Glibc

/// Looks at a certificate file before it is used, so that a fault is named at start and not as a failed handshake.
enum CertificateFile {
    /// Throws where the file is missing, no certificate in PEM, or not valid at a time (seconds since 1970).
    static func check(_ path: String, what: String, atSeconds now: Int64) throws(APNsConfigurationFault) {
        try checkReadable(path, what: what)
        guard let file = fopen(path, "re") else { throw APNsConfigurationFault("\(what) \(path) cannot be opened") }
        defer {
            fclose(file)
            OpenSSLErrors.clear()
        }
        guard let certificate = PEM_read_X509(file, nil, nil, nil) else {
            throw APNsConfigurationFault("\(what) \(path) is not a certificate in PEM: convert it with openssl x509")
        }
        defer { X509_free(certificate) }
        var time = time_t(now)
        if X509_cmp_time(X509_get0_notAfter(certificate), &time) < 0 {
            throw APNsConfigurationFault("\(what) \(path) has expired: renew it and put the new file in its place")
        }
        if X509_cmp_time(X509_get0_notBefore(certificate), &time) > 0 {
            throw APNsConfigurationFault("\(what) \(path) is not valid yet: check the clock of this machine")
        }
    }

    static func checkReadable(_ path: String, what: String) throws(APNsConfigurationFault) {
        if access(path, R_OK) == 0 { return }
        let code = errno
        let fix = code == ENOENT ? "there is no such file" : String(cString: strerror(code))
        throw APNsConfigurationFault("\(what) \(path) cannot be read: \(fix)")
    }

    /// What a path leads to once its links are followed; the path itself where that is nothing.
    static func target(of path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }
}
