private import COpenSSL

/// OpenSSL's queue of errors of the calling thread, as text.
enum OpenSSLErrors {
    /// Takes all errors off the queue; "no reason given" where there is none.
    static func drain() -> String {
        var texts: [String] = []
        while true {
            let code = ERR_get_error()
            if code == 0 { break }
            if let reason = ERR_reason_error_string(code) {
                texts.append(String(cString: reason))
            } else {
                texts.append("error \(String(code, radix: 16))")
            }
        }
        return texts.isEmpty ? "no reason given" : texts.joined(separator: "; ")
    }

    /// Empties the queue, so that `SSL_get_error` speaks of the next call alone.
    static func clear() {
        ERR_clear_error()
    }
}
