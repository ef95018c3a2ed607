public import HushBase
public import HushCore

/// The settings of the way to APNs: endpoints, credentials, connections.
extension HushSettings {
    public static let apnsProduction = Setting.text(
        "apns.production", default: "api.push.apple.com:443", "APNs for production tokens, host:port.")
    public static let apnsSandbox = Setting.text(
        "apns.sandbox", default: "api.sandbox.push.apple.com:443", "APNs for sandbox tokens, host:port.")
    public static let apnsTrust = Setting.file(
        "apns.ca.file", "CA certificates (PEM) to trust instead of the system's, for the simulator and for tunnels.")
    public static let apnsProxy = Setting.text(
        "apns.proxy", default: "", "An HTTP proxy to go through by CONNECT, host:port.")
    public static let apnsProxyAuthorization = Setting.text(
        "apns.proxy.authorization", default: "", secret: true,
        "What the proxy wants in Proxy-Authorization, as Basic dXNlcjpwYXNz.")
    public static let apnsConnections = Setting.integer(
        "apns.connections", in: 1...64, default: 2,
        "Connections of a slot to each endpoint, for each credential, at most; they open as they are needed.")
    public static let apnsConnectionsIdle = Setting.duration(
        "apns.connections.idle", in: .seconds(1)...(.seconds(86_400)), default: .seconds(300),
        "A connection beyond the first that had nothing to do for so long is closed.")
    public static let apnsDeadline = Setting.duration(
        "apns.deadline", in: .milliseconds(100)...(.seconds(600)), default: .seconds(30),
        "How long a push may take; then its outcome is unknown and it goes again.")
    public static let apnsPing = Setting.duration(
        "apns.ping.interval", in: .seconds(1)...(.seconds(3600)), default: .seconds(60),
        "When a connection that is silent is tried with a PING.")

    // MARK: the default credential

    public static let apnsKeyFile = Setting.file(
        "apns.key.file",
        "The .p8 key that signs provider tokens, of the default credential: that of every app that no other names.")
    public static let apnsKeyID = Setting.text(
        "apns.key.id", default: "",
        "That key's id, ten characters; may be left out where the file, or what it links to, is named AuthKey_ID.p8.")
    public static let apnsTeamID = Setting.text("apns.team.id", default: "", "The team that owns it, ten characters.")
    public static let apnsCertificateFile = Setting.file(
        "apns.certificate.file", "A provider certificate (PEM) in the place of a token key.")
    public static let apnsCertificateKeyFile = Setting.file(
        "apns.certificate.key.file", "That certificate's private key (PEM).")

    // MARK: more credentials, by name

    public static let credentialKeyFile = Setting.file(
        "apns.credential.NAME.key.file", "The .p8 key of a further credential.")
    public static let credentialKeyID = Setting.text(
        "apns.credential.NAME.key.id", default: "", "Its key's id, as apns.key.id.")
    public static let credentialTeamID = Setting.text(
        "apns.credential.NAME.team.id", default: "", "The team that owns the key.")
    public static let credentialCertificateFile = Setting.file(
        "apns.credential.NAME.certificate.file", "A provider certificate (PEM) in the place of a token key.")
    public static let credentialCertificateKeyFile = Setting.file(
        "apns.credential.NAME.certificate.key.file", "That certificate's private key (PEM).")
    public static let credentialTopics = Setting(
        "apns.credential.NAME.topics", form: "app topics, by commas", default: "",
        "The apps that it is for; none: every app that no other credential names."
    ) { (text) throws(BadValue) -> [Bytes] in
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard text.isEmpty || parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f } }) else {
            throw BadValue("must be app topics by commas, without spaces")
        }
        return text.isEmpty ? [] : parts.map { Bytes(String($0)) }
    }
    public static let credentialEnvironments = Setting(
        "apns.credential.NAME.environments", form: "production, sandbox, or both by a comma",
        default: "production,sandbox", "The environments that it is for."
    ) { (text) throws(BadValue) -> [PushEnvironment] in
        switch text {
        case "production": [.production]
        case "sandbox": [.sandbox]
        case "production,sandbox", "sandbox,production": [.production, .sandbox]
        default: throw BadValue("must be production, sandbox, or production,sandbox")
        }
    }
    public static let credentialHost = Setting.text(
        "apns.credential.NAME.host", default: "",
        "Where its pushes go, host:port, in the place of apns.production and apns.sandbox.")

    static let credential = [
        credentialKeyFile.definition, credentialKeyID.definition, credentialTeamID.definition,
        credentialCertificateFile.definition, credentialCertificateKeyFile.definition, credentialTopics.definition,
        credentialEnvironments.definition, credentialHost.definition,
    ]

    static let apns =
        [
            apnsProduction.definition, apnsSandbox.definition, apnsTrust.definition, apnsProxy.definition,
            apnsProxyAuthorization.definition, apnsConnections.definition, apnsConnectionsIdle.definition,
            apnsDeadline.definition, apnsPing.definition, apnsKeyFile.definition, apnsKeyID.definition,
            apnsTeamID.definition, apnsCertificateFile.definition, apnsCertificateKeyFile.definition,
        ] + credential
}
