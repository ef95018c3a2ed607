import HushAPNs
import HushBase
import HushCore

/// The way to APNs as it is set: one route for production tokens and one for sandbox tokens, with the same credential.
enum APNsRoutes {
    static let all = [
        DelivererConfiguration.Route(environment: .production, index: 0),
        DelivererConfiguration.Route(environment: .sandbox, index: 1),
    ]

    /// - Throws: `SettingsFault` naming the setting that is missing or malformed.
    static func configuration(_ settings: Settings) throws(SettingsFault) -> APNsConfiguration {
        let trustFile = settings[HushSettings.apnsTrust]
        let credential = try credential(settings)
        var routes: [APNsConfiguration.Route] = []
        for setting in [HushSettings.apnsProduction, HushSettings.apnsSandbox] {
            let (host, port) = try endpoint(settings[setting], setting.definition.key)
            routes.append(
                APNsConfiguration.Route(
                    host: host, port: port, trust: trustFile.isEmpty ? .system : .file(trustFile),
                    credential: credential))
        }
        var configuration = APNsConfiguration(routes: routes)
        configuration.connectionsPerRoute = settings[HushSettings.apnsConnections]
        configuration.requestDeadline = settings[HushSettings.apnsDeadline]
        configuration.pingInterval = settings[HushSettings.apnsPing]
        configuration.stopLimit = max(settings[HushSettings.sessionTimeout] / 2, .seconds(2))
        return configuration
    }

    private static func credential(
        _ settings: Settings
    ) throws(SettingsFault) -> APNsConfiguration.Credential {
        let (file, keyID, teamID) = (
            settings[HushSettings.apnsKeyFile], settings[HushSettings.apnsKeyID], settings[HushSettings.apnsTeamID]
        )
        let missing = [
            (file, HushSettings.apnsKeyFile.definition.key), (keyID, HushSettings.apnsKeyID.definition.key),
            (teamID, HushSettings.apnsTeamID.definition.key),
        ].filter { $0.0.isEmpty }.map { "\($0.1) is not set: the deliver stage needs it to sign in at APNs" }
        guard missing.isEmpty else { throw SettingsFault(missing) }
        return .token(keyFile: file, keyID: keyID, teamID: teamID)
    }

    private static func endpoint(_ text: String, _ key: String) throws(SettingsFault) -> (String, UInt16) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, let host = parts.first, !host.isEmpty else {
            throw SettingsFault(["\(key): \"\(text)\" must be host:port"])
        }
        guard parts.count == 2 else { return (String(host), 443) }
        guard let port = UInt16(parts[1]), port > 0 else {
            throw SettingsFault(["\(key): the port of \"\(text)\" must be 1 to 65535"])
        }
        return (String(host), port)
    }
}
