import HushAPNs
import HushBase
import HushCore

/// The ways to APNs as they are set: one route for each credential and environment.
struct APNsRoutes {
    /// The name of the credential that has no name in its keys.
    static let defaultName = "default"

    private(set) var apns: APNsConfiguration
    private(set) var routes: [DelivererConfiguration.Route] = []

    private struct Credential {
        var name: String
        var credential: APNsConfiguration.Credential
        /// None: every app that no other names.
        var topics: [Bytes] = []
        var environments: [PushEnvironment] = [.production, .sandbox]
        var host = ""
    }

    /// - Throws: `SettingsFault` naming the settings that are missing, malformed or contradict each other.
    init(_ settings: Settings) throws(SettingsFault) {
        let credentials = try Self.credentials(settings)
        try Self.checkTopics(credentials)
        let trustFile = settings[HushSettings.apnsTrust]
        apns = APNsConfiguration(routes: [])
        for credential in credentials {
            for environment in credential.environments {
                let (text, key) = Self.endpoint(credential, environment, settings)
                let endpoint = try Self.endpoint(text, key)
                for topic in credential.topics.isEmpty ? [nil] : credential.topics.map(Optional.some) {
                    routes.append(
                        DelivererConfiguration.Route(
                            app: topic, environment: environment, index: apns.routes.count, credential: credential.name)
                    )
                }
                apns.routes.append(
                    APNsConfiguration.Route(
                        host: endpoint.host, port: endpoint.port, trust: trustFile.isEmpty ? .system : .file(trustFile),
                        credential: credential.credential))
            }
        }
        let proxy = settings[HushSettings.apnsProxy]
        if !proxy.isEmpty {
            let authorization = settings[HushSettings.apnsProxyAuthorization]
            apns.proxy = APNsConfiguration.Proxy(
                endpoint: try Self.endpoint(proxy, HushSettings.apnsProxy.definition.key),
                authorization: authorization.isEmpty ? nil : authorization)
        }
        apns.connectionsPerRoute = settings[HushSettings.apnsConnections]
        apns.spareIdleMax = settings[HushSettings.apnsConnectionsIdle]
        apns.requestDeadline = settings[HushSettings.apnsDeadline]
        apns.pingInterval = settings[HushSettings.apnsPing]
        apns.stopLimit = max(settings[HushSettings.sessionTimeout] / 2, .seconds(2))
    }

    private static func credentials(_ settings: Settings) throws(SettingsFault) -> [Credential] {
        var credentials: [Credential] = []
        let names = settings.names(of: HushSettings.credential)
        let single = [
            HushSettings.apnsKeyFile, HushSettings.apnsKeyID, HushSettings.apnsTeamID, HushSettings.apnsCertificateFile,
            HushSettings.apnsCertificateKeyFile,
        ]
        if names.isEmpty || single.contains(where: { !settings[$0].isEmpty }) {
            let texts = single.map { (key: $0.definition.key, value: settings[$0]) }
            if names.contains(defaultName) {
                throw SettingsFault([
                    "\(texts[0].key) and \(settings.key(of: HushSettings.credentialKeyFile, defaultName)) are of one "
                        + "credential: the one without a name is named \(defaultName)"
                ])
            }
            credentials.append(Credential(name: defaultName, credential: try credential(texts)))
        }
        for name in names {
            let texts = [
                HushSettings.credentialKeyFile, HushSettings.credentialKeyID, HushSettings.credentialTeamID,
                HushSettings.credentialCertificateFile, HushSettings.credentialCertificateKeyFile,
            ].map { (settings.key(of: $0, name), settings[$0, name]) }
            credentials.append(
                Credential(
                    name: name, credential: try credential(texts),
                    topics: settings[HushSettings.credentialTopics, name],
                    environments: settings[HushSettings.credentialEnvironments, name],
                    host: settings[HushSettings.credentialHost, name]))
        }
        return credentials
    }

    /// Of the keys and values of key file, key id, team id, certificate and its key.
    private static func credential(
        _ texts: [(key: String, value: String)]
    ) throws(SettingsFault) -> APNsConfiguration.Credential {
        func missing(_ places: [Int]) -> [String] {
            places.filter { texts[$0].value.isEmpty }.map {
                "\(texts[$0].key) is not set: the deliver stage needs it to sign in at APNs"
            }
        }
        let hasCertificate = !texts[3].value.isEmpty || !texts[4].value.isEmpty
        let problems: [String]
        if hasCertificate {
            problems =
                missing([3, 4])
                + texts[..<3].filter { !$0.value.isEmpty }.map {
                    "\($0.key) and \(texts[3].key) are both set: a credential is a token key or a certificate"
                }
        } else {
            // The file's name may tell the id.
            let isNamed = texts[0].value.hasSuffix(".p8")
            problems = missing(isNamed ? [2] : [0, 1, 2])
        }
        guard problems.isEmpty else { throw SettingsFault(problems) }
        return hasCertificate
            ? .certificate(certificateFile: texts[3].value, keyFile: texts[4].value)
            : .token(keyFile: texts[0].value, keyID: texts[1].value, teamID: texts[2].value)
    }

    /// Each app has one credential in an environment, and the others have at most one.
    private static func checkTopics(_ credentials: [Credential]) throws(SettingsFault) {
        var problems: [String] = []
        for environment in PushEnvironment.allCases {
            var owners: [Bytes?: String] = [:]
            for credential in credentials where credential.environments.contains(environment) {
                let topics = credential.topics.isEmpty ? [nil] : credential.topics.map(Optional.some)
                for topic in topics {
                    if let other = owners.updateValue(credential.name, forKey: topic) {
                        let what = topic.map { "name \($0.text)" } ?? "are for every app that no other names"
                        problems.append(
                            "the credentials \(other) and \(credential.name) both \(what) in \(environment): give each "
                                + "topic to one of them by apns.credential.NAME.topics")
                    }
                }
            }
        }
        guard problems.isEmpty else { throw SettingsFault(problems) }
    }

    private static func endpoint(
        _ credential: Credential, _ environment: PushEnvironment, _ settings: Settings
    ) -> (text: String, key: String) {
        if !credential.host.isEmpty {
            return (credential.host, settings.key(of: HushSettings.credentialHost, credential.name))
        }
        let setting = environment == .production ? HushSettings.apnsProduction : HushSettings.apnsSandbox
        return (settings[setting], setting.definition.key)
    }

    private static func endpoint(
        _ text: String, _ key: String
    ) throws(SettingsFault) -> APNsConfiguration.Endpoint {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, let host = parts.first, !host.isEmpty else {
            throw SettingsFault(["\(key): \"\(text)\" must be host:port"])
        }
        guard parts.count == 2 else { return APNsConfiguration.Endpoint(host: String(host), port: 443) }
        guard let port = UInt16(parts[1]), port > 0 else {
            throw SettingsFault(["\(key): the port of \"\(text)\" must be 1 to 65535"])
        }
        return APNsConfiguration.Endpoint(host: String(host), port: port)
    }
}
