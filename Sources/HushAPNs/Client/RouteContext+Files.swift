extension RouteContext {
    /// Loads the files of all routes; credentials that are the same share one token.
    static func all(
        of configuration: APNsConfiguration, atSeconds now: Int64
    ) throws(APNsConfigurationFault) -> [RouteContext] {
        var tokens: [APNsConfiguration.Credential: ProviderToken] = [:]
        var contexts: [RouteContext] = []
        for route in configuration.routes {
            var token: ProviderToken?
            var certificate: (file: String, key: String)?
            switch route.credential {
            case .token(let keyFile, let keyID, let teamID):
                if let shared = tokens[route.credential] {
                    token = shared
                } else {
                    token = try makeToken(keyFile, keyID, teamID, now)
                    tokens[route.credential] = token
                }
            case .certificate(let file, let key):
                try CertificateFile.check(file, what: "the provider certificate", atSeconds: now)
                try CertificateFile.checkReadable(key, what: "the key of the provider certificate")
                certificate = (file, key)
            }
            contexts.append(RouteContext(route: route, tls: try makeTLS(route, certificate), token: token))
        }
        return contexts
    }

    private static func makeToken(
        _ keyFile: String, _ keyID: String, _ teamID: String, _ now: Int64
    ) throws(APNsConfigurationFault) -> ProviderToken {
        for (name, id) in [("key id", keyID), ("team id", teamID)] {
            let isPlain = id.utf8.allSatisfy { byte in
                byte >= 0x30 && byte <= 0x39 || byte >= 0x41 && byte <= 0x5a || byte >= 0x61 && byte <= 0x7a
            }
            if id.isEmpty || id.utf8.count > 32 || !isPlain {
                throw APNsConfigurationFault(
                    "the \(name) \"\(id)\" is not Apple's: it has letters and digits only, ten of them")
            }
        }
        return try ProviderToken(key: SigningKey(file: keyFile), keyID: keyID, teamID: teamID, atSeconds: now)
    }

    private static func makeTLS(
        _ route: APNsConfiguration.Route, _ certificate: (file: String, key: String)?
    ) throws(APNsConfigurationFault) -> TLSContext {
        let trust: TLSContext.Trust
        switch route.trust {
        case .system: trust = .system
        case .file(let path):
            try CertificateFile.checkReadable(path, what: "the CA file")
            trust = .file(path)
        }
        do {
            return try TLSContext(trust: trust, certificateFile: certificate?.file, keyFile: certificate?.key)
        } catch {
            throw APNsConfigurationFault(error.description)
        }
    }
}
