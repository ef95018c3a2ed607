extension RouteContext {
    /// Loads the files of all routes; credentials that are the same share one token.
    static func all(
        of configuration: APNsConfiguration, atSeconds now: Int64
    ) throws(APNsConfigurationFault) -> [RouteContext] {
        var tokens: [APNsConfiguration.Credential: ProviderToken] = [:]
        var contexts: [RouteContext] = []
        for route in configuration.routes {
            var token: ProviderToken?
            if case .token(let keyFile, let keyID, let teamID) = route.credential {
                if let shared = tokens[route.credential] {
                    token = shared
                } else {
                    try checkID("team id", teamID)
                    let (key, keyID) = try signing(keyFile: keyFile, keyID: keyID)
                    token = try ProviderToken(key: key, keyID: keyID, teamID: teamID, atSeconds: now)
                    tokens[route.credential] = token
                }
            }
            contexts.append(RouteContext(route: route, tls: try secured(route, atSeconds: now), token: token))
        }
        return contexts
    }

    /// The key of a file with its id: the one given, or else the one in the file's name.
    static func signing(
        keyFile: String, keyID given: String
    ) throws(APNsConfigurationFault) -> (key: SigningKey, keyID: String) {
        let key = try SigningKey(file: keyFile)
        let inName = keyID(inNameOf: keyFile) ?? keyID(inNameOf: CertificateFile.target(of: keyFile))
        guard let keyID = given.isEmpty ? inName : given else {
            throw APNsConfigurationFault(
                "the key id of \(keyFile) is not known: set it, or name the file as Apple does, AuthKey_ABC123DEFG.p8")
        }
        try checkID("key id", keyID)
        return (key, keyID)
    }

    /// What connections of a route are made with, from its files.
    static func secured(
        _ route: APNsConfiguration.Route, atSeconds now: Int64
    ) throws(APNsConfigurationFault) -> TLSContext {
        var files: (certificate: String, key: String)?
        if case .certificate(let file, let key) = route.credential {
            try CertificateFile.check(file, what: "the provider certificate", atSeconds: now)
            try CertificateFile.checkReadable(key, what: "the key of the provider certificate")
            files = (file, key)
        }
        let trust: TLSContext.Trust
        switch route.trust {
        case .system: trust = .system
        case .file(let path):
            try CertificateFile.checkReadable(path, what: "the CA file")
            trust = .file(path)
        }
        do {
            return try TLSContext(trust: trust, certificateFile: files?.certificate, keyFile: files?.key)
        } catch {
            throw APNsConfigurationFault(error.description)
        }
    }

    private static func keyID(inNameOf path: String) -> String? {
        let name = path.split(separator: "/").last ?? ""
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
        return String(name.dropFirst("AuthKey_".count).dropLast(".p8".count))
    }

    private static func checkID(_ what: String, _ id: String) throws(APNsConfigurationFault) {
        let isPlain = id.utf8.allSatisfy { byte in
            byte >= 0x30 && byte <= 0x39 || byte >= 0x41 && byte <= 0x5a || byte >= 0x61 && byte <= 0x7a
        }
        if id.isEmpty || id.utf8.count > 32 || !isPlain {
            throw APNsConfigurationFault(
                "the \(what) \"\(id)\" is not Apple's: it has letters and digits only, ten of them")
        }
    }
}
